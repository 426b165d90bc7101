/**
 * Evaluation: policies play the same tasks, which none of them was trained on, and are scored under every preset.
 *
 * The episodes are played under `graded`; the same completions are then sent to /score under the other presets, so one
 * row of the table compares rewards and one column compares policies. All comparisons are paired by task.
 */
import type { Client } from '../clients/ts/index.ts';
import { PRESETS, type Components, type Preset } from '../schemas/reward.ts';
import { FAMILIES, type Level, type Split } from '../schemas/task.ts';
import { rollout, type Policy, type Trajectory } from './rollout.ts';
import { scoreCompletions } from './score.ts';
import { mean, pairedDifference, standardError, type PairedDifference } from './statistics.ts';

/** The preset under which the episodes are played. */
export const PLAYED_PRESET: Preset = 'graded';

export interface PolicyEvaluation {
  policy: string;
  trajectories: Trajectory[];
  /** Rewards by preset, [task], in the order of the tasks. */
  rewards: Record<Preset, number[]>;
}

export interface EvaluationRow {
  policy: string;
  tasks: number;
  /** Share of completions that are strict JSON with a list of actions, and of those whose every action was accepted. */
  valid_json: number;
  no_errors: number;
  mean: Record<Preset, number>;
  standard_error: Record<Preset, number>;
}

/**
 * Task ids for an evaluation: level by level and family by family in turn, the lowest indices first. Fewer than `count`
 * where the split holds no more.
 */
export async function chooseTasks(
  client: Client,
  { split, levels, count }: { split: Split; levels: readonly Level[]; count: number },
): Promise<string[]> {
  const cells = levels.flatMap((level) => FAMILIES.map((family) => ({ split, level, family })));
  const limit = Math.min(1000, count);
  const pages = await Promise.all(cells.map((cell) => client.tasks({ ...cell, limit })));
  const queues = new Map<string, string[]>();
  for (const task of pages.flatMap((page) => page.tasks)) {
    const key = `${task.level}.${task.family}`;
    queues.set(key, [...(queues.get(key) ?? []), task.task_id]);
  }
  const chosen: string[] = [];
  for (let i = 0; chosen.length < count; i++) {
    const round = [...queues.values()].flatMap((queue) => queue[i] ?? []);
    if (round.length === 0) break;
    chosen.push(...round);
  }
  return chosen.slice(0, count);
}

/**
 * Plays one episode of each task and scores its completions under every preset.
 * @throws Error where a completion could not be scored; the client's errors
 */
export async function evaluatePolicy(
  client: Client,
  name: string,
  policy: Policy,
  taskIds: readonly string[],
  onProgress: (done: number) => void = () => undefined,
): Promise<PolicyEvaluation> {
  const trajectories: Trajectory[] = [];
  for (let start = 0; start < taskIds.length; start += 64) {
    const part = taskIds.slice(start, start + 64);
    const options = { reward: PLAYED_PRESET, action_set: 'core', max_turns: 1, group_size: 1 } as const;
    trajectories.push(...(await rollout(client, policy, part, options)));
    onProgress(trajectories.length);
  }
  const rewards = Object.fromEntries(
    await Promise.all(PRESETS.map(async (preset) => [preset, await scoreAll(client, trajectories, preset)] as const)),
  ) as Record<Preset, number[]>;
  return { policy: name, trajectories, rewards };
}

async function scoreAll(client: Client, trajectories: readonly Trajectory[], preset: Preset): Promise<number[]> {
  if (preset === PLAYED_PRESET) return trajectories.map((trajectory) => trajectory.episode_return);
  const items = trajectories.map(({ task_id, turns }) => ({ task_id, completion: turns[0]!.completion.text }));
  const scored = await scoreCompletions(client, items, preset);
  return scored.map(({ reward }, i) => {
    if (reward === null) throw new Error(`the server could not score ${items[i]!.task_id} under ${preset}`);
    return reward;
  });
}

/** Whether a completion is one strict JSON document of actions, from its components under graded. */
export function isValidJson(components: Components): boolean {
  return components['parse'] === 1;
}

/** Whether, moreover, every action was well-formed and accepted by the canvas. */
export function hasNoErrors(components: Components): boolean {
  return ['parse', 'schema', 'render'].every((factor) => components[factor] === 1);
}

/** The row of a policy in the table of rewards. */
export function toRow({ policy, rewards, trajectories }: PolicyEvaluation): EvaluationRow {
  const last = trajectories.map(({ turns }) => turns.at(-1)!.next_observation.reward_components);
  const share = (test: (components: Components) => boolean): number => mean(last.map(test).map(Number));
  const each = (f: (values: number[]) => number): Record<Preset, number> =>
    Object.fromEntries(PRESETS.map((preset) => [preset, f(rewards[preset])])) as Record<Preset, number>;
  return {
    ...{ policy, tasks: rewards.graded.length, mean: each(mean), standard_error: each(standardError) },
    ...{ valid_json: share(isValidJson), no_errors: share(hasNoErrors) },
  };
}

/** How far policy `a` is above policy `b` on the same tasks. @throws RangeError where they played other numbers of tasks */
export function comparePolicies(a: PolicyEvaluation, b: PolicyEvaluation, preset: Preset): PairedDifference {
  return pairedDifference(a.rewards[preset], b.rewards[preset]);
}
