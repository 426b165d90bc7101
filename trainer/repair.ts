/**
 * Repairing a damaged drawing: an episode of two turns of which a script plays the first. It draws the teacher's diagram
 * with one fault; the policy sees the request, what is drawn and what the canvas checker says of it, and has one turn of
 * editor actions to set it right. The turn earns R(repaired) - R(damaged) - .01, as in any episode of several turns, so
 * what is repaired counts and what was good already earns nothing.
 */
import pMap from 'p-map';
import type { Client } from '../clients/ts/index.ts';
import { Action } from '../schemas/action.ts';
import { TURN_COST, type Observation } from '../schemas/episode.ts';
import { createRng, hash64 } from '../schemas/seed.ts';
import type { Example } from './dataset.ts';
import { toPolicyPrompt } from './prompt.ts';
import { rollout, type Opening, type Policy, type RolloutOptions, type Trajectory } from './rollout.ts';
import { mean, standardError } from './statistics.ts';
import { damage, toRepair } from './teacher/damage.ts';
import { createScriptedTeacher } from './teacher/scripted.ts';

/** What every repair episode is played with. */
export const REPAIR_EPISODE = { reward: 'graded', action_set: 'editor', max_turns: 2 } as const;

/** Requests in flight at a time. */
const CONCURRENCY = 64;

type Asked = Pick<Observation, 'prompt' | 'canvas_size' | 'task_id'>;

/** What the teacher would draw, and the same with a fault. Nothing where it cannot read the request or has no room. */
function drawDamaged(asked: Asked, seed: bigint): { wanted: Action[]; damaged: Action[] } | undefined {
  const rng = createRng(hash64('repair', seed, asked.task_id ?? asked.prompt));
  const [text] = createScriptedTeacher(rng, { flaw_rate: 0 }).propose(asked, 1);
  if (text === undefined) return undefined;
  const wanted = Action.array().parse((JSON.parse(text) as { actions: unknown }).actions);
  return { wanted, damaged: damage(wanted, rng) };
}

/** Draws the teacher's diagram with a fault; the same one of a task for the same seed. */
export function createDamagedOpening(seed: bigint): Opening {
  return (observation) => JSON.stringify({ actions: drawDamaged(observation, seed)?.damaged ?? [] });
}

/** Least reward that a repair of the teacher must earn to be learned from: some faults hardly show. */
const MIN_REWARD = 0.01;

/**
 * What the teacher does about the damage of each task, where it helps, and for each such task how it draws it from
 * nothing: the data set of a repair policy. Drawings teach to copy names, of which repairs have few.
 */
export async function teachRepairs(
  client: Client,
  taskIds: readonly string[],
  seed: bigint,
  onProgress: (done: number) => void,
): Promise<Example[]> {
  let done = 0;
  const examples = await pMap(
    taskIds,
    async (task_id) => {
      const taught = await teachRepair(client, task_id, seed);
      onProgress(++done);
      return taught;
    },
    { concurrency: CONCURRENCY },
  );
  return examples.flat();
}

async function teachRepair(client: Client, task_id: string, seed: bigint): Promise<Example[]> {
  const { observation, state } = await client.reset({ task_id, ...REPAIR_EPISODE });
  const drawn = drawDamaged(observation, seed);
  if (drawn === undefined) return [];
  const opened = await client.step({ state, action: JSON.stringify({ actions: drawn.damaged }) });
  const completion = JSON.stringify({ actions: toRepair(opened.observation.canvas, drawn.wanted) });
  const { reward } = await client.step({ state: opened.state, action: completion });
  if (reward < MIN_REWARD) return [];
  const drawing = JSON.stringify({ actions: drawn.wanted });
  const whole = await client.step({ state, action: drawing });
  return [
    { task_id, prompt: toPolicyPrompt(opened.observation), completion, reward },
    { task_id, prompt: toPolicyPrompt(observation), completion: drawing, reward: whole.reward },
  ];
}

/** What a policy made of damaged drawings. */
export interface RepairResult {
  tasks: number;
  /** Mean R of the drawing before and after its turn, and of the turn's reward with its standard error. */
  damaged: number;
  repaired: number;
  reward: number;
  standard_error: number;
  /** Reward of each task. */
  rewards: number[];
  trajectories: Trajectory[];
}

/** One episode of each task. */
export async function evaluateRepair(
  client: Client,
  policy: Policy,
  taskIds: readonly string[],
  seed: bigint,
): Promise<RepairResult> {
  const options: RolloutOptions = { ...REPAIR_EPISODE, group_size: 1, opening: createDamagedOpening(seed) };
  const trajectories = await rollout(client, policy, taskIds, options);
  const rewards = trajectories.map(({ turns }) => turns[0]!.reward);
  const damaged = trajectories.map(({ opening }) => opening!.reward!);
  return {
    ...{ tasks: taskIds.length, rewards, trajectories, reward: mean(rewards), standard_error: standardError(rewards) },
    damaged: mean(damaged) + TURN_COST,
    repaired: mean(rewards.map((reward, i) => reward + damaged[i]!)) + 2 * TURN_COST,
  };
}
