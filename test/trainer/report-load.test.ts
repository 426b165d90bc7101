/** A report from the log: three policies play real tasks against the server, and what the report says is what was logged. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve, type ServerType } from '@hono/node-server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStore, type Store } from '../../clients/store/index.ts';
import { createClient, type Client } from '../../clients/ts/index.ts';
import { createRng, hash64 } from '../../schemas/seed.ts';
import { createApp } from '../../server/app.ts';
import { chooseTasks, evaluatePolicy } from '../../trainer/evaluate.ts';
import { createProgress } from '../../trainer/progress.ts';
import { toEpisodeRecord } from '../../trainer/record.ts';
import { command } from '../../trainer/report/command.ts';
import { loadReport } from '../../trainer/report/load.ts';
import { renderReport } from '../../trainer/report.ts';
import type { Policy } from '../../trainer/rollout.ts';
import type { SplitEvaluation } from '../../trainer/stages/evaluate.ts';
import { summarise } from '../../trainer/summary.ts';
import { teach } from '../../trainer/teach.ts';
import { createScriptedTeacher } from '../../trainer/teacher/scripted.ts';

const RUN = 'quickstart-1';
const LEVELS = [1, 2] as const;
const FOLDER = mkdtempSync(join(tmpdir(), 'report-'));
const DB = join(FOLDER, 'log.db');
const PLACES = { db: DB, runs: FOLDER };
const SAMPLED = { finish_reason: 'stop', prompt_ids: [1], completion_ids: [2], sampled_logprobs: [-0.5] } as const;

const client: Client = createClient({ url: 'http://app', fetch: (request) => app.fetch(request) });
const app = createApp({});
let store: Store;
type Evaluated = Awaited<ReturnType<typeof evaluatePolicy>>;
let evaluations: Evaluated[];

/** Draws like the teacher, with a deliberate fault in a share of the drawings; says nothing useful about one task. */
function scripted(flaw_rate: number): Policy {
  return (observations) =>
    observations.map((observation, i) => {
      const teacher = createScriptedTeacher(createRng(hash64('load', observation.prompt)), { flaw_rate });
      const [text = ''] = teacher.propose(observation, 1);
      return { ...SAMPLED, text: flaw_rate > 0 && i === 5 ? 'I cannot draw that.' : text };
    });
}

beforeAll(async () => {
  store = openStore(DB);
  store.createRun({
    run_id: RUN,
    command: 'quickstart',
    config: { seed: 3, levels: [1, 2], resume: false, note: "it's" },
  });
  const options = {
    run_id: RUN,
    seed: 3,
    levels: LEVELS,
    tasks: 16,
    samples: 3,
    flaw_rate: 0.5,
    reward: 'graded',
  } as const;
  await teach(client, store, { ...options, min_reward: 0.9, keep: 1 }, () => undefined);
  for (const step of [1, 2, 3]) store.recordMetrics(RUN, 'reinforce', step, { 'episode/return': 0.2 * step });
  store.recordMetrics(RUN, 'sft', 0, { 'time/stage_s': 12 });
  const tasks = await chooseTasks(client, { split: 'test_iid', levels: LEVELS, count: 24 });
  evaluations = [];
  for (const [policy, flaws] of [
    ['rl-12', 0.4],
    ['sft', 1],
    ['teacher', 0],
  ] as const) {
    const evaluation = await evaluatePolicy(client, policy, scripted(flaws), tasks);
    evaluations.push(evaluation);
    const context = { policy_version: policy, optimizer_step: 0, reward: 'graded' } as const;
    store.recordEpisodes(
      RUN,
      'evaluate',
      evaluation.trajectories.map((each) => toEpisodeRecord(each, context)),
    );
  }
});

afterAll(() => {
  store.close();
  rmSync(FOLDER, { recursive: true });
});

test('the figures are those of the evaluation, best-known policy first, and differences are paired by task', async () => {
  const { evaluation } = await loadReport(store, client, PLACES, RUN);
  const [rl, sft, teacher] = evaluations as [Evaluated, Evaluated, Evaluated];
  const split: SplitEvaluation = { split: 'test_iid', levels: [...LEVELS], policies: [teacher, sft, rl] };
  expect(evaluation).toEqual(summarise([split], 0.9));
});

test('of an evaluation that goes on, the tasks that all have played; a greedy twin stands in the table alone', async () => {
  const going = openStore(':memory:');
  going.createRun({ run_id: 'going', command: 'evaluate', config: { pass_at_reward: 0.5 } });
  const [rl, sft] = evaluations as [Evaluated, Evaluated, Evaluated];
  for (const [policy, trajectories] of [
    ['sft', sft.trajectories],
    ['sft greedy', sft.trajectories.slice(0, 20)],
    ['rl-12', rl.trajectories.slice(0, 17)],
  ] as const) {
    const context = { policy_version: policy, optimizer_step: 0, reward: 'graded' } as const;
    going.recordEpisodes(
      'going',
      'evaluate',
      trajectories.map((each) => toEpisodeRecord(each, context)),
    );
  }
  const { evaluation, best } = await loadReport(going, client, PLACES);
  expect(evaluation!.pass_at_reward).toBe(0.5);
  expect(evaluation!.splits[0]!.policies.map(({ policy, tasks }) => [policy, tasks])).toEqual([
    ['sft', 17],
    ['sft greedy', 17],
    ['rl-12', 17],
  ]);
  expect(best[0]!.drawings.map(({ policy }) => policy)).toEqual(['sft', 'rl-12']);
  const known = { pass_at_reward: 0.25, splits: [] };
  going.finishRun('going', 'done', { evaluation: known });
  expect((await loadReport(going, client, PLACES)).evaluation).toEqual(known);
  going.close();
});

test('examples: the same tasks by each policy, one of each family; what the trained policy drew best and worst', async () => {
  const { comparisons, best, worst } = await loadReport(store, client, PLACES, RUN);
  const families = comparisons.map(({ task_id }) => task_id.split('.')[1]);
  expect(new Set(families).size).toBe(families.length);
  expect(comparisons.length).toBeGreaterThan(3);
  for (const { drawings } of comparisons) {
    expect(drawings.map(({ policy }) => policy)).toEqual(['teacher', 'sft', 'rl-12']);
    expect(drawings[0]!.svg).toMatch(/^<svg /);
  }
  const returns = evaluations[0]!.rewards.graded.toSorted((a, b) => a - b);
  for (const { drawings } of [...best, ...worst])
    expect(drawings.map(({ policy }) => policy)).toEqual(['sft', 'rl-12']);
  const trained = (examples: typeof best) => examples.map(({ drawings }) => drawings[1]!);
  expect(trained(worst).map(({ reward }) => reward)).toEqual(returns.slice(0, 6));
  expect(trained(best).map(({ reward }) => reward)).toEqual(returns.slice(-3).reverse());
  expect(trained(worst)[0]).toMatchObject({ reward: 0, said: 'I cannot draw that.' });
  expect(trained(worst)[0]!.svg).toBeUndefined();
  expect(trained(worst)[0]!.reasons.length + trained(worst)[0]!.errors.length).toBeGreaterThan(0);
  const shown = [...comparisons, ...best, ...worst].map(({ task_id }) => task_id);
  expect(new Set(shown).size).toBe(shown.length);
});

test('what each policy said stands in the report, word for word', async () => {
  const { comparisons, best, worst } = await loadReport(store, client, PLACES, RUN);
  for (const { task_id, drawings } of [...comparisons, ...best, ...worst]) {
    for (const { policy, said, reward } of drawings) {
      const { trajectories } = evaluations.find((evaluation) => evaluation.policy === policy)!;
      const played = trajectories.find((trajectory) => trajectory.task_id === task_id)!;
      expect([said, reward]).toEqual([played.turns[0]!.completion.text, played.episode_return]);
    }
  }
});

test("the teacher's examples are the best of what was kept; where its evaluation has faults, they are not shown first", async () => {
  const { teacher } = await loadReport(store, client, PLACES, RUN);
  const kept = store.teacherSamples({ run_id: RUN, accepted: true });
  const rewards = teacher!.examples.map(({ drawings }) => drawings[0]!.reward!);
  expect(rewards).toHaveLength(3);
  expect(rewards[0]).toBe(Math.max(...kept.map(({ reward }) => reward!)));
  for (const { task_id, drawings } of teacher!.examples) {
    expect(kept.find((sample) => sample.task_id === task_id)!.completion).toBe(drawings[0]!.said);
    expect(drawings[0]!.svg).toMatch(/^<svg /);
  }
  const flawed = openStore(':memory:');
  flawed.createRun({ run_id: 'flawed', command: 'evaluate', config: {} });
  const tasks = await chooseTasks(client, { split: 'test_iid', levels: [1], count: 48 });
  for (const [policy, flaws] of [
    ['teacher', 0.6],
    ['sft', 1],
  ] as const) {
    const { trajectories } = await evaluatePolicy(client, policy, scripted(flaws), tasks);
    const context = { policy_version: policy, optimizer_step: 0, reward: 'graded' } as const;
    flawed.recordEpisodes(
      'flawed',
      'evaluate',
      trajectories.map((each) => toEpisodeRecord(each, context)),
    );
  }
  const { comparisons } = await loadReport(flawed, client, PLACES);
  flawed.close();
  const shown = comparisons.map(({ drawings }) => drawings[0]!);
  expect(shown.map(({ policy }) => policy)).toEqual(comparisons.map(() => 'teacher'));
  expect(shown.filter(({ reward }) => reward! < 0.85)).toEqual([]);
});

test('teacher, curves and times come from the log', async () => {
  const { teacher, curves, stages } = await loadReport(store, client, PLACES, RUN);
  expect(teacher!.proposed).toBe(store.teacherSamples({ run_id: RUN }).length);
  expect(teacher!.kept).toBe(store.teacherSamples({ run_id: RUN, accepted: true }).length);
  const refused = Object.values(teacher!.rejected).reduce((sum, count) => sum + count, 0);
  expect(teacher!.kept + refused).toBe(teacher!.proposed);
  expect(curves.map(({ name, points }) => [name, points.at(-1)?.value])).toContainEqual([
    'episode/return',
    0.6000000000000001,
  ]);
  expect(stages).toEqual([{ stage: 'sft', seconds: 12 }]);
});

test('the commands to repeat a run carry every setting, quoted for a shell', async () => {
  const { repeat } = await loadReport(store, client, { db: 'runs/canvas-gym.db', runs: 'runs' }, RUN);
  expect(repeat).toEqual([
    `npm run canvas-gym -- quickstart --seed 3 --levels 1,2 --no-resume --note 'it'\\''s'`,
    'npm run canvas-gym -- report quickstart-1',
  ]);
});

test('they carry the places of the log and the run folders where these are not the usual ones', async () => {
  const { repeat } = await loadReport(store, client, { db: 'my logs/log.db', runs: 'elsewhere' }, RUN);
  const places = `--db 'my logs/log.db' --runs elsewhere`;
  expect(repeat.map((line) => line.endsWith(places))).toEqual([true, true]);
});

test('the last run is the default, and it renders; a run without anything does too', async () => {
  const page = renderReport(await loadReport(store, client, PLACES));
  expect(page).toContain('quickstart-1');
  expect(page.match(/<img /g)!.length).toBeGreaterThan(10);
  store.createRun({ run_id: 'empty', command: 'sft', config: {} });
  expect(renderReport(await loadReport(store, client, PLACES, 'empty'))).toContain('empty');
  await expect(loadReport(store, client, PLACES, 'unknown')).rejects.toMatchObject({ code: 'not_found' });
});

test('the command writes the report of the named run into its folder and says where', async () => {
  const [server, url] = await new Promise<[ServerType, string]>((resolve) => {
    const listening = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => {
      resolve([listening, `http://127.0.0.1:${port}`]);
    });
  });
  const said: string[] = [];
  const progress = createProgress({ write: () => true });
  const context = { startServer: () => Promise.resolve({ url, close }), out: (line: string) => said.push(line) };
  function close(): Promise<void> {
    server.close();
    return Promise.resolve();
  }
  const signal = new AbortController().signal;
  await command.run({ run: RUN, db: DB, runs: FOLDER }, { ...context, progress, signal });
  expect(said).toEqual([join(FOLDER, RUN, 'report.html')]);
  expect(readFileSync(said[0]!, 'utf8')).toBe(renderReport(await loadReport(store, client, PLACES, RUN)));
  expect(server.listening).toBe(false);
});
