/** Episodes: rewards of turns, how they end, what model output does, and the state that travels with the caller. */
import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { State } from '../../schemas/episode.ts';
import type { StepResponse } from '../../schemas/responses.ts';
import { overTransports } from './support.ts';

const BOX = { type: 'create_shape', shape: 'rectangle', y: 100, w: 200, h: 80 };
const A = { ...BOX, id: 'a', x: 100, text: 'Client' };
const B = { ...BOX, id: 'b', x: 500, text: 'Server' };
const ARROW = { type: 'connect', from: 'a', to: 'b', text: '' };
const TASK = {
  prompt: 'Draw a client and a server, the client calls the server.',
  expect: {
    nodes: [
      { id: 'c', label: 'Client' },
      { id: 's', label: 'Server' },
    ],
    edges: [{ from: 'c', to: 's' }],
  },
};
const GOOD = { actions: [A, B, ARROW] };

overTransports('episodes', (api) => {
  const reset = (body: object) => api().client.reset(body);
  const step = (state: State, action: unknown, rest: object = {}) => api().client.step({ state, action, ...rest });

  test('reset: what the agent is given, and no reward', async () => {
    const { observation, info, state, ...rest } = await reset({ seed: 7, split: 'val', level: 2, episode_id: 'ep-1' });
    expect(rest).toEqual({ reward: null, terminated: false, truncated: false, done: false });
    expect(observation).toMatchObject({
      turn: 0,
      max_turns: 1,
      canvas: { shapes: [], arrows: [] },
      lints: [],
      total_reward: 0,
    });
    expect(info).toMatchObject({
      seed: '7',
      episode_id: 'ep-1',
      task: { split: 'val', level: 2 },
      parse: null,
      reasons: [],
    });
    expect(state).toMatchObject({ task_id: info.task!.task_id, reward: 'graded', action_set: 'core', turn: 0 });
  });

  test('one turn: the reward of the canvas, then the end', async () => {
    const { state } = await reset({ task: TASK });
    const answer = await step(state, GOOD);
    expect(answer).toMatchObject({ terminated: true, truncated: false, done: true, stop_reason: 'submitted' });
    expect(answer.reward).toBeGreaterThan(0.9);
    expect(answer.observation.total_reward).toBe(answer.reward);
    expect(answer.info).toMatchObject({ expectation: 'task', parse: { outcome: 'strict' }, task: null });
    expect(answer.info.applied.map(({ type }) => type)).toEqual(['create_shape', 'create_shape', 'connect']);
  });

  test.each([
    ['text', JSON.stringify(GOOD)],
    ['an object', GOOD],
    ['a list', GOOD.actions],
    ['text in the field that /schema names', { actions: JSON.stringify(GOOD) }],
    ['fenced text', `Here it is:\n\`\`\`json\n${JSON.stringify(GOOD)}\n\`\`\``],
  ])('an action may be %s', async (_, action) => {
    const answer = await api().client.step({ task: TASK, action });
    expect(answer.observation.canvas.arrows).toEqual([{ from: 'a', to: 'b', text: '' }]);
    expect(answer.reward).toBeGreaterThan(0.8);
  });

  const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
  test.each([
    ['an empty text', ''],
    ['prose', 'I would rather not.'],
    ['null', null],
    ['a number', 12],
    ['true', true],
    ['an empty list', []],
    ['an empty object', {}],
    ['a list of numbers', [1, 2]],
    ['actions that are null', { actions: null }],
    ['a foreign object', { tool: 'draw', arguments: {} }],
    ['an unknown action', { actions: [{ type: 'explode' }] }],
    ['a lone surrogate', '\ud800{'],
    ['text 5 000 deep (A19)', `{"actions":${deep(5000)}}`],
    ['text that makes parsers backtrack (A20)', `{"${'\\k'.repeat(40)}${'{'.repeat(20_000)}`],
    ['300 000 characters', 'x'.repeat(300_000)],
    ['500 actions', { actions: Array.from({ length: 500 }, (_, i) => ({ ...A, id: `a${i}` })) }],
  ])('bad model output is graded, never refused: %s', async (_, action) => {
    const start = performance.now();
    const { status, json } = await api().post('/step', { prompt: TASK.prompt, action });
    expect([status, performance.now() - start < 2000]).toEqual([200, true]);
    const { reward, done, observation } = json as StepResponse;
    expect([reward < 0.5, done, observation.errors.length > 0]).toEqual([true, true, true]);
  });

  test('a text that was cut earns the same from /step, /reward and /score, and less than a whole one', async () => {
    const [completion, finish_reason] = [JSON.stringify(GOOD), 'length'];
    const { client } = api();
    const cut = await client.step({ task: TASK, action: completion, finish_reason });
    const alone = await client.reward({ task: TASK, completion, finish_reason });
    const batch = await client.score({
      completions: [completion, completion, completion],
      context: { task: [TASK, TASK, TASK], finish_reason: [finish_reason, 'stop', null] },
    });
    expect(batch.rewards[0]).toBe(alone.reward);
    expect(cut.reward).toBe(alone.reward);
    expect(batch.rewards[1]).toBe(batch.rewards[2]);
    expect(batch.rewards[0]).toBeLessThan(batch.rewards[1]! - 0.2);
  });

  test('several turns: each reward is the change of R less 0.01, and they add up', async () => {
    let { state } = await reset({ task: TASK, max_turns: 3, action_set: 'editor' });
    const values = [0];
    const rewards: number[] = [];
    for (const actions of [[A], [B, ARROW], [{ type: 'move_shape', id: 'b', x: 100, y: 100 }]]) {
      const answer = await step(state, { actions });
      rewards.push(answer.reward);
      values.push(answer.state.value);
      state = answer.state;
    }
    rewards.forEach((reward, i) => {
      expect(reward).toBeCloseTo(values[i + 1]! - values[i]! - 0.01, 12);
    });
    expect(rewards.map(Math.sign)).toEqual([1, 1, -1]); // drawn, completed, spoilt
    expect(state.total_reward).toBeCloseTo(values.at(-1)! - 0.03, 12);
    expect(state).toMatchObject({ turn: 3, stop_reason: 'max_steps' });
  });

  test('a turn without a readable action leaves the canvas, costs its value, and can be made good', async () => {
    const first = await step((await reset({ task: TASK, max_turns: 4 })).state, GOOD);
    const second = await step(first.state, 'what?');
    expect(second.observation.canvas).toEqual(first.observation.canvas);
    expect(second).toMatchObject({ done: false, stop_reason: null, state: { value: 0 } });
    const third = await step(second.state, { actions: [{ type: 'connect', from: 'b', to: 'a' }] });
    expect(third.observation.canvas.arrows).toHaveLength(2);
    expect(third.reward).toBeGreaterThan(0.3);
  });

  test.each([
    ['done', 3, { actions: [A, { type: 'done' }] }, {}, ['terminated', 'submitted']],
    ['the last turn', 2, GOOD, {}, [null, null]],
    ['one turn, nothing readable', 1, 'no', {}, ['terminated', 'invalid_action']],
    ['one turn, cut at the token limit', 1, GOOD, { finish_reason: 'length' }, ['truncated', 'max_tokens']],
    ['one of several turns cut at the token limit', 2, '{"act', { finish_reason: 'length' }, [null, null]],
  ])('an episode ends: %s', async (_, max_turns, action, rest, [flag, reason]) => {
    const { state } = await reset({ task: TASK, max_turns, action_set: 'editor' });
    const answer = await step(state, action, rest);
    expect([answer.terminated, answer.truncated]).toEqual([flag === 'terminated', flag === 'truncated']);
    expect([answer.done, answer.stop_reason]).toEqual([flag !== null, reason]);
  });

  test('the observation of a later turn: canvas, selection, faults, remarks, components', async () => {
    const { state } = await reset({ task: TASK, max_turns: 2, action_set: 'editor' });
    const wide = {
      ...A,
      id: 'wide',
      x: 250,
      y: 120,
      w: 400,
      text: 'a label that is much too long for its little box'.repeat(9),
    };
    const actions = [A, B, ARROW, wide, { type: 'select', ids: ['b'] }, { type: 'connect', from: 'a', to: 'x' }];
    const { observation, info } = await step(state, { actions });
    expect(observation).toMatchObject({ turn: 1, selected: ['b'], applied: 5, rejected: 1 });
    expect(observation.errors).toMatchObject([{ index: 5, message: 'action 5: arrow target does not exist: x' }]);
    expect(info.rejected).toMatchObject([{ index: 5, action: { to: 'x' } }]);
    const codes = observation.lints.map(({ code, shape }) => [code, shape]);
    expect(codes).toEqual([
      ['label_does_not_fit', 'wide'],
      ['shapes_overlap', 'a'],
      ['shapes_overlap', 'b'],
      ['arrow_crosses_shape', 'wide'],
    ]);
    expect(Object.keys(observation.reward_components)).toContain('overlap');
  });

  test('a shape outside the canvas is remarked', async () => {
    const task = { prompt: 'x', canvas: { w: 300, h: 150 } };
    const { observation } = await api().client.step({ task, action: [{ ...A, x: 150 }] });
    expect(observation.canvas_size).toEqual(task.canvas);
    expect(observation.lints.map(({ code }) => code)).toEqual(['outside_canvas']);
  });

  test('a step after the end is refused, however often and at once (C05)', async () => {
    const { state } = await step((await reset({ task: TASK })).state, GOOD);
    const answers = await Promise.all([1, 2, 3].map(() => api().post('/step', { state, action: GOOD })));
    for (const { status, json } of answers) {
      expect([status, json]).toMatchObject([409, { error: { code: 'episode_over', path: 'body.state.stop_reason' } }]);
    }
  });

  test.each([
    ['version', { version: 0 }],
    ['suite_version', { suite_version: 999 }],
    ['reward_version', { reward_version: 999 }],
  ])('a state of another %s', async (key, change) => {
    const { state } = await reset({ seed: 1 });
    const { status, json } = await api().post('/step', { state: { ...state, ...change, later: 1 }, action: '' });
    expect([status, json]).toMatchObject([400, { error: { code: 'state_version', path: `body.state.${key}` } }]);
  });

  test.each([
    [
      'a shape twice',
      {
        shapes: [
          { ...A, type: undefined },
          { ...A, type: undefined },
        ],
        arrows: [],
      },
      'shapes[1].id',
    ],
    ['an arrow to nowhere', { shapes: [], arrows: [{ from: 'a', to: 'b', text: '' }] }, 'arrows[0].from'],
    ['a shape too far away', { shapes: [{ ...A, type: undefined, x: 1e300 }], arrows: [] }, 'shapes[0]'],
  ])('a state no episode leads to: %s', async (_, canvas, place) => {
    const { state } = await reset({ seed: 1, max_turns: 2 });
    const { status, json } = await api().post('/step', { state: { ...state, canvas }, action: '' });
    expect([status, json]).toMatchObject([
      422,
      { error: { code: 'invalid_request', path: `body.state.canvas.${place}` } },
    ]);
  });

  test.each([
    ['a value no preset gives', { value: 1e308 }, 'value'],
    ['a total no episode gives', { total_reward: -1e308 }, 'total_reward'],
    ['both a suite task and an inline one', { task: { prompt: 'x' } }, ''],
    ['no task', { task_id: undefined }, ''],
    ['a task that is gone', { task_id: 'train.pipeline.9.0' }, 'task_id'],
  ])('a state with %s', async (_, change, key) => {
    const { state } = await reset({ seed: 1, max_turns: 2 });
    const { status, json } = await api().post('/step', { state: { ...state, ...change }, action: '' });
    const place = key === '' ? 'body.state' : `body.state.${key}`;
    expect([status, json]).toMatchObject([key === 'task_id' ? 404 : 422, { error: { path: place } }]);
  });

  test('a state and a task exclude each other', async () => {
    const { state } = await reset({ seed: 1 });
    const answer = await api().post('/step', { state, action: '', prompt: 'x' });
    expect(answer.json).toMatchObject({ error: { message: 'state already holds prompt; leave it out' } });
  });
});

const SECRET = 'correct horse battery staple';

/** A second implementation of the signature, from its description alone. */
function signatureOf(state: Record<string, unknown>, secret: string): string {
  const sorted = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(sorted)
      : typeof value === 'object' && value !== null
        ? Object.fromEntries(
            Object.entries(value)
              .sort(([a], [b]) => (a < b ? -1 : 1))
              .map(([k, v]) => [k, sorted(v)]),
          )
        : value;
  return createHmac('sha256', secret)
    .update(JSON.stringify(sorted({ ...state, sig: undefined })))
    .digest('hex');
}

overTransports(
  'signed states',
  (api) => {
    const begin = async () => (await api().client.reset({ task: TASK, max_turns: 3, episode_id: 'é\u2028"' })).state;
    const statusOf = async (state: unknown) => (await api().post('/step', { state, action: GOOD })).status;

    test('the signature is HMAC-SHA256 over the other fields with sorted keys', async () => {
      const state = await begin();
      expect(state.sig).toBe(signatureOf(state, SECRET));
      const next = (await api().client.step({ state, action: GOOD })).state;
      expect(next.sig).toBe(signatureOf(next, SECRET));
    });

    test('a state may be re-serialised: other order of keys, other spelling of numbers and characters', async () => {
      const state = await begin();
      const reversed = Object.fromEntries(Object.entries(state).reverse());
      const text = JSON.stringify(reversed).replaceAll('é', '\\u00e9').replace('"turn":0', '"turn":0.0e0');
      const { status } = await api().post('/step', `{"action":"", "state":${text}}`);
      expect(status).toBe(200);
    });

    test('every changed, added or removed field is refused', async () => {
      const state = (await api().client.step({ state: await begin(), action: GOOD })).state as Record<string, unknown>;
      const changes: Record<string, unknown> = {
        task: { prompt: 'easier' },
        episode_id: 'other',
        seed: '1',
        reward: 'weak',
        action_set: 'editor',
        max_turns: 9,
        turn: 0,
        canvas: { shapes: [], arrows: [] },
        selected: ['a'],
        value: 0,
        total_reward: 0.5,
        sig: '0'.repeat(64),
      };
      const kept = ['version', 'suite_version', 'reward_version'];
      expect(Object.keys({ ...state, seed: 0 }).filter((key) => !(key in changes))).toEqual(kept);
      for (const [key, value] of Object.entries(changes)) {
        const { status, json } = await api().post('/step', { state: { ...state, [key]: value }, action: '' });
        expect([key, status, json]).toMatchObject([key, 400, { error: { code: 'state_changed' } }]);
      }
      expect(await statusOf({ ...state, episode_id: undefined })).toBe(400);
    });

    test('a state without a signature, or signed with another secret, is refused', async () => {
      const state = { ...(await begin()), sig: undefined };
      expect(await statusOf(state)).toBe(400);
      expect(await statusOf({ ...state, sig: signatureOf(state, 'another secret') })).toBe(400);
      expect(await statusOf({ ...state, sig: signatureOf(state, SECRET) })).toBe(200);
    });

    test('an episode that is over cannot be reopened', async () => {
      const { state } = await api().client.step({ task: TASK, action: GOOD });
      expect(await statusOf(state)).toBe(409);
      expect(await statusOf({ ...state, stop_reason: undefined })).toBe(400);
    });

    test('/render checks it too', async () => {
      const state = await begin();
      expect((await api().post('/render', { state })).status).toBe(200);
      expect((await api().post('/render', { state: { ...state, turn: 1 } })).status).toBe(400);
    });

    test('/metadata says that states are signed', async () => {
      expect(await api().client.metadata()).toMatchObject({ signed_states: true });
    });
  },
  { secret: SECRET },
);

describe('without a secret', () => {
  overTransports('unsigned states', (api) => {
    test('carry no signature, and may be made by hand', async () => {
      const { state } = await api().client.reset({ task: TASK, max_turns: 2 });
      expect(state).not.toHaveProperty('sig');
      const answer = await api().client.step({ state: { ...state, turn: 1, value: 0.25 }, action: GOOD });
      expect(answer).toMatchObject({ truncated: true, stop_reason: 'max_steps' });
      expect(await api().client.metadata()).toMatchObject({ signed_states: false });
    });
  });
});
