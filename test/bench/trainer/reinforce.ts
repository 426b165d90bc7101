/**
 * One whole step of reinforcement learning, `rl_step`, and the time from one SFT checkpoint to the same mean reward,
 * `rl_to_equal_reward`, against TRL's GRPOTrainer: same checkpoint, same 80 tasks in the same order, same reward from one
 * running server, 8 completions of each of 8 tasks. The two take their steps in turn until both are there.
 *
 * What differs is what a user of either gets: this trainer steps with Muon and AdamW, TRL with AdamW. The learning rate of
 * each is the best of those tried (trainer/LOG.md). Loading is not counted: it takes TRL ten times as long.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import pMap from 'p-map';
import { z } from 'zod';
import { createClient, type Client } from '../../../clients/ts/index.ts';
import { createBackend } from '../../../trainer/backend.ts';
import { loadCheckpoint } from '../../../trainer/checkpoint.ts';
import { toPolicyPrompt } from '../../../trainer/prompt.ts';
import { drawTasks } from '../../../trainer/reinforce.ts';
import { trainingFamilies } from '../../../trainer/teach.ts';
import { encodePrompt } from '../../../trainer/tokenizer.ts';
import { ROOT } from '../../rules/files.ts';
import { startSources } from '../../tools/processes.ts';
import { say, type BenchOptions } from '../command.ts';
import { median, row, type Row } from '../rows.ts';
import { sftCheckpoint } from './checkpoint.ts';
import { openSide, type Side } from './side.ts';
import { NO_TORCH, openTorch } from './torch.ts';

const SEED = 1;
const REWARD = 'graded';
const TASKS_PER_STEP = 8;
const GROUP_SIZE = 8;
const MAX_NEW_TOKENS = 160;
const WARMUP_STEPS = 5;
const RATES = { rl_muon_lr: 0.003, rl_adamw_lr: 3e-4 };
const TRL_RATE = 5e-4;
/** Neither goes on for longer. */
const MAX_STEPS = 120;
/**
 * Mean training reward of this many steps in a row ... They are one pass over the tasks, which are played again and again:
 * with fresh ones the mean follows their difficulty (.03 up and down) more than the policy.
 */
export const WINDOW = 10;
/** ... that is to be reached. */
const TARGET = 0.88;
const GOALS = { rl_step: '<= .5', rl_to_equal_reward: '<= .33' } as const;

const STEP = { seconds: z.number().positive(), reward: z.number(), tokens: z.number().positive() };
interface Step {
  seconds: number;
  reward: number;
  tokens: number;
  peak_rss_mb: number;
}

/** The tasks of a pass in order, as the policy reads them. */
async function readTasks(client: Client): Promise<{ task_id: string; prompt: string }[]> {
  const families = await trainingFamilies(client);
  const draw = { seed: SEED, families, levels: [1], tasks_per_step: TASKS_PER_STEP } as const;
  const ids = Array.from({ length: WINDOW }, (_, step) => drawTasks(step, draw)).flat();
  return pMap(
    ids,
    async (task_id) => {
      const { observation } = await client.reset({ task_id, reward: REWARD });
      return { task_id, prompt: toPolicyPrompt(observation) };
    },
    { concurrency: 16 },
  );
}

function openOurs(url: string, checkpoint: string, tasks: string): Side {
  const settings = {
    ...{ url, seed: SEED, backend: 'wasm', levels: [1], steps: MAX_STEPS, reward: REWARD, validate_every: 0 },
    ...{ tasks_per_step: TASKS_PER_STEP, group_size: GROUP_SIZE, max_new_tokens: MAX_NEW_TOKENS, kl_beta: 0 },
    ...{ rl_warmup_steps: WARMUP_STEPS, rl_decay_share: 0, ...RATES },
  };
  const script = join(import.meta.dirname, 'ours-rl.ts');
  return openSide(process.execPath, ['--import', 'tsx', script, checkpoint, tasks, JSON.stringify(settings)]);
}

function openTrl(url: string, checkpoint: string, tasks: string): Side | undefined {
  const numbers = {
    ...{ threads: availableParallelism(), steps: MAX_STEPS, 'tasks-per-step': TASKS_PER_STEP },
    ...{ 'group-size': GROUP_SIZE, 'max-new-tokens': MAX_NEW_TOKENS, 'warmup-steps': WARMUP_STEPS, seed: SEED },
    'learning-rate': TRL_RATE,
  };
  const flags = Object.entries(numbers).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return openTorch('grpo.py', [checkpoint, tasks, '--url', url, '--reward', REWARD, ...flags]);
}

/** Waits until both have loaded; how TRL computes and the rates of both, in words. @throws Error where they would not read the same tokens */
async function makeReady(
  ours: Side,
  trl: Side | undefined,
  checkpoint: string,
  prompts: readonly string[],
): Promise<string> {
  await ours.ask({ do: 'ready' }, { device: z.string() });
  const answer = await trl?.ask({ do: 'ready' }, { prompt_ids: z.array(z.array(z.number())), way: z.string() });
  if (!answer) return NO_TORCH;
  const { tokenizer } = loadCheckpoint(checkpoint, await createBackend('wasm'));
  const wrong = answer.prompt_ids.findIndex((ids, i) => ids.join() !== encodePrompt(tokenizer, prompts[i]!).join());
  if (wrong !== -1) throw new Error(`TRL reads other tokens than the trainer of: ${prompts[wrong]}`);
  const { rl_muon_lr, rl_adamw_lr } = RATES;
  return `TRL GRPOTrainer, ${answer.way}; here Muon ${rl_muon_lr}, AdamW ${rl_adamw_lr}`;
}

/** Seconds until the mean reward of WINDOW steps in a row reached `target`; undefined while it has not. */
export function secondsTo(target: number, steps: readonly { seconds: number; reward: number }[]): number | undefined {
  let seconds = 0;
  let sum = 0;
  for (const [i, step] of steps.entries()) {
    seconds += step.seconds;
    sum += step.reward - (steps[i - WINDOW]?.reward ?? 0);
    if (i + 1 >= WINDOW && sum / WINDOW >= target) return seconds;
  }
  return undefined;
}

interface Contender {
  name: string;
  side: Side;
  steps: Step[];
}

/** Steps of each in turn, until all have reached the target or taken the most steps; at least `least` of each. */
async function race(contenders: readonly Contender[], least: number): Promise<void> {
  for (let step = 0; step < MAX_STEPS; step++) {
    const running = contenders.filter(({ steps }) => step < least || secondsTo(TARGET, steps) === undefined);
    if (running.length === 0) return;
    for (const { side, steps } of running) steps.push(await side.ask({ do: 'step' }, STEP));
    if (step % 5 === 4) say(`  step ${step + 1}: ${running.map(progress).join('; ')}`);
  }
}

function progress({ name, steps }: Contender): string {
  const last = steps.slice(-WINDOW);
  const reward = last.reduce((sum, step) => sum + step.reward, 0) / last.length;
  return `${name} ${steps.at(-1)!.seconds.toFixed(2)} s, reward ${reward.toFixed(3)}`;
}

/** The rows of a race: no ratio of times where TRL did not reach the target, no row of them where this trainer did not. */
export function toRows(ours: readonly Step[], trl: readonly Step[] | undefined, way: string): Row[] {
  const seconds = (steps: readonly Step[]): number => median(steps.map((step) => step.seconds));
  const peak = (steps: readonly Step[]): number => Math.max(...steps.map(({ peak_rss_mb }) => peak_rss_mb));
  const tokens = (steps: readonly Step[]): string => median(steps.map((step) => step.tokens)).toFixed(0);
  const lengths = `${tokens(ours)}${trl ? ` and ${tokens(trl)}` : ''} tokens each`;
  const reference = (value: (steps: readonly Step[]) => number): number | null => (trl ? value(trl) : null);
  const rows = [
    row('rl_step', seconds(ours), 's', reference(seconds), `${way}; 64 completions, ${lengths}`, GOALS.rl_step),
    row('rl_rss', peak(ours), 'MiB', reference(peak), 'peak memory of the process, reinforcement learning'),
  ];
  const [mine, theirs] = [secondsTo(TARGET, ours), trl && secondsTo(TARGET, trl)];
  const start = ours.slice(0, 3).reduce((sum, { reward }) => sum + reward / 3, 0);
  const counts = `${ours.length}${trl ? ` and ${trl.length}` : ''} steps`;
  const note = `${way}; ${REWARD} ${start.toFixed(2)} -> ${TARGET}, mean of ${WINDOW} steps, in ${counts}`;
  if (mine !== undefined) {
    const rate = trl && theirs === undefined ? `; TRL did not reach it in ${MAX_STEPS} steps` : '';
    rows.push(row('rl_to_equal_reward', mine, 's', theirs ?? null, note + rate, GOALS.rl_to_equal_reward));
  }
  return rows;
}

export async function reinforceAgainstTrl({ rounds }: BenchOptions): Promise<Row[]> {
  const checkpoint = sftCheckpoint();
  const server = await startSources();
  const url = `http://127.0.0.1:${server.port}`;
  const sides: Side[] = [];
  try {
    const tasks = await readTasks(createClient({ url }));
    const file = join(ROOT, '.cache/bench/tasks.jsonl');
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, tasks.map((task) => `${JSON.stringify(task)}\n`).join(''));
    const [ours, trl] = [openOurs(url, checkpoint, file), openTrl(url, checkpoint, file)];
    sides.push(ours, ...(trl ? [trl] : []));
    const way = await makeReady(
      ours,
      trl,
      checkpoint,
      tasks.slice(0, TASKS_PER_STEP).map(({ prompt }) => prompt),
    );
    const contenders: Contender[] = [{ name: 'canvas-gym', side: ours, steps: [] }];
    if (trl) contenders.push({ name: 'TRL', side: trl, steps: [] });
    await race(contenders, rounds);
    const rows = toRows(contenders[0]!.steps, contenders[1]?.steps, way);
    if (!rows.some(({ name }) => name === 'rl_to_equal_reward')) say(`  ${TARGET} not reached in ${MAX_STEPS} steps`);
    return rows;
  } finally {
    await Promise.all(sides.map((side) => side.close()));
    await server.stop();
  }
}
