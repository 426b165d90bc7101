/**
 * Evaluation: policies play the same tasks, which none of them was trained on, and are scored under every preset and by
 * the held-out measures, which no reward holds.
 *
 * The episodes are played under `graded`; the same answers are then sent to /score under the other presets, so one row of
 * the table compares rewards and one column compares policies. All comparisons are paired by task. What is scored is a
 * plain list of answers, so that it may come from episodes just played or from the log of an evaluation that was cut off.
 */
import type { Episode, Step } from '../clients/store/index.ts';
import type { Client } from '../clients/ts/index.ts';
import type { ActionSet } from '../schemas/action.ts';
import type { Canvas } from '../schemas/canvas.ts';
import { TURN_COST } from '../schemas/episode.ts';
import type { Completion } from '../schemas/completion.ts';
import { PRESETS, type Components, type HeldOut, type Preset } from '../schemas/reward.ts';
import { FAMILIES, LEVELS, type Level, type Split } from '../schemas/task.ts';
import { toActions } from './prompt.ts';
import { rollout, type Policy, type Trajectory } from './rollout.ts';
import { scoreCompletions, scoreHeldOut } from './score.ts';
import { mean, pairedDifference, standardError, type PairedDifference } from './statistics.ts';

/** The preset under which the episodes are played. */
export const PLAYED_PRESET: Preset = 'graded';

/** Episodes played at a time: enough to fill a batch of the sampler, few enough to lose little when stopped. */
export const PART = 64;

/** An episode as far as scoring needs it. */
export interface PlayedEpisode {
  task_id: string;
  /** Which of the task's samples it is, from 0. */
  member: number;
  /** What the policy said; after several turns, the canvas it left, as actions that draw it. */
  answer: Completion;
  /** `length` where the answer was cut; null of several turns, whose canvas is whole. */
  finish_reason: string | null;
  /** R of the answer under the played preset. */
  reward: number;
  /** Components under the played preset after the last turn. */
  components: Components;
}

export interface ScoredEpisode extends PlayedEpisode {
  rewards: Record<Preset, number>;
  /** null for a task without an expectation. */
  held_out: HeldOut | null;
}

export interface PolicyEvaluation {
  policy: string;
  /** In the order of the tasks; samples of a task stand together. */
  episodes: ScoredEpisode[];
  /** Rewards by preset, [task]: the mean of the task's samples. */
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

export interface PlayOptions {
  action_set: ActionSet;
  max_turns: number;
  /** Episodes of each task. */
  samples: number;
}

const PLAIN: PlayOptions = { action_set: 'core', max_turns: 1, samples: 1 };

/** Which of the asked levels a split has tasks of; where it has none of them, or none is asked for, all that it has. */
export async function levelsOf(client: Client, split: Split, asked: readonly Level[] = LEVELS): Promise<Level[]> {
  const pages = await Promise.all(LEVELS.map((level) => client.tasks({ split, level, limit: 1 })));
  const own = LEVELS.filter((_, i) => pages[i]!.total > 0);
  const both = own.filter((level) => asked.includes(level));
  return both.length > 0 ? both : own;
}

/**
 * Task ids for an evaluation: level by level and family by family in turn, the lowest indices first. Fewer than `count`
 * where the split holds no more; at most 1,000 of a family at a level.
 */
export async function chooseTasks(
  client: Client,
  { split, levels, count }: { split: Split; levels: readonly Level[]; count: number },
): Promise<string[]> {
  const cells = levels.flatMap((level) => FAMILIES.map((family) => ({ split, level, family })));
  const pages = await Promise.all(cells.map((cell) => client.tasks({ ...cell, limit: 1 })));
  const taken = shareOut(
    pages.map(({ total }) => Math.min(1000, total)),
    count,
  );
  const lists = await Promise.all(
    cells.map(async (cell, i) => {
      const limit = taken[i]!;
      return limit === 0 ? [] : (await client.tasks({ ...cell, limit })).tasks.map(({ task_id }) => task_id);
    }),
  );
  const rounds = Array.from({ length: Math.max(0, ...taken) }, (_, round) =>
    lists.flatMap((list) => list[round] ?? []),
  );
  return rounds.flat().slice(0, count);
}

/** How many to take of each of some lists, so that taking one of each in turn gives at least `count`, or all there are. */
export function shareOut(sizes: readonly number[], count: number): number[] {
  const all = sizes.reduce((sum, size) => sum + size, 0);
  let rounds = 0;
  const upTo = (round: number): number[] => sizes.map((size) => Math.min(size, round));
  while (upTo(rounds).reduce((sum, size) => sum + size, 0) < Math.min(count, all)) rounds++;
  return upTo(rounds);
}

/** Plays `samples` episodes of each task, all at once. */
export function playTasks(
  client: Client,
  policy: Policy,
  taskIds: readonly string[],
  { action_set, max_turns, samples }: PlayOptions = PLAIN,
): Promise<Trajectory[]> {
  return rollout(client, policy, taskIds, { reward: PLAYED_PRESET, action_set, max_turns, group_size: samples });
}

/** An episode just played. */
export function toPlayed({ task_id, member, turns, episode_return }: Trajectory): PlayedEpisode {
  const { observation, completion, next_observation } = turns.at(-1)!;
  const { canvas, reward_components: components } = next_observation;
  const { text, finish_reason } = completion;
  const end = { max_turns: observation.max_turns, turns: turns.length, text, finish_reason, canvas };
  return { task_id, member, components, ...answerOf(end, episode_return) };
}

/** An episode of the log; undefined where it has no task, no return or no step, which none of an evaluation lacks. */
export function fromLog(
  { task_id, member, episode_return }: Episode,
  steps: readonly Step[],
): PlayedEpisode | undefined {
  const last = steps.at(-1);
  if (last === undefined || task_id === null || episode_return === null) return undefined;
  const { observation, action, finish_reason, canvas, components } = last;
  const end = { max_turns: observation.max_turns, turns: steps.length, text: action, finish_reason, canvas };
  return { task_id, member, components, ...answerOf(end, episode_return) };
}

interface End {
  max_turns: number;
  turns: number;
  text: string;
  finish_reason: string | null;
  canvas: Canvas;
}

function answerOf(
  { max_turns, turns, text, finish_reason, canvas }: End,
  episodeReturn: number,
): Pick<PlayedEpisode, 'answer' | 'finish_reason' | 'reward'> {
  if (max_turns === 1) return { answer: text, finish_reason, reward: episodeReturn };
  // the return is R of the last canvas less what the turns cost
  const reward = Math.min(1, Math.max(0, episodeReturn + TURN_COST * turns));
  return { answer: { actions: toActions(canvas) }, finish_reason: null, reward };
}

/**
 * Scores episodes under every preset, and measures what is held out.
 * @throws Error where an answer could not be scored; the client's errors
 */
export async function scoreEpisodes(
  client: Client,
  policy: string,
  played: readonly PlayedEpisode[],
): Promise<PolicyEvaluation> {
  const items = played.map(({ task_id, answer, finish_reason }) => ({ task_id, completion: answer, finish_reason }));
  const heldOut = await scoreHeldOut(client, items, PLAYED_PRESET);
  const byPreset = new Map<Preset, number[]>([[PLAYED_PRESET, played.map(({ reward }) => reward)]]);
  for (const preset of PRESETS.filter((name) => name !== PLAYED_PRESET)) {
    const scored = await scoreCompletions(client, items, preset);
    byPreset.set(
      preset,
      scored.map(({ reward }, i) => {
        if (reward === null) throw new Error(`the server could not score ${items[i]!.task_id} under ${preset}`);
        return reward;
      }),
    );
  }
  const episodes = played.map((episode, i): ScoredEpisode => ({
    ...episode,
    rewards: eachPreset((preset) => byPreset.get(preset)![i]!),
    held_out: heldOut[i]!,
  }));
  return { policy, episodes, rewards: eachPreset((preset) => taskMeans(episodes, ({ rewards }) => rewards[preset])) };
}

/** Plays one episode of each task and scores it; for what is small enough to be done at once. */
export async function evaluatePolicy(
  client: Client,
  name: string,
  policy: Policy,
  taskIds: readonly string[],
  options: PlayOptions = PLAIN,
): Promise<PolicyEvaluation & { trajectories: Trajectory[] }> {
  const trajectories = await playTasks(client, policy, taskIds, options);
  return { ...(await scoreEpisodes(client, name, trajectories.map(toPlayed))), trajectories };
}

export function eachPreset<T>(value: (preset: Preset) => T): Record<Preset, T> {
  return Object.fromEntries(PRESETS.map((preset) => [preset, value(preset)])) as Record<Preset, T>;
}

/** Mean of a value over the samples of each task, [task]; samples without one (null) do not count, nor such tasks. */
export function taskMeans<E extends { task_id: string }>(
  episodes: readonly E[],
  valueOf: (episode: E) => number | null,
): number[] {
  const values = new Map<string, number[]>();
  for (const episode of episodes) {
    const value = valueOf(episode);
    if (value === null) continue;
    const known = values.get(episode.task_id);
    if (known) known.push(value);
    else values.set(episode.task_id, [value]);
  }
  return [...values.values()].map(mean);
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
export function toRow({ policy, rewards, episodes }: PolicyEvaluation): EvaluationRow {
  const share = (test: (components: Components) => boolean): number =>
    mean(episodes.map(({ components }) => Number(test(components))));
  return {
    ...{ policy, tasks: rewards.graded.length },
    ...{ mean: eachPreset((preset) => mean(rewards[preset])) },
    ...{ standard_error: eachPreset((preset) => standardError(rewards[preset])) },
    ...{ valid_json: share(isValidJson), no_errors: share(hasNoErrors) },
  };
}

/** How far policy `a` is above policy `b` on the same tasks. @throws RangeError where they played other numbers of tasks */
export function comparePolicies(a: PolicyEvaluation, b: PolicyEvaluation, preset: Preset): PairedDifference {
  return pairedDifference(a.rewards[preset], b.rewards[preset]);
}
