/**
 * The evaluation's figures, where its run has not summed them up: the answers of the log, scored anew by the environment.
 * Of a run that goes on, the tasks that all policies of a split have played so far.
 */
import type { Store } from '../../clients/store/index.ts';
import type { Client } from '../../clients/ts/index.ts';
import { SPLITS, type Level, type Split } from '../../schemas/task.ts';
import { fromLog, scoreEpisodes, type PolicyEvaluation } from '../evaluate.ts';
import { EvaluateSettings } from '../stages/evaluate.ts';
import { summarise, type EvaluationSummary } from '../summary.ts';
import type { PolicyEpisodes, Scored } from './load-episodes.ts';

export async function loadEvaluation(
  store: Store,
  client: Client,
  policies: readonly PolicyEpisodes[],
  passAtReward: unknown,
): Promise<EvaluationSummary | undefined> {
  const evaluations = [];
  for (const split of SPLITS) {
    const parts = toShared(policies, split);
    const first = parts[0]?.episodes ?? [];
    if (first.length === 0) continue;
    const scored: PolicyEvaluation[] = [];
    for (const { policy, episodes } of parts) {
      const played = episodes.flatMap((episode) => fromLog(episode, store.steps(episode.episode_id)) ?? []);
      scored.push(await scoreEpisodes(client, policy, played));
    }
    evaluations.push({ split, levels: levelsOf(first), policies: scored });
  }
  if (evaluations.length === 0) return undefined;
  const { pass_at_reward } = EvaluateSettings.pick({ pass_at_reward: true }).parse({ pass_at_reward: passAtReward });
  return summarise(evaluations, pass_at_reward);
}

/** Of a split, the episodes of the tasks that every policy has played. */
function toShared(policies: readonly PolicyEpisodes[], split: Split): PolicyEpisodes[] {
  const parts = policies.map(({ policy, episodes }) => ({
    policy,
    episodes: episodes.filter((episode) => episode.split === split),
  }));
  const played = parts.map(({ episodes }) => new Set(episodes.map(({ task_id }) => task_id)));
  const isShared = ({ task_id }: Scored): boolean => played.every((tasks) => tasks.has(task_id));
  return parts.map(({ policy, episodes }) => ({ policy, episodes: episodes.filter(isShared) }));
}

function levelsOf(episodes: readonly Scored[]): Level[] {
  const levels = new Set(episodes.flatMap(({ level }) => level ?? []));
  return [...levels].sort((a, b) => a - b) as Level[];
}
