/** NeMo Gym's resources server: what /verify makes of a rollout, and what it hands back. */
import { createHash } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { TOOLS } from '../../schemas/tools.ts';
import { createApp } from '../../server/app.ts';
import { reset, step } from '../../server/episode.ts';
import { reward, score } from '../../server/grade.ts';
import { render } from '../../server/render/index.ts';
import { createApi, overTransports, type Answer } from '../http/support.ts';
import { NOT_SLOW_MS } from '../tools/not-slow.ts';
import { GOOD, INLINE, POOR, PROMPT, PROSE, SOLUTION, TASK_ID, toCall, ZEBRA } from './drawings.ts';
import { callItem, createRollout, drawByTools, messageItem, toResponse, toRow } from './nemo-client.ts';

interface Verified {
  reward: number;
  [name: string]: unknown;
}

/** The drawing less its first shape. */
const REST = JSON.stringify({ actions: SOLUTION.slice(1) });

overTransports('NeMo Gym, unsigned', (api) => {
  const verify = async (row: object, response: object): Promise<Answer> => api().post('/verify', { ...row, response });

  test('a session works without a secret', async () => {
    const { rollout } = await drawByTools(api());
    expect((await rollout.call('submit_diagram', {})).done).toBe(true);
  });

  test('a cookie that a client changed moves no reward: calls are drawn from the response', async () => {
    const { rollout } = await drawByTools(api());
    const items = [callItem('create_shape', toCall(SOLUTION[0]!).input)];
    const { json } = await rollout.verify(toResponse(items));
    const { reward: expected } = await api().client.reward({ task_id: TASK_ID, completion: POOR });
    expect((json as Verified).reward).toBe(expected);
  });

  test('verify echoes the row and the response byte for byte, whatever they hold', async () => {
    const strange =
      '{"responses_create_params" : {"input": [], "temperature": 1.0, "x": 1e-7},\n "task_id":"train.pipeline.1.3", "big": 12345678901234567890, "minus": -0.0, "response":{"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"no","annotations":[]}],"generation_token_ids":[1,2.0]}],"extra":null}  }\n';
    const { text, json } = await api().post('/verify', strange);
    const end = strange.lastIndexOf('}');
    expect(text.slice(0, end)).toBe(strange.slice(0, end));
    expect(json).toMatchObject({ reward: 0, 'reward/structure': 0, task_id: TASK_ID });
  });

  test('a response of megabytes of token ids comes back', async () => {
    const ids = Array.from({ length: 400_000 }, (_, i) => (i * 7919) % 150_000);
    const logprobs = ids.map((id) => -id / 1e6);
    const item = { ...messageItem(GOOD), generation_token_ids: ids, generation_log_probs: logprobs };
    const body = JSON.stringify({ ...toRow({ task_id: TASK_ID, note: 'kept' }), response: toResponse([item]) });
    const { status, text } = await api().post('/verify', body);
    const isEcho = text.startsWith(`${body.slice(0, -1)},"reward":`);
    expect([status, text.length > 4e6, isEcho]).toEqual([200, true, true]);
  });

  test('a row that holds a reward already, as stored rollouts do, gets the new one once', async () => {
    const row = { ...toRow({ task_id: TASK_ID }), reward: 0.123, 'reward/structure': 9 };
    const { text, json } = await verify(row, toResponse([messageItem(PROSE)]));
    expect(json).toMatchObject({ reward: 0, 'reward/structure': 0 });
    expect(text.match(/"reward":/g)?.length).toBe(1);
  });

  test.each([
    ['first', '{"reward": 1e999 , "responses_create_params":{"input":[]}', '{ "responses_create_params":{"input":[]}'],
    ['in the middle', '{"a" : 1e999,"reward":[{"reward":"}"}] ,"b":-0.0', '{"a" : 1e999,"b":-0.0'],
    [
      'with an escape',
      String.raw`{"a":"\\\",","re\u0077ard":0,"b":{"reward":1.0}`,
      String.raw`{"a":"\\\",","b":{"reward":1.0}`,
    ],
    ['twice', '{"reward":1,"b":1e400,"reward":2,"reward/structure":null', '{"b":1e400'],
  ])('a reward %s in the row gives way, and all else is echoed byte for byte', async (_, sent, kept) => {
    const params = sent.includes('responses_create_params') ? '' : ',"responses_create_params":{}';
    const rest = `${params},"task_id":"${TASK_ID}","big":12345678901234567890, "response":{"output":[]}`;
    const { text, json, status } = await api().post('/verify', `${sent}${rest} }`);
    expect(status, text).toBe(200);
    expect(text.replace(/^\{ /, '{').startsWith(`${kept.replace(/^\{ /, '{')}${rest} ,"reward":0,`)).toBe(true);
    expect(json).toMatchObject({ reward: 0, 'reward/structure': 0 });
  });

  /** A call that the cookie has no room for, however it is compressed. */
  const noise = Array.from({ length: 120 }, (_, i) => createHash('sha256').update(`${i}`).digest('base64')).join('');
  const tooLarge = callItem('create_shape', { id: 'l', shape: 'rectangle', x: 1, y: 1, w: 99, h: 50, text: noise });
  const repeat = (count: number) => Array.from({ length: count }, () => tooLarge);

  test('5,000 calls that are refused as too large take no time', async () => {
    const start = performance.now();
    const { status, json } = await verify(toRow({ task_id: TASK_ID }), toResponse(repeat(5000)));
    expect([status, performance.now() - start < NOT_SLOW_MS]).toEqual([200, true]);
    expect(json).toMatchObject({ 'reward/structure': 0 });
  });

  test('a refused call uses up a turn: after a hundred of them the drawing is over', async () => {
    const good = callItem('submit_diagram', { actions: SOLUTION });
    const rewards: number[] = [];
    for (const count of [99, 100]) {
      const { json } = await verify(toRow({ task_id: TASK_ID }), toResponse([...repeat(count), good]));
      rewards.push((json as Verified).reward);
    }
    expect(rewards[0]).toBeGreaterThan(0.9);
    expect(rewards[1]).toBeLessThan(0.2);
  });

  test.each([
    ['for the cookie', tooLarge],
    ['for any label', callItem('create_shape', { id: 'l', text: noise.repeat(3) })],
  ])('a call that is too large %s takes nothing from what is drawn', async (_, refused) => {
    const drawn = SOLUTION.map((action) => callItem(toCall(action).name, toCall(action).input));
    const { json: alone } = await verify(toRow({ task_id: TASK_ID }), toResponse(drawn));
    const { json } = await verify(toRow({ task_id: TASK_ID }), toResponse([...drawn, refused]));
    expect(json).toEqual({ ...(alone as Verified), response: expect.anything() as unknown });
    expect((json as Verified).reward).toBeGreaterThan(0.9);
  });

  const drawn = SOLUTION.map((action) => callItem(toCall(action).name, toCall(action).input));
  const badConnect = callItem('connect', { from_id: 'a', to_id: 'zzz' });
  const selects = (count: number) => Array.from({ length: count }, () => callItem('select', { ids: [] }));

  test.each([
    ['nothing', []],
    ['a call that is refused', [badConnect]],
    ['two of them', [badConnect, callItem('move_shape', { id: 'zzz', x: 1, y: 1 })]],
    ['a call that is refused, and words', [badConnect, messageItem('Done!')]],
    ['words', [messageItem('Done!')]],
    ['a submission', [callItem('submit_diagram', {})]],
    ['a call that is refused, and a submission', [badConnect, callItem('submit_diagram', {})]],
    ['a submission of what is no list', [callItem('submit_diagram', { actions: 'x' })]],
    ['a submission of actions that are all refused', [callItem('submit_diagram', { actions: [{ type: 'connect' }] })]],
    ['actions in words that are all refused', [messageItem('{"actions": [{"type": "connect"}]}')]],
    ['a call that is refused as the last that is allowed', [...selects(94), badConnect]],
    ['a call as the last that is allowed', selects(95)],
    ['calls after the last that is allowed', [...selects(95), callItem('delete_shape', { id: 'a' })]],
    ['arguments that are no object', [callItem('connect', [1]), callItem('set_text', 'x')]],
  ])('a drawing by calls has the reward of the drawing, whatever follows that draws nothing: %s', async (_, rest) => {
    const expected = await api().client.reward({ task_id: TASK_ID, completion: GOOD });
    const { json } = await verify(toRow({ task_id: TASK_ID }), toResponse([...drawn, ...rest]));
    expect((json as Verified).reward).toBe(expected.reward);
    expect((json as Verified)['reward/schema']).toBe(1);
    expect(expected.reward).toBeGreaterThan(0.9);
  });

  test('a submission longer than any completion that is read draws nothing, and is over', async () => {
    const long = { actions: [...SOLUTION, { type: 'select', ids: ['x'.repeat(300_000)] }] };
    const items = [callItem('submit_diagram', long), callItem('submit_diagram', { actions: SOLUTION })];
    expect((await verify(toRow({ task_id: TASK_ID }), toResponse(items))).json).toMatchObject({ reward: 0 });
  });

  test('a diagram of 700,000 actions is refused without reading them all', async () => {
    const actions = Array.from({ length: 700_000 }, () => ({ type: 'done' }));
    const start = performance.now();
    const { status, json } = await verify(
      toRow({ task_id: TASK_ID }),
      toResponse([callItem('submit_diagram', { actions })]),
    );
    expect([status, (json as Verified).reward, performance.now() - start < NOT_SLOW_MS]).toEqual([200, 0, true]);
  });

  test('components are finite numbers under the same keys, whatever the response', async () => {
    const responses = [
      [messageItem(GOOD)],
      [messageItem(PROSE)],
      [],
      [callItem('select', { ids: [] })],
      [callItem('submit_diagram', {})],
    ];
    const keys = new Set<string>();
    for (const items of responses) {
      const { json } = await verify(toRow({ task_id: TASK_ID }), toResponse(items));
      const terms = Object.entries(json as Verified).filter(([name]) => name.startsWith('reward'));
      expect(terms.every(([, value]) => Number.isFinite(value))).toBe(true);
      keys.add(terms.map(([name]) => name).join());
    }
    expect(keys.size).toBe(1);
  });

  test.each([
    ['the last message counts', [messageItem(PROSE), messageItem(GOOD)], GOOD],
    ['and only the last', [messageItem(GOOD), messageItem(PROSE)], PROSE],
    [
      'reasoning does not count',
      [{ type: 'reasoning', summary: [{ type: 'summary_text', text: GOOD }] }, messageItem(PROSE)],
      PROSE,
    ],
    ['no output is no answer', [], PROSE],
    ['calls of other tools do not count', [callItem('search', { query: 'x' }), messageItem(GOOD)], GOOD],
    [
      'words after calls submit what they drew',
      [callItem('create_shape', toCall(SOLUTION[0]!).input), messageItem(PROSE)],
      POOR,
    ],
    [
      'actions written after calls go on the canvas',
      [callItem('create_shape', toCall(SOLUTION[0]!).input), messageItem(REST)],
      GOOD,
    ],
    [
      'text before a call does not count',
      [messageItem(GOOD), callItem('create_shape', toCall(SOLUTION[0]!).input)],
      POOR,
    ],
    ['names over MCP are understood', [callItem('mcp__canvas__create_shape', toCall(SOLUTION[0]!).input)], POOR],
    [
      'what comes after submission does not count',
      [callItem('submit_diagram', { actions: SOLUTION }), callItem('delete_shape', { id: SOLUTION[0] })],
      GOOD,
    ],
    ['items of any kind are let through', [null, 5, { type: 'other' }, messageItem(GOOD)], GOOD],
  ])('%s', async (_, items, equivalent) => {
    const { json } = await verify(toRow({ task_id: TASK_ID }), toResponse(items));
    const { reward: expected } = await api().client.reward({ task_id: TASK_ID, completion: equivalent });
    expect((json as Verified).reward).toBe(expected);
  });

  test('a response cut at the token limit is known as such', async () => {
    const cut = GOOD.slice(0, GOOD.length - 60);
    const response = { ...toResponse([messageItem(cut)]), incomplete_details: { reason: 'max_output_tokens' } };
    const { json } = await verify(toRow({ task_id: TASK_ID }), response);
    const expected = await api().client.reward({ task_id: TASK_ID, completion: cut, finish_reason: 'length' });
    expect((json as Verified).reward).toBe(expected.reward);
  });

  test.each([
    ['an inline task', { task: INLINE }],
    ['JSON text of one', { task: JSON.stringify(INLINE) }],
  ])('the task of a row may be %s, and its expected answer is in no cookie', async (_, fields) => {
    const rollout = await createRollout(api(), toRow(fields));
    await rollout.call('create_shape', { id: 'a', shape: 'rectangle', x: 0, y: 0, w: 9, h: 9 });
    const token = rollout.cookie.split('=')[1]!;
    const carried = inflateRawSync(Buffer.from(token, 'base64url')).toString();
    expect(carried).toContain('"canvas"');
    expect(carried).not.toMatch(/Zebra|expect/);
    const { json } = await rollout.verify(toResponse([messageItem(ZEBRA)]));
    expect((json as Verified).reward).toBeGreaterThan(0.9);
  });

  test.each([
    [
      'messages',
      [
        { role: 'system', content: 'Draw.' },
        { role: 'user', content: PROMPT },
      ],
    ],
    ['messages of parts', [{ role: 'user', content: [{ type: 'input_text', text: PROMPT }] }]],
    ['a text', PROMPT],
    [
      'messages among other items',
      [
        { type: 'function_call', name: 'x' },
        { role: 'user', content: PROMPT },
      ],
    ],
  ])('a row without a task is scored by what the model was asked: %s', async (_, input) => {
    const row = { responses_create_params: { input }, reward_preset: 'article' };
    const { json } = await verify(row, toResponse([messageItem(POOR)]));
    const expected = await api().client.reward({ prompt: PROMPT, completion: POOR, reward: 'article' });
    expect((json as Verified).reward).toBe(expected.reward);
  });

  test.each([
    ['no response', '/verify', toRow({ task_id: TASK_ID }), [422, 'invalid_request', 'body.response']],
    [
      'a response without output',
      '/verify',
      { ...toRow({ task_id: TASK_ID }), response: {} },
      [422, 'invalid_request', 'body.response.output'],
    ],
    [
      'an unknown task',
      '/verify',
      { ...toRow({ task_id: 'train.no.1.1' }), response: toResponse([]) },
      [404, 'unknown_task', 'body.task_id'],
    ],
    [
      'an unknown task at the start',
      '/seed_session',
      toRow({ task_id: 'train.no.1.1' }),
      [404, 'unknown_task', 'body.task_id'],
    ],
    [
      'no task and no question',
      '/seed_session',
      { responses_create_params: { input: [] } },
      [422, 'invalid_request', 'body.responses_create_params.input'],
    ],
    ['no row', '/seed_session', {}, [422, 'invalid_request', 'body.responses_create_params']],
    [
      'an unknown preset',
      '/seed_session',
      { ...toRow({ task_id: TASK_ID }), reward_preset: 'best' },
      [422, 'invalid_request', 'body.reward_preset'],
    ],
  ])('%s is refused', async (_, path, body, expected) => {
    const { status, json } = await api().post(path, body);
    const { error } = json as { error: { code: string; path: string } };
    expect([status, error.code, error.path]).toEqual(expected);
  });

  test('a response of 100,000 items is read', async () => {
    const noise = Array.from({ length: 50_000 }, () => ({ type: 'reasoning', summary: [] }));
    const calls = Array.from({ length: 50_000 }, () => callItem('select', { ids: [] }));
    const start = performance.now();
    const { status } = await verify(toRow({ task_id: TASK_ID }), toResponse([...noise, ...calls]));
    expect([status, performance.now() - start < NOT_SLOW_MS]).toEqual([200, true]);
  });

  test('a stored rollout can be verified again', async () => {
    expect((await api().get('/reverify_mode')).text).toBe('"stateless"');
    const row = toRow({ task_id: TASK_ID });
    const [first, second] = [
      await verify(row, toResponse([messageItem(POOR)])),
      await verify(row, toResponse([messageItem(POOR)])),
    ];
    expect(second.text).toBe(first.text);
  });
});

test('there is a route for each tool', async () => {
  const app = createApp();
  const api = createApi('http://test', async (request) => app.fetch(request));
  const { call } = await createRollout(api, toRow({ task_id: TASK_ID }));
  expect(TOOLS.length).toBeGreaterThan(8);
  for (const { name } of TOOLS) expect(typeof (await call(name, {})).message).toBe('string');
});

describe('a server whose scoring fails', () => {
  const log: string[] = [];
  const fail = (): never => {
    throw new Error('password 1234');
  };
  const environment = { reset, step, reward: fail as typeof reward, score, render };
  const app = createApp({ environment, log: (entry) => log.push(entry) });
  const api = createApi('http://test', async (request) => app.fetch(request));

  test('verify is 503 with Retry-After, never a reward', async () => {
    const answer = await api.post('/verify', {
      ...toRow({ task_id: TASK_ID }),
      response: toResponse([messageItem(GOOD)]),
    });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    expect(answer.text).not.toMatch(/1234|"reward"/);
    expect(log.pop()).toContain('1234');
  });
});
