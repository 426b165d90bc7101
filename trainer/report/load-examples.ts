/** Which tasks of the evaluation a report shows, and what each policy made of them. */
import type { Client } from '../../clients/ts/index.ts';
import { DEFAULT_MIN_REWARD } from '../teach.ts';
import type { Example } from './data.ts';
import { returnOf, toDrawing, type Played, type PolicyEpisodes } from './load-episodes.ts';

const COMPARISONS = 6;
const BEST = 3;
const WORST = 6;

/** The tasks that the last policy drew best and worst, in that order; no task is in both. */
export function chooseExtremes(policies: readonly PolicyEpisodes[]): { best: string[]; worst: string[] } {
  const last = policies.at(-1)?.played ?? [];
  const byReturn = [...last].sort((a, b) => returnOf(b) - returnOf(a)).map(({ episode }) => episode.task_id);
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
  const [first, ...others] = policies.map(({ policy, played }) => ({ policy, played }));
  const least = typeof minReward === 'number' ? minReward : DEFAULT_MIN_REWARD;
  const isGood = (played: Played): boolean => first?.policy !== 'teacher' || returnOf(played) >= least;
  const isPlayedByAll = ({ episode }: Played): boolean =>
    others.every(({ played }) => played.some((other) => other.episode.task_id === episode.task_id));
  const candidates = (first?.played ?? []).filter(
    (played) => !shown.includes(played.episode.task_id) && isPlayedByAll(played),
  );
  const families = new Map<string | null, Played>();
  for (const played of [...candidates.filter(isGood), ...candidates]) {
    if (!families.has(played.episode.family)) families.set(played.episode.family, played);
  }
  return [...families.values()].slice(0, COMPARISONS).map(({ episode }) => episode.task_id);
}

export async function toExample(
  client: Client,
  task_id: string,
  policies: readonly PolicyEpisodes[],
): Promise<Example> {
  const all = policies.flatMap(({ played }) => played.find(({ episode }) => episode.task_id === task_id) ?? []);
  const drawings = await Promise.all(all.map((played) => toDrawing(client, played)));
  return { task_id, prompt: all[0]!.episode.prompt, drawings };
}
