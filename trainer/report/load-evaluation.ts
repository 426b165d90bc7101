/** The evaluation's part of a report: completions of the log, scored under every preset by the environment. */
import type { Client } from '../../clients/ts/index.ts';
import { PRESETS, type Components, type Preset } from '../../schemas/reward.ts';
import { hasNoErrors, isValidJson, PLAYED_PRESET, type EvaluationRow } from '../evaluate.ts';
import { scoreCompletions } from '../score.ts';
import { mean, pairedDifference, standardError } from '../statistics.ts';
import type { EvaluationFacts } from './data.ts';
import { returnOf, type Played, type PolicyEpisodes } from './load-episodes.ts';

export async function toEvaluation(client: Client, policies: readonly PolicyEpisodes[]): Promise<EvaluationFacts> {
  const scored = await Promise.all(
    policies.map(async ({ policy, played }) => ({ policy, played, rewards: await scoreAll(client, played) })),
  );
  const rows = scored.map(({ policy, played, rewards }): EvaluationRow => {
    const each = (f: (values: number[]) => number): Record<Preset, number> => byPreset((preset) => f(rewards[preset]));
    const share = (test: (components: Components) => boolean): number =>
      mean(played.map(({ step }) => Number(test(step.components))));
    return {
      ...{ policy, tasks: played.length, mean: each(mean), standard_error: each(standardError) },
      ...{ valid_json: share(isValidJson), no_errors: share(hasNoErrors) },
    };
  });
  const from = scored.find(({ policy }) => policy === 'sft');
  const to = scored.findLast(({ policy }) => policy !== 'sft' && policy !== 'teacher');
  const tasks = describeTasks(policies[0]!.played);
  if (!from || !to) return { tasks, rows };
  const pairs = pairByTask(from.played, to.played);
  const by_preset = byPreset((preset) =>
    pairedDifference(
      pairs.map(([, b]) => to.rewards[preset][b]!),
      pairs.map(([a]) => from.rewards[preset][a]!),
    ),
  );
  return { tasks, rows, difference: { from: from.policy, to: to.policy, by_preset } };
}

function byPreset<T>(value: (preset: Preset) => T): Record<Preset, T> {
  return Object.fromEntries(PRESETS.map((preset) => [preset, value(preset)])) as Record<Preset, T>;
}

/** Rewards of the episodes under every preset; those under graded stand in the log. */
async function scoreAll(client: Client, played: readonly Played[]): Promise<Record<Preset, number[]>> {
  const items = played.map(({ episode, step }) => ({ task_id: episode.task_id, completion: step.action }));
  const scores = await Promise.all(
    PRESETS.map(async (preset) => {
      if (preset === PLAYED_PRESET) return [preset, played.map(returnOf)] as const;
      const rewards = (await scoreCompletions(client, items, preset)).flatMap(({ reward }) => reward ?? []);
      if (rewards.length < items.length) throw new Error(`the server could not score every episode under ${preset}`);
      return [preset, rewards] as const;
    }),
  );
  return Object.fromEntries(scores) as Record<Preset, number[]>;
}

/** Places in both lists of the tasks that both policies played. */
function pairByTask(a: readonly Played[], b: readonly Played[]): [number, number][] {
  const places = new Map(b.map(({ episode }, i) => [episode.task_id, i]));
  return a.flatMap(({ episode }, i): [number, number][] => {
    const place = places.get(episode.task_id);
    return place === undefined ? [] : [[i, place]];
  });
}

function describeTasks(played: readonly Played[]): string {
  const distinct = <T>(values: (T | null)[]): T[] => [...new Set(values)].filter((value) => value !== null).sort();
  const splits = distinct(played.map(({ episode }) => episode.split)).join(', ');
  const levels = distinct(played.map(({ episode }) => episode.level));
  const where = levels.length === 0 ? '' : `, level${levels.length > 1 ? 's' : ''} ${levels.join(', ')}`;
  return `${played.length} tasks of ${splits}${where}`;
}
