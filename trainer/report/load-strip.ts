/**
 * The strip: the same task at successive versions of the policy. Made of the validation episodes that REINFORCE plays
 * every few steps; a run without them has no strip.
 */
import type { Store } from '../../clients/store/index.ts';
import type { Client } from '../../clients/ts/index.ts';
import type { Strip } from './data.ts';
import { policyRank, scoredEpisodes, toDrawings, type Scored } from './load-episodes.ts';

const MOST_VERSIONS = 5;
/** Less than this is no change worth a row, in units of reward. */
const LEAST_CHANGE = 0.02;

/** The episodes of a task, one for each version, in the order of the versions; and the last reward less the first. */
interface Track {
  task_id: string;
  family: string | null;
  episodes: Scored[];
  change: number;
}

export async function loadStrip(store: Store, client: Client, run_id: string): Promise<Strip[]> {
  const tracks = toTracks(scoredEpisodes(store, run_id, 'validation'));
  return Promise.all(chooseTracks(tracks).map((track) => toStrip(store, client, track)));
}

/** Tasks that every version played, so that all rows of the strip have the same columns. */
export function toTracks(episodes: Iterable<Scored>): Track[] {
  const byTask = new Map<string, Map<string, Scored>>();
  const versions = new Set<string>();
  for (const episode of episodes) {
    const { task_id, policy_version } = episode;
    versions.add(policy_version);
    const byVersion = byTask.get(task_id) ?? new Map<string, Scored>();
    byTask.set(task_id, byVersion);
    if (!byVersion.has(policy_version)) byVersion.set(policy_version, episode);
  }
  if (versions.size < 2) return [];
  const shown = evenly(
    [...versions].sort((a, b) => policyRank(a) - policyRank(b)),
    MOST_VERSIONS,
  );
  return [...byTask].flatMap(([task_id, byVersion]) => {
    const played = shown.flatMap((version) => byVersion.get(version) ?? []);
    if (played.length < shown.length) return [];
    const change = played.at(-1)!.episode_return - played[0]!.episode_return;
    return [{ task_id, family: played[0]!.family, episodes: played, change }];
  });
}

/** The first, the last and those between, at even distances. */
function evenly<T>(values: readonly T[], most: number): T[] {
  if (values.length <= most) return [...values];
  return Array.from({ length: most }, (_, i) => values[Math.round((i * (values.length - 1)) / (most - 1))]!);
}

/** The two tasks, of different families, that gained most, and the one that lost most. */
export function chooseTracks(tracks: readonly Track[]): Track[] {
  const byGain = tracks.filter(({ change }) => Math.abs(change) >= LEAST_CHANGE).sort((a, b) => b.change - a.change);
  const gained = byGain.filter(({ change }) => change > 0);
  const first = gained[0];
  const second = gained.find(({ family }) => family !== first?.family) ?? gained[1];
  const lost = byGain.findLast(({ change }) => change < 0);
  return [first, second, lost].filter((track) => track !== undefined);
}

async function toStrip(store: Store, client: Client, { task_id, episodes, change }: Track): Promise<Strip> {
  const drawings = await toDrawings(store, client, episodes);
  return { task_id, prompt: episodes[0]!.prompt, change, drawings };
}
