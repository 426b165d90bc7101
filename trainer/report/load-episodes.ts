/** Episodes of the log as a report reads them: by policy, and as pictures drawn by the environment. */
import type { Episode, Store } from '../../clients/store/index.ts';
import type { Client } from '../../clients/ts/index.ts';
import { PLAYED_PRESET } from '../evaluate.ts';
import type { Drawing } from './data.ts';

/** An episode that was scored, of a task of the suite. */
export type Scored = Episode & { episode_return: number; task_id: string };

/** Episodes of one policy, in the order of the tasks. */
export interface PolicyEpisodes {
  policy: string;
  episodes: Scored[];
}

/** Evaluation episodes by policy: the teacher, SFT, then trained policies by the steps they were trained for. */
export function readPolicies(store: Store, run_id: string): PolicyEpisodes[] {
  const groups = new Map<string, Scored[]>();
  for (const episode of scoredEpisodes(store, run_id, 'evaluate')) {
    const group = groups.get(episode.policy_version) ?? [];
    groups.set(episode.policy_version, group);
    group.push(episode);
  }
  return [...groups]
    .map(([policy, episodes]) => ({ policy, episodes }))
    .sort((a, b) => policyRank(a.policy) - policyRank(b.policy));
}

/** Episodes of a stage that were scored under the preset that policies are compared by, page by page. */
export function* scoredEpisodes(store: Store, run_id: string, stage: string): Generator<Scored> {
  for (let after = 0; ;) {
    const page = store.episodes({ run_id, stage, after });
    for (const episode of page) {
      const { episode_return, task_id } = episode;
      if (episode_return !== null && task_id !== null && episode.reward_preset === PLAYED_PRESET)
        yield { ...episode, episode_return, task_id };
    }
    const end = page.at(-1);
    if (end === undefined) return;
    after = end.episode_id;
  }
}

/** The teacher, SFT, then `rl-40` before `rl-150`; other names in the order they come. */
export function policyRank(policy: string): number {
  const order = ['teacher', 'sft'].indexOf(policy.split(' ')[0]!);
  return order >= 0 ? order - 2 : Number(/^rl-(\d+)/.exec(policy)?.[1] ?? 0);
}

/** What a policy drew, as a picture, with what it earned and lost points for; undefined where no step was recorded. */
export async function toDrawing(store: Store, client: Client, episode: Scored): Promise<Drawing | undefined> {
  const step = store.steps(episode.episode_id).at(-1);
  if (!step) return undefined;
  const { reasons, errors, action: said, finish_reason } = step;
  const { policy_version: policy, episode_return: reward } = episode;
  const drawing = { policy, reward, said, is_cut: finish_reason === 'length', reasons, errors };
  if (step.canvas.shapes.length === 0) return drawing;
  const picture = await client.render({ canvas: step.canvas, format: 'svg' });
  return { ...drawing, svg: await picture.text() };
}

/** The drawings of several episodes, in their order. */
export async function toDrawings(store: Store, client: Client, episodes: readonly Scored[]): Promise<Drawing[]> {
  const drawings = await Promise.all(episodes.map((episode) => toDrawing(store, client, episode)));
  return drawings.filter((drawing) => drawing !== undefined);
}
