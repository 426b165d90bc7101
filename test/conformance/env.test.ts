/** What any environment must keep, whatever the task: run over every split, family and level that the suite has. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PRESETS } from '../../schemas/reward.ts';
import { FAMILIES, LEVELS, SPLITS } from '../../schemas/task.ts';
import type { StepResponse } from '../../schemas/responses.ts';
import { createApp } from '../../server/app.ts';
import { createApi, overTransports, type Api } from '../http/support.ts';

const inProcess = (): Api => {
  const app = createApp();
  return createApi('http://test', async (request) => app.fetch(request));
};

/** The first task of every split, family and level that has one. */
async function firstTasks(api: Api): Promise<string[]> {
  const ids: string[] = [];
  for (const split of SPLITS) {
    for (const family of FAMILIES) {
      for (const level of LEVELS) {
        const { tasks } = await api.client.tasks({ split, family, level, limit: 1 });
        ids.push(...tasks.map(({ task_id }) => task_id));
      }
    }
  }
  return ids;
}

const shape = fc.record({
  type: fc.constant('create_shape'),
  id: fc.constantFrom('a', 'b', 'c'),
  shape: fc.constantFrom('rectangle', 'ellipse', 'diamond', 'text'),
  x: fc.integer({ min: -50, max: 1300 }),
  y: fc.integer({ min: -50, max: 900 }),
  w: fc.integer({ min: 1, max: 400 }),
  h: fc.integer({ min: 1, max: 400 }),
  text: fc.string({ maxLength: 12 }),
});
const other = fc.oneof(
  fc.record({
    type: fc.constantFrom('connect', 'disconnect'),
    from: fc.constantFrom('a', 'b'),
    to: fc.constantFrom('b', 'c'),
  }),
  fc.record({ type: fc.constant('delete_shape'), id: fc.constantFrom('a', 'b') }),
  fc.record({
    type: fc.constant('move_shape'),
    id: fc.constantFrom('a', 'b'),
    x: fc.integer({ min: 0, max: 900 }),
    y: fc.integer({ min: 0, max: 600 }),
  }),
);
const action = fc.oneof(
  { weight: 4, arbitrary: fc.record({ actions: fc.array(fc.oneof(shape, other), { minLength: 1, maxLength: 6 }) }) },
  { weight: 1, arbitrary: fc.anything() },
  { weight: 1, arbitrary: fc.string() },
);
/** As JSON carries it; what JSON cannot carry becomes null. */
const jsonAction = action.map((value): unknown => JSON.parse((JSON.stringify(value) as string | undefined) ?? 'null'));

overTransports('resets', (api) => {
  const resetText = async (body: object): Promise<string> => (await api().post('/reset', body)).text;

  test('equal seeds give equal bytes, twenty times and in another server (C03)', async () => {
    const expected = await resetText({ seed: 77 });
    for (let i = 0; i < 20; i++) expect(await resetText({ seed: 77 })).toBe(expected);
    expect((await inProcess().post('/reset', { seed: 77 })).text).toBe(expected);
  });

  test('different seeds give different tasks, 0 among them', async () => {
    const ids = await Promise.all(
      [0, 1, 2, 3, 4, 5, 6, 7].map(async (seed) => (await api().client.reset({ seed })).observation.task_id),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('without a seed one is picked and reported, and gives the same again', async () => {
    const first = await api().client.reset();
    const second = await api().client.reset();
    expect(first.info.seed).not.toBe(second.info.seed);
    expect(await api().client.reset({ seed: first.info.seed })).toEqual(first);
    expect(await api().client.reset({ seed: Number(first.info.seed) })).toEqual(first);
  });

  test('a seed given as a string is used whole, digit by digit (C04)', async () => {
    const seeds = ['9007199254740992', '9007199254740993', '18446744073709551615'];
    const answers = await Promise.all(seeds.map((seed) => api().client.reset({ seed })));
    expect(answers.map(({ info }) => info.seed)).toEqual(seeds);
    expect(new Set(answers.map(({ observation }) => observation.task_id)).size).toBe(3);
    expect((await api().client.reset({ seed: 7 })).observation).toEqual(
      (await api().client.reset({ seed: '7' })).observation,
    );
  });

  test('a named task takes no seed, and null counts as none', async () => {
    const named = { split: 'val', family: 'er', level: 2, index: 3 } as const;
    const { info, observation } = await api().client.reset({ ...named, seed: null, episode_id: null });
    expect([info.seed, observation.task_id]).toEqual([null, 'val.er.2.3']);
    expect(await resetText({ task_id: 'val.er.2.3' })).toBe(await resetText({ task_id: 'val.er.2.3' }));
  });

  test('a filter is kept to', async () => {
    for (let seed = 0; seed < 20; seed++) {
      const { info } = await api().client.reset({ seed, split: 'test_iid', family: 'cycle', level: 3 });
      expect(info.task).toMatchObject({ split: 'test_iid', family: 'cycle', level: 3 });
    }
  });

  test('every split, family and level begins, and is not over', async () => {
    const ids = await firstTasks(api());
    expect(ids.length).toBeGreaterThan(150);
    for (const task_id of ids) {
      const { observation, done, reward } = await api().client.reset({ task_id });
      expect([observation.task_id, observation.prompt.length > 0, done, reward]).toEqual([task_id, true, false, null]);
    }
  });
});

overTransports('steps', (api) => {
  test('random episodes keep the rules (seeded property)', async () => {
    const episode = fc.record({
      seed: fc.nat(),
      reward: fc.constantFrom(...PRESETS),
      max_turns: fc.integer({ min: 1, max: 4 }),
      actions: fc.array(jsonAction, { minLength: 4, maxLength: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(episode, async ({ seed, reward, max_turns, actions }) => {
        let { state } = await api().client.reset({ seed, reward, max_turns, action_set: 'editor' });
        let sum = 0;
        for (let turn = 1; ; turn++) {
          const request = { state, action: actions[turn - 1] };
          const answer = await api().post('/step', request);
          expect((await api().post('/step', request)).text).toBe(answer.text);
          const step = answer.json as StepResponse;
          sum += step.reward;
          expect(Number.isFinite(step.reward) && Math.abs(step.reward) <= 1.01).toBe(true);
          expect(step.done).toBe(step.terminated || step.truncated);
          expect(step.terminated && step.truncated).toBe(false);
          expect(step.done).toBe(step.stop_reason !== null);
          expect(step.observation).toMatchObject({ turn, canvas: step.state.canvas });
          expect(step.observation.total_reward).toBeCloseTo(sum, 12);
          state = step.state;
          if (step.done) return;
          expect(turn).toBeLessThan(max_turns);
        }
      }),
      { seed: 20_260_501, numRuns: 40 },
    );
  });

  test('64 interleaved episodes in random order do not mix (C11)', async () => {
    const { state } = await api().client.reset({ prompt: 'x', max_turns: 20, action_set: 'editor' });
    const states = Array.from({ length: 64 }, () => state);
    const order = fc.sample(
      fc.shuffledSubarray(
        Array.from({ length: 64 }, (_, i) => i),
        { minLength: 64 },
      ),
      { seed: 1, numRuns: 20 },
    );
    for (const [turn, sessions] of order.entries()) {
      await Promise.all(
        sessions.map(async (session) => {
          const box = {
            type: 'create_shape',
            id: `t${turn}`,
            shape: 'rectangle',
            x: turn * 10,
            y: session,
            w: 5,
            h: 5,
            text: String(session),
          };
          states[session] = (await api().client.step({ state: states[session]!, action: [box] })).state;
        }),
      );
    }
    states.forEach((end, session) => {
      expect(end.canvas.shapes.map(({ text }) => text)).toEqual(Array<string>(20).fill(String(session)));
      expect(end.stop_reason).toBe('max_steps');
    });
  });

  test('/step, /reward and /score give one reward (C13)', async () => {
    const prompt = 'Draw Alpha, Beta and Gamma in a row.';
    const samples = fc.sample(jsonAction, { seed: 7, numRuns: 60 }).map((value) => JSON.stringify(value));
    for (const reward of PRESETS) {
      const { rewards, components } = await api().client.score({
        prompts: samples.map(() => prompt),
        completions: samples,
        reward,
      });
      for (const [i, completion] of samples.entries()) {
        const one = await api().client.reward({ prompt, completion, reward });
        const step = await api().client.step({ prompt, action: completion, reward });
        expect([one.reward, step.reward]).toEqual([rewards[i], rewards[i]]);
        expect([one.components, step.observation.reward_components]).toEqual([components[i], components[i]]);
      }
      expect(new Set(components.map((each) => Object.keys(each).join())).size).toBe(1);
    }
  });

  test('a batch is scored in order, item by item, whatever its neighbours are', async () => {
    const task_id = await firstTasks(api()).then((ids) => ids.slice(0, 30));
    const completions = task_id.map((id) =>
      JSON.stringify({ actions: [{ type: 'create_shape', id, shape: 'text', x: 1, y: 1, w: 90, h: 40, text: id }] }),
    );
    const context = { task_id };
    const forwards = await api().client.score({ completions, context });
    const backwards = await api().client.score({
      completions: [...completions].reverse(),
      context: { task_id: [...task_id].reverse() },
    });
    expect(backwards.rewards.reverse()).toEqual(forwards.rewards);
    const mixed = {
      prompts: ['x', 'y'],
      completions: ['', ''],
      context: { task_id: ['val.er.1.0', null], task: [null, { prompt: 'z' }] },
    };
    expect((await api().client.score(mixed)).rewards).toEqual([0, 0]);
  });

  test('an empty batch gives empty lists', async () => {
    const empty = { rewards: [], components: [], errors: [] };
    expect(await api().client.score({ prompts: [], completions: [] })).toMatchObject(empty);
    expect(await api().client.score({ completions: [] })).toMatchObject(empty);
  });

  test('chat messages count by their last answer', async () => {
    const answer =
      '{"actions":[{"type":"create_shape","id":"a","shape":"rectangle","x":1,"y":1,"w":90,"h":40,"text":"Alpha"}]}';
    const prompt = [
      { role: 'system', content: 'Draw.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Draw ' },
          { type: 'text', text: 'Alpha.' },
        ],
      },
    ];
    const completion = [
      { role: 'assistant', content: 'Hm.' },
      { role: 'user', content: 'Go on.' },
      { role: 'assistant', content: answer },
    ];
    const plain = await api().client.reward({ prompt: 'Draw Alpha.', completion: answer });
    expect(plain.reward).toBeGreaterThan(0.2);
    expect(await api().client.reward({ prompt, completion })).toEqual(plain);
    expect((await api().client.score({ prompts: [prompt], completions: [completion] })).rewards).toEqual([
      plain.reward,
    ]);
  });
});

/** Every key in a JSON value, and every text. */
function* walk(value: unknown): Generator<{ key?: string; text?: string }> {
  if (typeof value === 'string') yield { text: value };
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    if (!Array.isArray(value)) yield { key };
    yield* walk(item);
  }
}

const SECRET_KEYS = new Set(['expect', 'nodes', 'edges', 'aliases', 'allowed_extras']);

test('the expected answer of a suite task is in no answer of any route', async () => {
  const api = inProcess();
  for (const task_id of await firstTasks(api)) {
    const { state } = await api.client.reset({ task_id, max_turns: 3, action_set: 'editor' });
    const actions = [{ type: 'create_shape', id: 'a', shape: 'rectangle', x: 10, y: 10, w: 200, h: 80, text: 'Decoy' }];
    const answers = await Promise.all([
      api.post('/reset', { task_id }),
      api.post('/step', { state, action: { actions } }),
      api.post('/step', { state, action: 'nothing' }),
      api.post('/step', { task_id, action: JSON.stringify({ actions }) }),
      ...PRESETS.map((reward) => api.post('/reward', { task_id, completion: { actions }, reward })),
      api.post('/score', { completions: ['x', { actions }], context: { task_id: [task_id, task_id] } }),
      api.get(`/tasks/${task_id}`),
      api.get(`/tasks?split=${task_id.split('.')[0]!}&limit=3`),
      api.post('/render', { state, format: 'svg' }),
      api.post('/reset', { task_id: `${task_id}9999999999` }),
    ]);
    for (const { json } of answers) {
      const keys = [...walk(json)].flatMap(({ key }) => key ?? []);
      expect(keys.filter((key) => SECRET_KEYS.has(key))).toEqual([]);
    }
  }
});

test('the check above sees an expected answer', async () => {
  const task = { prompt: 'x', expect: { nodes: [{ id: 'a', label: 'A' }], edges: [] } };
  const { json } = await inProcess().post('/reset', { task }); // the caller's own task travels whole
  expect([...walk(json)].flatMap(({ key }) => key ?? []).filter((key) => SECRET_KEYS.has(key))).toEqual([
    'expect',
    'nodes',
    'edges',
  ]);
});
