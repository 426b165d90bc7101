/** Which tasks of the evaluation a report shows, and what each policy made of them: the first sample of each task. */
import type { Store } from '../../clients/store/index.ts';
import type { Client } from '../../clients/ts/index.ts';
import { DEFAULT_MIN_REWARD } from '../teach.ts';
import type { Example } from './data.ts';
import { toDrawings, type PolicyEpisodes, type Scored } from './load-episodes.ts';

const COMPARISONS = 6;
const BEST = 3;
const WORST = 6;

/** The policies that are shown, each with one episode a task; a policy's greedy twin says little more than itself. */
export function toShown(policies: readonly PolicyEpisodes[]): PolicyEpisodes[] {
  return policies
    .filter(({ policy }) => !policy.endsWith(' greedy'))
    .map(({ policy, episodes }) => ({ policy, episodes: episodes.filter(({ member }) => member === 0) }));
}

/** The tasks that the last policy drew best and worst, in that order; no task is in both. */
export function chooseExtremes(policies: readonly PolicyEpisodes[]): { best: string[]; worst: string[] } {
  const last = policies.at(-1)?.episodes ?? [];
  const byReturn = last.toSorted((a, b) => b.episode_return - a.episode_return).map(({ task_id }) => task_id);
  return { best: byReturn.slice(0, BEST), worst: byReturn.slice(BEST).reverse().slice(0, WORST) };
}

/**
 * Of each family the first task that every policy played and that is not shown already: chosen by order, never by what a
 * trained policy made of it. The teacher draws with deliberate faults; tasks go first on which its drawing is one that
 * would have been kept for SFT.
 */
export function chooseComparisons(
  policies: readonly PolicyEpisodes[],
  shown: readonly string[],
  minReward: unknown,
): string[] {
  const [first, ...others] = policies;
  const least = typeof minReward === 'number' ? minReward : DEFAULT_MIN_REWARD;
  const isGood = (episode: Scored): boolean => first?.policy !== 'teacher' || episode.episode_return >= least;
  const played = others.map(({ episodes }) => new Set(episodes.map(({ task_id }) => task_id)));
  const candidates = (first?.episodes ?? []).filter(
    ({ task_id }) => !shown.includes(task_id) && played.every((tasks) => tasks.has(task_id)),
  );
  const families = new Map<string | null, Scored>();
  for (const episode of [...candidates.filter(isGood), ...candidates]) {
    if (!families.has(episode.family)) families.set(episode.family, episode);
  }
  return [...families.values()].slice(0, COMPARISONS).map(({ task_id }) => task_id);
}

export async function toExample(
  store: Store,
  client: Client,
  task_id: string,
  policies: readonly PolicyEpisodes[],
): Promise<Example> {
  const all = policies.flatMap(({ episodes }) => episodes.find((episode) => episode.task_id === task_id) ?? []);
  return { task_id, prompt: all[0]!.prompt, drawings: await toDrawings(store, client, all) };
}
