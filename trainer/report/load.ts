/**
 * Fills a report from the log. Pictures are drawn, and completions scored under the presets they were not played with,
 * by the environment over HTTP; nothing else leaves the log, so a report can be made of any run, finished or not.
 *
 * It reads these stages, each of which may be missing: `teach` (teacher samples), `sft` and `reinforce` (metrics),
 * `evaluate` (episodes played under graded, one a task and policy, in the order of the tasks). A stage that has recorded
 * the metric `time/stage_s` also appears in the table of times.
 */
import type { Client } from '../../clients/ts/index.ts';
import type { Episode, Run, Step, Store, TeacherSample } from '../../clients/store/index.ts';
import { PRESETS, type Components, type Preset } from '../../schemas/reward.ts';
import { hasNoErrors, isValidJson, PLAYED_PRESET, type EvaluationRow } from '../evaluate.ts';
import { scoreCompletions } from '../score.ts';
import type { Places } from '../shell.ts';
import { DEFAULT_MIN_REWARD } from '../teach.ts';
import { mean, pairedDifference, standardError } from '../statistics.ts';
import type { Curve, Drawing, EvaluationFacts, Example, ReportData, TeacherFacts } from './data.ts';
import { repeatCommands } from './repeat.ts';

const COMPARISONS = 6;
const BEST = 3;
const WORST = 6;
const KEPT = 3;
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
  const { best, worst } = chooseExtremes(policies);
  const trained = policies.filter(({ policy }) => policy !== 'teacher');
  const compared = chooseComparisons(policies, [...best, ...worst], run.config['min_reward']);
  const draw = (tasks: readonly string[], by: readonly PolicyEpisodes[]): Promise<Example[]> =>
    Promise.all(tasks.map((task_id) => toExample(client, task_id, by)));
  return {
    run: toFacts(run),
    stages: readTimes(store, run.run_id),
    evaluation: policies.length === 0 ? undefined : await toEvaluation(client, policies),
    teacher: await readTeacher(store, client, run.run_id),
    curves: readCurves(store, run.run_id),
    comparisons: await draw(compared, policies),
    best: await draw(best, trained.length > 0 ? trained : policies),
    worst: await draw(worst, trained.length > 0 ? trained : policies),
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

async function readTeacher(store: Store, client: Client, run_id: string): Promise<TeacherFacts | undefined> {
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
    examples: await Promise.all(bestKept(store, run_id).map((sample) => toTeacherExample(client, sample))),
  };
}

/** The kept samples of highest reward, one of each family. */
function bestKept(store: Store, run_id: string): TeacherSample[] {
  const best = new Map<string | undefined, TeacherSample>();
  for (let after = 0; ;) {
    const page = store.teacherSamples({ run_id, accepted: true, after });
    for (const sample of page) {
      const family = familyOf(sample.task_id);
      if ((best.get(family)?.reward ?? -1) < (sample.reward ?? 0)) best.set(family, sample);
    }
    const end = page.at(-1);
    if (end === undefined) break;
    after = end.sample_id;
  }
  return [...best.values()].sort((a, b) => (b.reward ?? 0) - (a.reward ?? 0)).slice(0, KEPT);
}

function familyOf(task_id: string): string | undefined {
  return task_id.split('.')[1];
}

async function toTeacherExample(client: Client, sample: TeacherSample): Promise<Example> {
  const { task_id, prompt, completion: said, reward, errors } = sample;
  const picture = await client.render({ completion: said, format: 'svg' });
  const drawing = { policy: 'teacher', svg: await picture.text(), reward, said, is_cut: false, reasons: [], errors };
  return { task_id, prompt, drawings: [drawing] };
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

/** The tasks that the last policy drew best and worst, in that order; no task is in both. */
function chooseExtremes(policies: readonly PolicyEpisodes[]): { best: string[]; worst: string[] } {
  const last = policies.at(-1)?.played ?? [];
  const byReturn = [...last].sort((a, b) => returnOf(b) - returnOf(a)).map(({ episode }) => episode.task_id);
  return { best: byReturn.slice(0, BEST), worst: byReturn.slice(BEST).reverse().slice(0, WORST) };
}

/**
 * Of each family the first task that every policy played and that is not shown already: chosen by order, never by what a
 * trained policy made of it. The teacher draws with deliberate faults; tasks go first on which its drawing is one that
 * would have been kept for SFT.
 */
function chooseComparisons(
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

async function toExample(client: Client, task_id: string, policies: readonly PolicyEpisodes[]): Promise<Example> {
  const all = policies.flatMap(({ played }) => played.find(({ episode }) => episode.task_id === task_id) ?? []);
  const drawings = await Promise.all(all.map((played) => toDrawing(client, played)));
  return { task_id, prompt: all[0]!.episode.prompt, drawings };
}

async function toDrawing(client: Client, { episode, step }: Played): Promise<Drawing> {
  const { reasons, errors, action: said, finish_reason } = step;
  const { policy_version: policy, episode_return: reward } = episode;
  const drawing = { policy, reward, said, is_cut: finish_reason === 'length', reasons, errors };
  if (step.canvas.shapes.length === 0) return drawing;
  const picture = await client.render({ canvas: step.canvas, format: 'svg' });
  return { ...drawing, svg: await picture.text() };
}
