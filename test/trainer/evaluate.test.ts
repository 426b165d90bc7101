/**
 * The evaluation against a real environment in this process: which tasks, how often each is played, that one which was
 * stopped ends with the same figures and no row twice, and what the summary and the tables say.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore, type Store } from '../../clients/store/index.ts';
import { createClient } from '../../clients/ts/index.ts';
import { PRESETS } from '../../schemas/reward.ts';
import { createRng } from '../../schemas/seed.ts';
import { createApp } from '../../server/app.ts';
import { createBackend } from '../../trainer/backend.ts';
import { saveCheckpoint } from '../../trainer/checkpoint.ts';
import { toContenders, type Contender } from '../../trainer/contender.ts';
import { chooseTasks, evaluatePolicy, levelsOf, shareOut } from '../../trainer/evaluate.ts';
import { tinyConfig } from '../../trainer/model/config.ts';
import { createModel } from '../../trainer/model/model.ts';
import { createCompute, type Compute } from '../../trainer/pool/compute.ts';
import { createTeacherPolicy } from '../../trainer/policy.ts';
import { openRun } from '../../trainer/run.ts';
import { evaluateStage, EvaluateSettings, toSplits, type SplitEvaluation } from '../../trainer/stages/evaluate.ts';
import { mean } from '../../trainer/statistics.ts';
import { summarise } from '../../trainer/summary.ts';
import { toReport } from '../../trainer/table.ts';
import { trainTokenizer } from '../../trainer/tokenizer.ts';
import { createValidation, isValidationDue } from '../../trainer/validation.ts';
import { Interrupted, type Workspace } from '../../trainer/workspace.ts';

const app = createApp({});
const client = createClient({ url: 'http://in.process', fetch: (request) => app.fetch(request) });
const folder = mkdtempSync(join(tmpdir(), 'canvas-gym-evaluate-'));
let compute: Compute;
let store: Store;

beforeAll(async () => {
  compute = await createCompute(await createBackend('wasm'), 1);
  store = openStore(':memory:');
});
afterAll(async () => {
  store.close();
  await compute.close();
  rmSync(folder, { recursive: true });
});

/** A workspace whose user asks to stop at the `stopAt`-th chance; `said` keeps what it prints. */
function createWorkspace(run_id: string, stopAt = Infinity, said: string[] = []): Workspace {
  const run = openRun({ root: folder, command: 'test', settings: {}, run_id });
  store.createRun({ run_id, command: 'test', config: {} });
  let chances = 0;
  const nothing = (): void => undefined;
  return {
    ...{ url: 'http://in.process', client, store, run, out: (line) => said.push(line), defer: nothing },
    progress: { plan: nothing, start: nothing, update: nothing, finish: nothing },
    shouldStop: () => ++chances === stopAt,
  };
}

const CONTENDERS: readonly Contender[] = [
  { name: 'sft', plays: { flaw_rate: 1 } },
  { name: 'rl', plays: { flaw_rate: 0.2 } },
];
const settings = {
  ...EvaluateSettings.parse({
    ...{ split: ['test_iid', 'test_level'], eval_levels: [1, 2], eval_tasks: 24, eval_samples: 4 },
  }),
  seed: 5,
};

describe('tasks', () => {
  test('a split without the asked levels gives its own, and all means every test split', async () => {
    expect(await levelsOf(client, 'test_iid', [2, 5])).toEqual([2]);
    expect(await levelsOf(client, 'test_level', [1])).toEqual([5]);
    expect(await levelsOf(client, 'test_iid')).toEqual([1, 2, 3, 4]);
    expect((await levelsOf(client, 'test_real')).length).toBeGreaterThan(2);
    expect(toSplits(['test_vocab', 'all'])).toEqual([
      ...['test_vocab', 'test_iid', 'test_template', 'test_family', 'test_level', 'test_real', 'test_adversarial'],
    ]);
  });

  test('real diagrams are all chosen where all are asked for, each once', async () => {
    const levels = await levelsOf(client, 'test_real');
    const tasks = await chooseTasks(client, { split: 'test_real', levels, count: 400 });
    expect(new Set(tasks).size).toBe(44);
  });

  test.each([
    [[5, 5, 5], 7, [3, 3, 3]],
    [[1, 5, 0], 4, [1, 3, 0]],
    [[2, 2], 100, [2, 2]],
    [[], 3, []],
    [[4, 4], 0, [0, 0]],
  ])('of lists of %j, %i are shared out as %j', (sizes, count, taken) => {
    expect(shareOut(sizes, count)).toEqual(taken);
  });
});

describe('the stage', () => {
  let whole: SplitEvaluation[];
  beforeAll(async () => {
    whole = await evaluateStage(createWorkspace('whole'), compute, CONTENDERS, settings);
  });

  test('every contender plays every task as often as asked, and every episode is in the log', () => {
    expect(whole.map(({ split, levels }) => [split, ...levels])).toEqual([
      ['test_iid', 1, 2],
      ['test_level', 5],
    ]);
    for (const { policies } of whole) {
      expect(policies.map(({ policy }) => policy)).toEqual(['sft', 'rl']);
      for (const { episodes, rewards } of policies) {
        expect(episodes).toHaveLength(24 * 4);
        expect(rewards.graded).toHaveLength(24);
        expect(rewards.graded[0]).toBeCloseTo(mean(episodes.slice(0, 4).map((episode) => episode.rewards.graded)), 12);
      }
    }
    expect(store.query(`SELECT count(*) AS n FROM episodes WHERE run_id = 'whole'`)).toEqual([{ n: 2 * 2 * 24 * 4 }]);
    const [first] = whole[0]!.policies[0]!.episodes;
    expect(new Set(whole[0]!.policies[0]!.episodes.slice(0, 4).map(({ task_id }) => task_id))).toEqual(
      new Set([first!.task_id]),
    );
    const answers = whole[0]!.policies[0]!.episodes.slice(0, 4).map(({ answer }) => answer);
    expect(new Set(answers).size).toBeGreaterThan(1); // the samples of a task are not one and the same
  });

  test.each([1, 3, 6])(
    'stopped at part %i and taken up again, it ends with the same figures, no row twice',
    async (at) => {
      const run_id = `stopped-${at}`;
      await expect(evaluateStage(createWorkspace(run_id, at), compute, CONTENDERS, settings)).rejects.toThrow(
        Interrupted,
      );
      const [before] = store.query(`SELECT count(*) AS n FROM episodes WHERE run_id = ?`, run_id);
      expect(before!['n']).toBeLessThan(384);
      const again = await evaluateStage(createWorkspace(run_id), compute, CONTENDERS, settings);
      expect(again).toEqual(whole);
      expect(store.query(`SELECT count(*) AS n FROM episodes WHERE run_id = ?`, run_id)).toEqual([{ n: 384 }]);
    },
  );

  test('the summary: intervals hold their mean, pass@k rises with k, parts add up, and pairs are compared', () => {
    const summary = summarise(whole, 0.9);
    expect(JSON.parse(JSON.stringify(summary))).toEqual(summary); // nothing is lost in summary.json
    for (const group of [...summary.splits, summary.overall!]) {
      for (const { rewards, held_out, pass_at, families, levels, tasks, samples } of group.policies) {
        expect(samples).toBe(4);
        for (const { mean: centre, low, high } of [...Object.values(rewards), ...Object.values(held_out!)]) {
          expect(low).toBeLessThanOrEqual(centre);
          expect(centre).toBeLessThanOrEqual(high);
        }
        expect(Object.keys(pass_at)).toEqual(['1', '2', '4']);
        expect(pass_at['1']!).toBeLessThanOrEqual(pass_at['2']!);
        expect(pass_at['2']!).toBeLessThanOrEqual(pass_at['4']!);
        for (const parts of [families, levels]) {
          const all = Object.values(parts);
          expect(all.reduce((sum, part) => sum + part.tasks, 0)).toBe(tasks);
          expect(mean(all.flatMap((part) => Array<number>(part.tasks).fill(part.mean)))).toBeCloseTo(
            rewards.graded.mean,
            9,
          );
        }
      }
      expect(group.comparisons.map(({ policy, above }) => [policy, above])).toEqual([['rl', 'sft']]);
      const [{ rewards }, [sft, rl]] = [group.comparisons[0]!, group.policies] as const;
      for (const preset of PRESETS) {
        expect(rewards[preset].mean).toBeCloseTo(rl!.rewards[preset].mean - sft!.rewards[preset].mean, 9);
      }
    }
    expect(summary.overall!.policies[0]!.tasks).toBe(48);
    expect(summarise(whole.slice(0, 1), 0.9).overall).toBeUndefined();
  });

  test('the tables: one a split, one over all, and what is clear', () => {
    const lines = toReport(summarise(whole, 0.9));
    const columns = (start: string) => lines.find((line) => line.startsWith(start))!.split(/ {2,}/);
    expect(lines).toContain('test_iid: 24 tasks of levels 1, 2');
    expect(lines).toContain('test_level: 24 tasks of level 5');
    expect(columns('policy ')).toEqual([
      ...['policy', 'graded', 'pass@1', 'pass@4', 'paths', 'edits', 'renamed', 'weak', 'article', 'stronger'],
      ...['valid JSON', 'no errors'],
    ]);
    expect(columns('graded ')).toEqual(['graded', 'tasks', 'sft', 'rl']);
    expect(columns('together ')[1]).toBe('48');
    expect(lines.find((line) => line.startsWith('rl above sft'))).toMatch(
      /^rl above sft: graded [+-]0\.\d{3} ±0\.\d{3} /,
    );
    const one = toReport(summarise(whole.slice(0, 1), 0.9));
    expect(one.filter((line) => /^(family|level) /.test(line))).toHaveLength(2);
    expect(one.some((line) => line.startsWith('pipeline '))).toBe(true);
  });
});

describe('a checkpoint', () => {
  const checkpoint = `${folder}/tiny`;
  beforeAll(async () => {
    const tokenizer = trainTokenizer([{ prompt: 'Boxes: A, B.', completion: '{"actions":[]}' }]);
    const config = { ...tinyConfig(tokenizer.vocab_size), num_hidden_layers: 1, max_position_embeddings: 400 };
    const model = createModel(config, compute.backend, createRng(5n));
    await saveCheckpoint(checkpoint, { model, tokenizer });
  });

  test('is called by the last part of its path, samples and plays greedily, and does not choke on long prompts', async () => {
    const contenders = toContenders([checkpoint, 'teacher']);
    expect(contenders.map(({ name }) => name)).toEqual(['tiny', 'teacher']);
    const options = {
      split: ['test_level'],
      eval_tasks: 4,
      eval_samples: 3,
      eval_greedy: true,
      eval_max_new_tokens: 4,
    };
    const small = { ...EvaluateSettings.parse(options), seed: 1 };
    const [level] = await evaluateStage(createWorkspace('greedy'), compute, contenders, small);
    const played = level!.policies.map(({ policy, episodes }) => [policy, episodes.length]);
    expect(played).toEqual([
      ['tiny', 12],
      ['tiny greedy', 4],
      ['teacher', 12],
    ]);
    const cut = store.episodes({ run_id: 'greedy', policy_version: 'tiny greedy' });
    expect(cut.map(({ stop_reason }) => stop_reason)).toEqual(cut.map(() => 'max_tokens'));
    expect(level!.policies[1]!.rewards.graded).toEqual([0, 0, 0, 0]);
  });

  test('two of one name are told apart by their paths; one that is not there is named', () => {
    expect(toContenders([checkpoint, `${folder}/./tiny`]).map(({ name }) => name)).toEqual([
      checkpoint,
      `${folder}/./tiny`,
    ]);
    expect(() => toContenders(['nowhere/rl'])).toThrow('there is no checkpoint at nowhere/rl');
  });
});

test('after several turns the canvas is scored, not what was said last', async () => {
  const policy = createTeacherPolicy(1n, 0);
  const tasks = await chooseTasks(client, { split: 'val', levels: [1], count: 8 });
  const once = await evaluatePolicy(client, 'teacher', policy, tasks);
  const twice = await evaluatePolicy(
    client,
    'teacher',
    (observations) =>
      observations[0]!.turn === 0
        ? policy(observations)
        : observations.map(() => ({ ...NOTHING, text: '{"actions":[{"type":"done"}]}' })),
    tasks,
    { action_set: 'editor', max_turns: 3, samples: 1 },
  );
  expect(twice.trajectories.every(({ turns }) => turns.length === 2)).toBe(true);
  for (const preset of ['article', 'stronger', 'graded'] as const) {
    twice.rewards[preset].forEach((reward, i) => {
      expect(reward, preset).toBeCloseTo(once.rewards[preset][i]!, 9);
    });
  }
  expect(twice.episodes.map(({ held_out }) => held_out!.path_f1)).toEqual(
    once.episodes.map(({ held_out }) => held_out!.path_f1),
  );
});

const NOTHING = { finish_reason: 'stop', prompt_ids: [], completion_ids: [], sampled_logprobs: [] } as const;

describe('validation', () => {
  const every = { validate_every: 20, validation_tasks: 12, levels: [1] as const, steps: 50 };

  test('is due before the first step, every so many, and after the last', () => {
    const due = Array.from({ length: 51 }, (_, step) => step).filter((step) => isValidationDue(step, every));
    expect(due).toEqual([0, 20, 40, 50]);
    expect(isValidationDue(0, { ...every, validate_every: 0 })).toBe(false);
  });

  test('logs means and episodes of the step, and warns once of each measure that falls while the reward rises', async () => {
    const said: string[] = [];
    const ws = createWorkspace('validated', Infinity, said);
    const validate = await createValidation(ws, every, { action_set: 'core', max_turns: 1 });
    for (const [i, flaws] of [0, 0.3, 0.6, 0.8, 1].entries()) {
      const step = 20 * i;
      for (let s = step - 19; s <= step; s++) {
        if (s > 0) store.recordMetrics('validated', 'reinforce', s, { 'episode/return': 0.5 + s / 200 });
      }
      const metrics = await validate(createTeacherPolicy(9n, flaws), step);
      expect(Object.keys(metrics)).toEqual([
        ...PRESETS.map((preset) => `validation/${preset}`),
        ...['held_out/path_f1', 'held_out/graph_edit_similarity', 'held_out/renamed_reward', 'time/validation_s'],
      ]);
    }
    expect(store.metric('validated', 'reinforce', 'validation/graded')).toHaveLength(5);
    expect(store.episodes({ run_id: 'validated', stage: 'validation' })).toHaveLength(5 * 12);
    const warned = said.map((line) => /^warning: steps \d+ to \d+: .* while ([\w/]+), /.exec(line)?.[1]);
    expect(warned).toContain('validation/graded');
    expect(new Set(warned).size).toBe(warned.length);
  });
});
