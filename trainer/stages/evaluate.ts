/**
 * The stage `evaluate`: policies on tasks that none was trained on.
 *
 * Every episode goes to the log, a part at a time and whole, and what is scored is read back from there: an evaluation
 * that was cut off plays only the parts that the log does not hold, and ends with the same figures.
 */
import { z } from 'zod';
import { ActionSet } from '../../schemas/action.ts';
import { PRESET_VERSIONS } from '../../schemas/reward.ts';
import { hash64 } from '../../schemas/seed.ts';
import { Level, Split, SPLITS } from '../../schemas/task.ts';
import { openContender, type Contender, type Decoding, type OpenContender } from '../contender.ts';
import { DecodingSettings, toDecoding } from '../decoding/settings.ts';
import {
  chooseTasks,
  fromLog,
  levelsOf,
  PART,
  PLAYED_PRESET,
  playTasks,
  scoreEpisodes,
  type PlayedEpisode,
  type PolicyEvaluation,
} from '../evaluate.ts';
import type { Compute } from '../pool/compute.ts';
import { toEpisodeRecord } from '../record.ts';
import { GREEDY } from '../table.ts';
import { Interrupted, type Workspace } from '../workspace.ts';
import { timed } from './timed.ts';

export type { Contender } from '../contender.ts';

const Count = z.number().int().positive();
const Levels = z.array(Level).min(1);
const ALL = 'all';

export const EvaluateSettings = z.strictObject({
  split: z
    .array(z.enum([...SPLITS, ALL]))
    .min(1)
    .default(['test_iid'])
    .describe('Splits of the tasks, separated by commas; all: every test split'),
  eval_levels: Levels.optional().describe(
    "Levels of the tasks, separated by commas; without it, or where a split has none of them, the split's own",
  ),
  eval_tasks: Count.default(400).meta({ description: 'Tasks of each split that each policy plays', unit: 'tasks' }),
  eval_samples: Count.default(1).meta({ description: 'Episodes of each task, for pass@k', unit: 'episodes' }),
  pass_at_reward: z
    .number()
    .min(0)
    .max(1)
    .default(0.9)
    .describe('Least graded reward with which an episode passes, for pass@k'),
  eval_temperature: z.number().min(0).default(1).describe('Divides the logits when sampling; 0 is greedy'),
  eval_greedy: z
    .boolean()
    .default(false)
    .describe('Each checkpoint also plays every task once with the likeliest tokens, as a policy of its own'),
  eval_max_new_tokens: Count.default(160).meta({ description: 'Longest completion', unit: 'tokens' }),
  eval_max_turns: Count.default(1).meta({ description: 'Turns of an episode', unit: 'turns' }),
  eval_action_set: ActionSet.default('core').describe('Actions the policies may use'),
  ...DecodingSettings.shape,
});
export type EvaluateSettings = z.output<typeof EvaluateSettings>;
type Settings = EvaluateSettings & { seed: number };

/** What all contenders made of the tasks of one split. */
export interface SplitEvaluation {
  split: Split;
  levels: Level[];
  /** In the order of the contenders; one that also plays greedily stands twice. */
  policies: PolicyEvaluation[];
}

/** A contender as it plays: sampling, or taking the likeliest tokens. */
interface Player {
  name: string;
  plays: Contender['plays'];
  decoding: Decoding;
  samples: number;
}

/**
 * All contenders on the same tasks of each split; every episode goes to the log.
 * @throws CheckpointError, Interrupted, the client's errors
 */
export async function evaluateStage(
  ws: Workspace,
  compute: Compute,
  contenders: readonly Contender[],
  settings: Settings,
): Promise<SplitEvaluation[]> {
  const before = countPlayed(ws);
  return timed(ws, 'evaluate', before, async () => {
    const players = contenders.flatMap((contender) => toPlayers(contender, settings));
    const chosen = await chooseAll(ws, settings);
    const episodes = players.reduce((sum, { samples }) => sum + samples, 0);
    const total = chosen.reduce((sum, { taskIds }) => sum + taskIds.length * episodes, 0);
    ws.progress.start('evaluate', total, 'episodes', Math.min(before, total));
    const played = new Map<Player, PolicyEvaluation[]>();
    for (const player of players) played.set(player, await playSplits(ws, compute, player, chosen, settings));
    const tasks = chosen.map(({ split, taskIds }) => `${taskIds.length} tasks of ${split}`).join(', ');
    ws.progress.finish(`${tasks}, reward graded version ${PRESET_VERSIONS.graded}`);
    return chosen.map(({ split, levels }, i) => ({
      ...{ split, levels },
      policies: players.map((player) => played.get(player)![i]!),
    }));
  });
}

function toPlayers({ name, plays }: Contender, settings: Settings): Player[] {
  const { eval_temperature: temperature, eval_max_new_tokens: max_new_tokens, eval_samples } = settings;
  const rules = toDecoding(settings, { reward: PLAYED_PRESET, action_set: settings.eval_action_set });
  const decoding: Decoding = { temperature, max_new_tokens, ...rules };
  // greedy episodes of a task are all the same
  const isGreedy = 'checkpoint' in plays && temperature === 0;
  const player = { name, plays, decoding, samples: isGreedy ? 1 : eval_samples };
  if (!settings.eval_greedy || !('checkpoint' in plays) || isGreedy) return [player];
  const greedy: Decoding = { ...decoding, temperature: 0 };
  return [player, { name: name + GREEDY, plays, decoding: greedy, samples: 1 }];
}

interface Chosen {
  split: Split;
  levels: Level[];
  taskIds: string[];
}

async function chooseAll({ client }: Workspace, settings: Settings): Promise<Chosen[]> {
  const { eval_levels, eval_tasks: count } = settings;
  const splits = toSplits(settings.split);
  const chosen: Chosen[] = [];
  for (const split of splits) {
    const levels = await levelsOf(client, split, eval_levels);
    chosen.push({ split, levels, taskIds: await chooseTasks(client, { split, levels, count }) });
  }
  return chosen;
}

/** The splits meant, each once, in the order of the suite where all are. */
export function toSplits(named: EvaluateSettings['split']): Split[] {
  const tests = SPLITS.filter((split) => split.startsWith('test_'));
  return [...new Set(named.flatMap((name) => (name === ALL ? tests : [name])))];
}

/** Plays what the log does not hold of a player's episodes, and scores all of them. */
async function playSplits(
  ws: Workspace,
  compute: Compute,
  player: Player,
  chosen: readonly Chosen[],
  settings: Settings,
): Promise<PolicyEvaluation[]> {
  let opened: OpenContender | undefined;
  try {
    for (const { split, taskIds } of chosen) {
      const perPart = Math.max(1, Math.floor(PART / player.samples));
      const held = countByTask(ws, player.name, split);
      for (let start = 0; start < taskIds.length; start += perPart) {
        const part = taskIds.slice(start, start + perPart);
        if (part.every((task) => held.get(task) === player.samples)) continue;
        opened ??= await openContender(compute, player.plays);
        await playPart(ws, opened, player, part, hash64('evaluate', settings.seed, split, start), settings);
      }
    }
  } finally {
    await opened?.dispose();
  }
  const evaluations: PolicyEvaluation[] = [];
  for (const { split, taskIds } of chosen) {
    evaluations.push(await scoreEpisodes(ws.client, player.name, readPlayed(ws, player, split, taskIds)));
  }
  return evaluations;
}

async function playPart(
  ws: Workspace,
  opened: OpenContender,
  { name, decoding, samples }: Player,
  part: readonly string[],
  seed: bigint,
  { eval_max_turns: max_turns, eval_action_set: action_set }: Settings,
): Promise<void> {
  const policy = opened.policyOf(seed, decoding);
  const trajectories = await playTasks(ws.client, policy, part, { action_set, max_turns, samples });
  const context = { policy_version: name, optimizer_step: 0, reward: PLAYED_PRESET };
  const records = trajectories.map((trajectory) => toEpisodeRecord(trajectory, context));
  ws.store.recordEpisodes(ws.run.run_id, 'evaluate', records);
  const done = countPlayed(ws);
  if (ws.shouldStop()) throw new Interrupted(`${done} episodes`);
  ws.progress.update(done, { reward: meanReturn(ws, name) });
}

function countPlayed({ store, run }: Workspace): number {
  const [row] = store.query(
    `SELECT count(*) AS episodes FROM episodes WHERE run_id = ? AND stage = 'evaluate'`,
    run.run_id,
  );
  return Number(row?.['episodes'] ?? 0);
}

function meanReturn({ store, run }: Workspace, policy: string): number {
  const [row] = store.query(
    `SELECT avg(episode_return) AS reward FROM episodes
     WHERE run_id = ? AND stage = 'evaluate' AND policy_version = ?`,
    ...[run.run_id, policy],
  );
  return Number(row?.['reward'] ?? 0);
}

/** How many episodes of each task the log holds. */
function countByTask({ store, run }: Workspace, policy: string, split: Split): Map<string, number> {
  const rows = store.query(
    `SELECT task_id, count(*) AS episodes FROM episodes
     WHERE run_id = ? AND stage = 'evaluate' AND policy_version = ? AND split = ? GROUP BY task_id`,
    ...[run.run_id, policy, split],
  );
  return new Map(rows.map((row) => [String(row['task_id']), Number(row['episodes'])]));
}

/** A player's episodes of a split as the log holds them, in the order of the tasks. */
function readPlayed(
  { store, run }: Workspace,
  { name, samples }: Player,
  split: Split,
  taskIds: readonly string[],
): PlayedEpisode[] {
  const place = new Map(taskIds.map((task, i) => [task, i * samples]));
  const played: PlayedEpisode[] = [];
  const query = { run_id: run.run_id, stage: 'evaluate', policy_version: name, split };
  for (let after = 0; ;) {
    const page = store.episodes({ ...query, after });
    for (const episode of page) {
      const found = fromLog(episode, store.steps(episode.episode_id));
      if (found && place.has(found.task_id)) played.push(found);
    }
    const end = page.at(-1);
    if (end === undefined) break;
    after = end.episode_id;
  }
  const order = ({ task_id, member }: PlayedEpisode): number => place.get(task_id)! + member;
  return played.sort((a, b) => order(a) - order(b));
}
