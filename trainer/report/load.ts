/**
 * Fills a report from the log. Pictures are drawn, and completions scored under the presets they were not played with,
 * by the environment over HTTP; nothing else leaves the log, so a report can be made of any run, finished or not.
 *
 * It reads these stages, each of which may be missing: `teach` (teacher samples), `sft` and `reinforce` (metrics),
 * `evaluate` (episodes played under graded, one a task and policy, in the order of the tasks). A stage that has recorded
 * the metric `time/stage_s` also appears in the table of times.
 */
import type { Client } from '../../clients/ts/index.ts';
import type { Episode, Run, Step, Store } from '../../clients/store/index.ts';
import { PRESETS, type Components, type Preset } from '../../schemas/reward.ts';
import { hasNoErrors, isValidJson, PLAYED_PRESET, type EvaluationRow } from '../evaluate.ts';
import { scoreCompletions } from '../score.ts';
import type { Places } from '../shell.ts';
import { mean, pairedDifference, standardError } from '../statistics.ts';
import type { Comparison, Curve, Drawing, EpisodeFacts, EvaluationFacts, ReportData, TeacherFacts } from './data.ts';
import { repeatCommands } from './repeat.ts';

const COMPARISONS = 6;
const EPISODES = 6;
const STAGES = ['teach', 'sft', 'reinforce', 'evaluate'];

/** An evaluation episode with its last step, which holds the final canvas. */
interface Played {
  episode: Episode & { episode_return: number; task_id: string };
  step: Step;
}

/** Episodes of one policy, in the order of the tasks. */
interface PolicyEpisodes {
  policy: string;
  played: Played[];
}

/** @throws StoreError not_found; the client's errors where the server cannot score or draw. */
export async function loadReport(store: Store, client: Client, places: Places, run_id?: string): Promise<ReportData> {
  const run = store.getRun(run_id);
  const policies = readPolicies(store, run.run_id);
  const last = policies.at(-1)?.played ?? [];
  const byReturn = [...last].sort((a, b) => returnOf(b) - returnOf(a));
  return {
    run: toFacts(run),
    stages: readTimes(store, run.run_id),
    evaluation: policies.length === 0 ? undefined : await toEvaluation(client, policies),
    teacher: readTeacher(store, run.run_id),
    curves: readCurves(store, run.run_id),
    comparisons: await toComparisons(client, policies),
    best: await Promise.all(byReturn.slice(0, EPISODES / 2).map((played) => toEpisodeFacts(client, played))),
    worst: await Promise.all(
      byReturn
        .slice(EPISODES / 2)
        .reverse()
        .slice(0, EPISODES)
        .map((played) => toEpisodeFacts(client, played)),
    ),
    settings: run.config,
    repeat: repeatCommands(run, places),
  };
}

function toFacts({ run_id, command, status, started_at, finished_at, seed, git_commit }: Run): ReportData['run'] {
  return { run_id, command, status, started_at, finished_at, seed, git_commit };
}

function readCurves(store: Store, run_id: string): Curve[] {
  const names = store.metricNames(run_id).filter(({ name }) => name !== 'time/stage_s');
  return names.map(({ stage, name }) => ({ stage, name, points: store.metric(run_id, stage, name) }));
}

function readTimes(store: Store, run_id: string): ReportData['stages'] {
  const times = store.stageTimes(run_id);
  return STAGES.flatMap((stage) => times.find((time) => time.stage === stage) ?? []);
}

function readTeacher(store: Store, run_id: string): TeacherFacts | undefined {
  const rows = store.query(
    `SELECT accepted, reject_reason, count(*) AS samples, coalesce(sum(reward), 0) AS reward
     FROM teacher_samples WHERE run_id = ? GROUP BY accepted, reject_reason ORDER BY reject_reason`,
    run_id,
  ) as { accepted: number; reject_reason: string | null; samples: number; reward: number }[];
  if (rows.length === 0) return undefined;
  const kept = rows.filter(({ accepted }) => accepted === 1);
  const count = (part: typeof rows): number => part.reduce((sum, { samples }) => sum + samples, 0);
  const average = (part: typeof rows): number => part.reduce((sum, { reward }) => sum + reward, 0) / count(part);
  return {
    proposed: count(rows),
    kept: count(kept),
    mean_reward: average(rows),
    kept_reward: average(kept),
    rejected: Object.fromEntries(
      rows.flatMap(({ reject_reason, samples }) => (reject_reason === null ? [] : [[reject_reason, samples]])),
    ),
  };
}

/** Evaluation episodes by policy: the teacher, SFT, then trained policies by the steps they were trained for. */
function readPolicies(store: Store, run_id: string): PolicyEpisodes[] {
  const groups = new Map<string, Played[]>();
  for (let after = 0; ;) {
    const page = store.episodes({ run_id, stage: 'evaluate', after });
    for (const episode of page) {
      const step = store.steps(episode.episode_id).at(-1);
      const { episode_return, reward_preset, task_id } = episode;
      if (!step || episode_return === null || task_id === null || reward_preset !== PLAYED_PRESET) continue;
      const group = groups.get(episode.policy_version) ?? [];
      groups.set(episode.policy_version, [...group, { episode: { ...episode, episode_return, task_id }, step }]);
    }
    const end = page.at(-1);
    if (end === undefined) break;
    after = end.episode_id;
  }
  const policies = [...groups].map(([policy, played]) => ({ policy, played }));
  return policies.sort((a, b) => rank(a) - rank(b));
}

/** `rl-40` before `rl-150`. */
function rank({ policy }: PolicyEpisodes): number {
  const order = ['teacher', 'sft'].indexOf(policy);
  return order >= 0 ? order : 2 + Number(/\d+$/.exec(policy)?.[0] ?? 0);
}

function returnOf({ episode }: Played): number {
  return episode.episode_return;
}

async function toEvaluation(client: Client, policies: readonly PolicyEpisodes[]): Promise<EvaluationFacts> {
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

/** The first task of each family that every policy played: chosen by order, never by result. */
async function toComparisons(client: Client, policies: readonly PolicyEpisodes[]): Promise<Comparison[]> {
  const families = new Map<string | null, Played[]>();
  for (const first of policies[0]?.played ?? []) {
    const { task_id, family } = first.episode;
    const all = policies.flatMap(({ played }) => played.find(({ episode }) => episode.task_id === task_id) ?? []);
    if (all.length === policies.length && !families.has(family)) families.set(family, all);
  }
  const chosen = [...families.values()].slice(0, COMPARISONS);
  return Promise.all(
    chosen.map(async (all) => ({
      task_id: all[0]!.episode.task_id,
      prompt: all[0]!.episode.prompt,
      drawings: await Promise.all(all.map((played) => toDrawing(client, played))),
    })),
  );
}

async function toDrawing(client: Client, { episode, step }: Played): Promise<Drawing> {
  const drawing = { policy: episode.policy_version, reward: episode.episode_return };
  if (step.canvas.shapes.length === 0) return drawing;
  const picture = await client.render({ canvas: step.canvas, format: 'svg' });
  return { ...drawing, svg: await picture.text() };
}

async function toEpisodeFacts(client: Client, played: Played): Promise<EpisodeFacts> {
  const { task_id, prompt } = played.episode;
  const { reasons, errors } = played.step;
  return { ...(await toDrawing(client, played)), task_id, prompt, reasons, errors };
}
