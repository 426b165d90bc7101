/** What is written comes back exactly, once, and whole or not at all. */
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EpisodeRecord } from '../../clients/store/index.ts';
import { count, episode, episodes, openLog, RUN, sample, step } from './records.ts';
import { temporaryFolder } from '../tools/temporary-folder.ts';

test('a run keeps its start and its config when it is taken up again', () => {
  const store = openLog();
  const first = store.getRun(RUN);
  store.finishRun(RUN, 'interrupted');
  expect(store.getRun()).toMatchObject({ status: 'interrupted', summary: null });
  store.createRun({ run_id: RUN, command: 'sft', config: first.config });
  expect(store.getRun(RUN)).toEqual(first);
  store.finishRun(RUN, 'done', { mean_reward: 0.8 });
  expect(store.getRun(RUN)).toMatchObject({ status: 'done', summary: { mean_reward: 0.8 } });
  expect(() => {
    store.finishRun('nobody', 'done');
  }).toThrow(expect.objectContaining({ code: 'not_found' }));
});

test('an episode comes back as it was recorded, with split, family and level of its task', () => {
  const store = openLog();
  const ids = { prompt_ids: [1, 2], completion_ids: [5, 2_000_000_000], sampled_logprobs: [-0.1, Math.log(0.3)] };
  const steps = [step(), step({ parsed: null, reward: null, finish_reason: 'length', ...ids })];
  const { steps: recorded, ...columns } = episode(0, {
    task_id: 'test_iid.org_tree.3.17',
    steps,
    episode_return: null,
  });
  const [id] = store.recordEpisodes(RUN, 'reinforce', [{ ...columns, steps: recorded }]);
  const place = { run_id: RUN, stage: 'reinforce', split: 'test_iid', family: 'org_tree', level: 3 };
  expect(store.episodes({ run_id: RUN })).toEqual([{ ...columns, ...place, episode_id: id, episode_length: 2 }]);
  const rows = recorded.map((row, turn) => ({ finish_reason: null, image_id: null, ...row, episode_id: id, turn }));
  expect(store.steps(id!)).toEqual(rows);
});

test('G10: any text is stored exactly, and SQL sees all of it', () => {
  const store = openLog();
  const nul = '{"actions":[{"type":"create_shape","id":"a\u0000b","text":"x\u0000y"}]}';
  const text = fc.oneof(
    fc.constant(nul),
    fc.string({ unit: 'binary' }),
    fc.array(fc.nat(0xffff)).map((units) => String.fromCharCode(...units)),
  );
  fc.assert(
    fc.property(text, (action) => {
      const [id] = store.recordEpisodes(RUN, 'sft', [episode(0, { prompt: action, steps: [step({ action })] })]);
      expect(store.steps(id!)[0]!.action).toBe(action);
      expect(store.episodes({ run_id: RUN })[0]!.prompt).toBe(action);
      store.recordTeacherSamples(RUN, [sample(0, { completion: action })]);
      expect(store.teacherSamples({ run_id: RUN })[0]!.completion).toBe(action);
    }),
    { seed: 10, numRuns: 300 },
  );
  store.recordEpisodes(RUN, 'sft', [episode(0, { steps: [step({ action: nul })] })]);
  expect(count(store, `steps WHERE length(action) = ${nul.length} AND action LIKE '%x_y%'`)).toBe(1);
});

describe('C08: numbers that are not finite are refused by name and nothing is stored', () => {
  const bad = (changes: Partial<EpisodeRecord>) => [episode(0), episode(1, changes)];
  test.each([
    ['a return', bad({ episode_return: NaN }), 'episode_return'],
    ['a reward', bad({ steps: [step({ reward: Infinity })] }), 'reward'],
    ['a component', bad({ steps: [step({ components: { edge: 0 / 0 } })] }), 'components: edge'],
    [
      'a log-probability',
      bad({ steps: [step({ completion_ids: [1], sampled_logprobs: [-Infinity] })] }),
      'sampled_logprobs',
    ],
    [
      'a place on the canvas',
      bad({ steps: [step({ canvas: { shapes: [{ ...step().canvas.shapes[0]!, x: NaN }], arrows: [] } })] }),
      'canvas: x',
    ],
  ])('%s', (_, records, name) => {
    const store = openLog();
    const message = expect.stringContaining(name) as string;
    expect(() => store.recordEpisodes(RUN, 'sft', records)).toThrow(
      expect.objectContaining({ code: 'not_finite', message }),
    );
    expect(count(store, 'episodes')).toBe(0);
  });

  test('a metric', () => {
    const store = openLog();
    expect(() => {
      store.recordMetrics(RUN, 'sft', 1, { 'loss/sft': 1, 'optim/lr': NaN });
    }).toThrow(expect.objectContaining({ code: 'not_finite' }));
    expect(count(store, 'metrics')).toBe(0);
  });

  test('the schema itself refuses infinities of other writers', () => {
    const store = openLog();
    store.recordEpisodes(RUN, 'sft', [episode(0)]);
    expect(() => store.query('UPDATE steps SET reward = 9e999 RETURNING turn')).toThrow(/CHECK/);
  });
});

test('E10: token ids without their log-probabilities are refused', () => {
  const store = openLog();
  const steps = [step({ completion_ids: [1, 2], sampled_logprobs: [-0.5] })];
  expect(() => store.recordEpisodes(RUN, 'sft', [episode(0, { steps })])).toThrow(
    expect.objectContaining({ code: 'length_mismatch' }),
  );
});

test('recording a batch again neither doubles nor loses rows, and the later one counts', () => {
  const store = openLog();
  const batch = episodes(16, { steps: [step(), step()] });
  const ids = store.recordEpisodes(RUN, 'reinforce', batch);
  const shorter = episodes(16, { steps: [step({ reward: 0.25 })] });
  expect(store.recordEpisodes(RUN, 'reinforce', shorter)).toEqual(ids);
  const repeated = () => {
    store.recordMetrics(RUN, 'reinforce', 3, { 'episode/return': 0.5 });
    store.recordTeacherSamples(RUN, [sample(0), sample(1)]);
  };
  repeated();
  repeated();
  const sizes = ['episodes', 'steps', 'steps WHERE reward = 0.25', 'metrics', 'teacher_samples'];
  expect(sizes.map((from) => count(store, from))).toEqual([16, 16, 16, 1, 2]);
});

test('deleteAfter forgets what lies after a checkpoint, of that stage only', () => {
  const store = openLog();
  for (const [stage, optimizer_step] of [
    ['sft', 9],
    ['reinforce', 1],
    ['reinforce', 2],
    ['reinforce', 3],
  ] as const) {
    store.recordEpisodes(RUN, stage, episodes(8, { optimizer_step }));
    store.recordMetrics(RUN, stage, optimizer_step, { 'episode/return': 1 });
  }
  expect(store.deleteAfter(RUN, 'reinforce', 1)).toEqual({ episodes: 16, metrics: 2 });
  expect([count(store, 'episodes'), count(store, 'steps'), count(store, 'metrics')]).toEqual([16, 16, 2]);
  expect(store.metric(RUN, 'reinforce', 'episode/return')).toEqual([{ optimizer_step: 1, value: 1 }]);
});

test('a transaction stores all its parts or none', () => {
  const store = openLog();
  const failing = () => {
    store.transaction(() => {
      store.recordEpisodes(RUN, 'sft', episodes(8));
      store.recordMetrics(RUN, 'sft', 1, { x: 1 });
      store.recordEpisodes('nobody', 'sft', episodes(1));
    });
  };
  expect(failing).toThrow(expect.objectContaining({ code: 'constraint' }));
  expect([count(store, 'episodes'), count(store, 'metrics')]).toEqual([0, 0]);
});

test('a transaction cannot be held across an await', () => {
  const store = openLog();
  expect(() =>
    store.transaction(async () => {
      store.recordEpisodes(RUN, 'sft', episodes(1));
      await Promise.resolve();
    }),
  ).toThrow(/promise/i);
  expect(count(store, 'episodes')).toBe(0);
});

test('a full disk fails the batch as a whole, and the log goes on once there is room', () => {
  const store = openLog(join(temporaryFolder(), 'log.db'));
  store.recordEpisodes(RUN, 'sft', [episode(0)]);
  const pages = Number(store.query('PRAGMA page_count')[0]?.['page_count']);
  store.query(`PRAGMA max_page_count = ${pages + 20}`);
  const batch = episodes(500, { optimizer_step: 2 });
  expect(() => store.recordEpisodes(RUN, 'sft', batch)).toThrow(expect.objectContaining({ code: 'disk_full' }));
  expect([count(store, 'episodes'), count(store, 'steps')]).toEqual([1, 1]);
  store.query('PRAGMA max_page_count = 1073741823');
  store.recordEpisodes(RUN, 'sft', batch);
  expect(count(store, 'episodes')).toBe(501);
  expect(store.query('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
});

test('a picture is stored once', () => {
  const store = openLog();
  const [a, b, other] = [[1, 2, 3], [1, 2, 3], [4]].map((bytes) => store.putImage(Uint8Array.from(bytes), 'image/png'));
  expect([a === b, a === other]).toEqual([true, false]);
  const [id] = store.recordEpisodes(RUN, 'sft', [episode(0, { steps: [step({ image_id: a })] })]);
  expect(store.getImage(store.steps(id!)[0]!.image_id!)).toMatchObject({
    media_type: 'image/png',
    bytes: Buffer.from([1, 2, 3]),
  });
});

test('2,000 episodes are recorded in under a second', () => {
  const store = openLog(join(temporaryFolder(), 'log.db'));
  const batch = episodes(2000);
  const times_ms = ['a', 'b', 'c'].map((stage) => {
    const started = performance.now();
    store.recordEpisodes(RUN, stage, batch);
    return performance.now() - started;
  });
  expect(Math.min(...times_ms)).toBeLessThan(1000); // the best of three: other tests run beside it
});
