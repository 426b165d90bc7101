/** NeMo Gym's resources server: rollouts as its agents and verifiers play them, with a cookie held by hand. */
import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { TOOLS } from '../../schemas/tools.ts';
import { createApp } from '../../server/app.ts';
import { reset, step } from '../../server/episode.ts';
import { reward, score } from '../../server/grade.ts';
import { render } from '../../server/render/index.ts';
import { createApi, overTransports, type Answer, type Api } from '../http/support.ts';
import { GOOD, INLINE, POOR, PROMPT, PROSE, SOLUTION, TASK_ID, toCall, ZEBRA } from './drawings.ts';
import { callItem, createRollout, messageItem, toResponse, toRow, type ToolAnswer } from './nemo-client.ts';

interface Verified {
  reward: number;
  [name: string]: unknown;
}

/** The drawing less its first shape. */
const REST = JSON.stringify({ actions: SOLUTION.slice(1) });

const SECRET = 'a secret of the replicas';

const draw = async (api: Api, actions = SOLUTION) => {
  const rollout = await createRollout(api, toRow({ task_id: TASK_ID }));
  const items: unknown[] = [];
  for (const action of actions) {
    const { name, input } = toCall(action);
    const answer = await rollout.call(name, input);
    expect(answer.ok, answer.message).toBe(true);
    items.push(callItem(name, input), { type: 'function_call_output', call_id: 'c', output: JSON.stringify(answer) });
  }
  return { rollout, items };
};

overTransports(
  'NeMo Gym, signed',
  (api) => {
    test('a drawing by tools has the reward of the same drawing as text', async () => {
      const { rollout, items } = await draw(api());
      const submitted = await rollout.call('submit_diagram', {});
      expect(submitted).toEqual({ ok: true, message: 'The drawing is submitted.', done: true });
      items.push(callItem('submit_diagram', {}), messageItem('I drew it.'));
      const byTools = (await rollout.verify(toResponse(items))).json as Verified;
      const byText = (await rollout.verify(toResponse([messageItem(GOOD)]))).json as Verified;
      const { reward: expected } = await api().client.reward({ task_id: TASK_ID, completion: GOOD });
      expect([byTools.reward, byText.reward]).toEqual([expected, expected]);
      expect(expected).toBeGreaterThan(0.9);
    });

    test('a tool answers with what the canvas holds and what was wrong, and the rollout goes on', async () => {
      const { call } = await createRollout(api(), toRow({ task_id: TASK_ID }));
      const first = await call('create_shape', toCall(SOLUTION[0]!).input);
      expect(first).toMatchObject({ ok: true, done: false });
      expect(first.message).toContain('1 shape(s) and 0 arrow(s)');
      const second = await call('connect', { from_id: 'nobody', to_id: 'neither' });
      expect([second.ok, second.done]).toEqual([false, false]);
      expect(second.message).toContain('1 shape(s) and 0 arrow(s)');
    });

    test('after submission no more calls are taken, which is no error of HTTP', async () => {
      const { call } = await createRollout(api(), toRow({ task_id: TASK_ID }));
      await call('submit_diagram', { actions: SOLUTION });
      const late = await call('delete_shape', { id: 'a' });
      expect([late.ok, late.done]).toEqual([false, true]);
    });

    test.each([
      ['no arguments', ''],
      ['a list', '[1, 2]'],
      ['a text', '"draw it"'],
      ['null', 'null'],
      ['no JSON', '{"id": '],
      ['unknown fields', '{"colour": "red"}'],
      ['deep nesting', `${'['.repeat(5000)}${']'.repeat(5000)}`],
    ])('bad arguments are told to the model: %s', async (_, text) => {
      const rollout = await createRollout(api(), toRow({ task_id: TASK_ID }));
      const answer = await rollout.send('create_shape', text);
      expect(answer.status).toBe(200);
      expect((answer.json as ToolAnswer).ok).toBe(false);
      expect(answer.headers.get('set-cookie')).toContain('canvas_gym_session=');
    });

    test('every answer sets the cookie, which is not Secure and less than 4096 bytes with its name', async () => {
      const { rollout } = await draw(api());
      const verified = await rollout.verify(toResponse([messageItem(GOOD)]));
      for (const answer of [...rollout.answers, verified]) {
        const cookie = answer.headers.get('set-cookie')!;
        expect(cookie).toMatch(/^canvas_gym_session=[\w-]+; Path=\/; HttpOnly; SameSite=Lax$/);
        expect(cookie.length).toBeLessThan(4096);
      }
    });

    test('60 shapes and 60 arrows fit; far more are refused to the model, and count as little at the end', async () => {
      const rollout = await createRollout(api(), toRow({ task_id: TASK_ID }));
      const box = (i: number) => ({
        id: `node_${i}`,
        shape: 'rectangle',
        x: (i % 10) * 110 + 3,
        y: Math.floor(i / 10) * 70 + 5,
        w: 90 + (i % 9),
        h: 40 + (i % 7),
        text: `${['Order', 'Ledger', 'Audit log', 'User'][i % 4]!} ${(i * 7919) % 97}`,
      });
      for (let i = 0; i < 60; i++) expect((await rollout.call('create_shape', box(i))).message).toContain('shape(s)');
      for (let i = 0; i < 39; i++)
        await rollout.call('connect', { from_id: `node_${i}`, to_id: `node_${i + 20}`, text: `e${i}` });
      expect((await rollout.call('submit_diagram', {})).message).toBe('The drawing is submitted.');
      expect(rollout.cookie.length).toBeLessThan(4000);

      const large = await createRollout(api(), toRow({ task_id: TASK_ID }));
      const hash = (i: number): string => createHash('sha256').update(String(i)).digest('base64');
      const label = Array.from({ length: 100 }, (_, i) => hash(i)).join('');
      const answer = await large.call('create_shape', { ...box(1), text: label });
      expect([answer.ok, answer.done]).toEqual([false, false]);
      expect(answer.message).toContain('would hold more than fits');
      expect((await large.call('create_shape', box(2))).message).toContain('1 shape(s)');
      const items = [callItem('create_shape', { ...box(1), text: label })];
      expect(((await large.verify(toResponse(items))).json as Verified).reward).toBe(0);
    });

    test('a diagram of a hundred boxes is taken whole where it is submitted at once', async () => {
      const hash = (i: number): string => createHash('sha256').update(String(i)).digest('base64');
      const actions = Array.from({ length: 100 }, (_, i) => {
        const place = { x: (i % 10) * 115, y: Math.floor(i / 10) * 78, w: 100, h: 60 };
        return { type: 'create_shape', id: hash(i), shape: 'rectangle', ...place, text: hash(i + 100) };
      });
      const rollout = await createRollout(api(), toRow({ task_id: TASK_ID }));
      expect(await rollout.call('submit_diagram', { actions })).toMatchObject({ ok: true, done: true });
      expect(rollout.cookie.length).toBeLessThan(1000);
      const { json } = await rollout.verify(toResponse([callItem('submit_diagram', { actions })]));
      const completion = JSON.stringify({ actions });
      const { reward: expected } = await api().client.reward({ task_id: TASK_ID, completion });
      expect((json as Verified).reward).toBe(expected);
      expect(expected).toBeGreaterThan(0);
    });

    test('another server with the same secret takes the next call', async () => {
      const other = createApp({ secret: SECRET });
      const replica = createApi('http://other', async (request) => other.fetch(request));
      const { rollout } = await draw(api(), SOLUTION.slice(0, 2));
      const moved = rollout.at(replica);
      expect((await moved.call('create_shape', toCall(SOLUTION[2]!).input)).message).toContain('3 shape(s)');
    });

    test('a cookie of another secret, and one that was changed, are refused', async () => {
      const stranger = createApp({ secret: 'quite another secret' });
      const { rollout } = await draw(api(), SOLUTION.slice(0, 1));
      const elsewhere = rollout.at(createApi('http://other', async (request) => stranger.fetch(request)));
      expect((await elsewhere.send('select', '{"ids": []}')).json).toMatchObject({
        error: { code: 'state_changed', path: 'cookie' },
      });
      for (const cookie of ['canvas_gym_session=abc', `${rollout.cookie.slice(0, -9)}AAAAAAAAA`]) {
        const answer = await api().post('/select', '{}', { cookie });
        expect([answer.status, answer.json]).toMatchObject([400, { error: { code: 'state_changed' } }]);
      }
    });

    test('a bomb is refused: a small cookie that unfolds to megabytes', async () => {
      const cookie = `canvas_gym_session=${deflateRawSync(Buffer.alloc(2 ** 20, 0x20)).toString('base64url')}`;
      expect((await api().post('/select', '{}', { cookie })).status).toBe(400);
      expect(cookie.length).toBeLessThan(4096);
    });

    test('without a session a tool says how to get one', async () => {
      const { status, json } = await api().post('/create_shape', '{}');
      expect([status, json]).toMatchObject([422, { error: { code: 'invalid_request', path: 'cookie' } }]);
    });

    test('a client that keeps the first cookie (verifiers 0.4 does) sees its canvas grow', async () => {
      const rollout = await createRollout(api(), toRow({ task_id: TASK_ID }));
      const stale = rollout.cookie;
      for (const [i, action] of SOLUTION.slice(0, 3).entries()) {
        const { name, input } = toCall(action);
        const { json } = await api().post(`/${name}`, input, { cookie: stale });
        expect((json as ToolAnswer).message).toContain(`${i + 1} shape(s)`);
      }
    });

    test('a call that is sent again with the same cookie is taken once', async () => {
      const rollout = await createRollout(api(), toRow({ task_id: TASK_ID }));
      const { name, input } = toCall(SOLUTION[0]!);
      const cookie = rollout.cookie;
      const first = await api().post(`/${name}`, input, { cookie });
      const again = await api().post(`/${name}`, input, { cookie });
      expect(again.text).toBe(first.text);
      expect((again.json as ToolAnswer).message).toContain('1 shape(s)');
    });

    test('a tool that a model made up is a 404 that tells the others, and the session goes on', async () => {
      const { rollout } = await draw(api(), SOLUTION.slice(0, 1));
      const before = rollout.cookie;
      const answer = await rollout.send('paint', '{}');
      expect([answer.status, answer.text]).toEqual([404, expect.stringContaining('create_shape, connect')]);
      expect(rollout.cookie).toBe(before);
      expect((await rollout.call('create_shape', toCall(SOLUTION[1]!).input)).message).toContain('2 shape(s)');
    });

    test('rollouts that run at once do not see each other', async () => {
      const rollouts = await Promise.all([1, 2, 3, 4].map(() => createRollout(api(), toRow({ task_id: TASK_ID }))));
      const counts = await Promise.all(
        rollouts.map(async ({ call }, i) => {
          let last = '';
          for (const action of SOLUTION.slice(0, i % 3))
            last = (await call(toCall(action).name, toCall(action).input)).message;
          return last.slice(0, 28);
        }),
      );
      expect(counts).toEqual(['', 'The canvas holds 1 shape(s) ', 'The canvas holds 2 shape(s) ', '']);
    });
  },
  { secret: SECRET },
);

overTransports('NeMo Gym, unsigned', (api) => {
  const verify = async (row: object, response: object): Promise<Answer> => api().post('/verify', { ...row, response });

  test('a session works without a secret', async () => {
    const { rollout } = await draw(api());
    expect((await rollout.call('submit_diagram', {})).done).toBe(true);
  });

  test('a cookie that a client changed moves no reward: calls are drawn from the response', async () => {
    const { rollout } = await draw(api());
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

  test('a response of 100,000 items is read in less than two seconds', async () => {
    const noise = Array.from({ length: 50_000 }, () => ({ type: 'reasoning', summary: [] }));
    const calls = Array.from({ length: 50_000 }, () => callItem('select', { ids: [] }));
    const start = performance.now();
    const { status } = await verify(toRow({ task_id: TASK_ID }), toResponse([...noise, ...calls]));
    expect([status, performance.now() - start < 2000]).toEqual([200, true]);
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
