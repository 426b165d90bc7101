/** ORS over HTTP: tasks, sessions, calls and their refusals, as the openreward client sees them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ErrorBody } from '../../schemas/error.ts';
import { ORS_ROUTES, OrsTask } from '../../schemas/protocols/ors.ts';
import { SPLITS } from '../../schemas/task.ts';
import { TOOLS } from '../../schemas/tools.ts';
import { createApp, type AppOptions } from '../../server/app.ts';
import { step, reset } from '../../server/episode.ts';
import { reward, score } from '../../server/grade.ts';
import { startServer } from '../../server/main.ts';
import { createOrsKeeper } from '../../server/protocols/ors/sessions.ts';
import { createSharedKeeper } from '../../server/protocols/sessions/shared.ts';
import { render } from '../../server/render/index.ts';
import { createApi, overTransports, type Answer, type Api } from '../http/support.ts';

const TASK_ID = 'train.pipeline.1.3';
const box = (id: string, x: number, text: string) => ({ id, shape: 'rectangle', x, y: 360, w: 200, h: 80, text });
const CALLS: readonly [string, object][] = [
  ['create_shape', box('a', 120, 'Record')],
  ['create_shape', box('b', 500, 'Review')],
  ['create_shape', box('c', 880, 'Edit Episode')],
  ['connect', { from_id: 'a', to_id: 'b', text: null }],
  ['connect', { from_id: 'b', to_id: 'c' }],
];
const ACTIONS = CALLS.map(([type, input]) => {
  const { from_id, to_id, ...rest } = input as Record<string, unknown>;
  return type === 'connect' ? { type, from: from_id, to: to_id } : { type, ...rest };
});
const WHOLE = JSON.stringify({ actions: ACTIONS });

interface Output {
  blocks: { text: string; detail: null; type: string }[];
  metadata: Record<string, number>;
  reward: number | null;
  finished: boolean;
}
type CallAnswer = { ok: true; output: Output } | { ok: false; error: string; reason: string };

interface Events {
  names: string[];
  task_id: string;
  data: string;
}

function readEvents(text: string): Events {
  const events = text
    .split('\n\n')
    .filter((part) => part.startsWith('event: '))
    .map((part) => /^event: (\w+)\ndata: ?(.*)$/.exec(part)!.slice(1) as [string, string]);
  const [first, ...rest] = events;
  return {
    names: events.map(([name]) => name),
    task_id: first?.[0] === 'task_id' ? first[1] : '',
    data: rest.map(([, data]) => data).join(''),
  };
}

const json = (sid: string) => ({ 'content-type': 'application/json', 'x-session-id': sid });
let sessions = 0;

async function create(api: Api, body: object = { task_spec: { task_id: TASK_ID } }): Promise<string> {
  const sid = `session-${++sessions}`;
  const { status, json: answer } = await api.post('/create', body, json(sid));
  expect([status, answer]).toEqual([200, { sid }]);
  return sid;
}

async function stream(api: Api, sid: string, body: object): Promise<Events> {
  const answer = await api.post('/call', body, json(sid));
  expect([answer.status, answer.type]).toEqual([200, 'text/event-stream']);
  return readEvents(answer.text);
}

async function call(api: Api, sid: string, name: string, input: object): Promise<CallAnswer> {
  return JSON.parse((await stream(api, sid, { name, input })).data) as CallAnswer;
}

async function output(api: Api, sid: string, name: string, input: object): Promise<Output> {
  const answer = await call(api, sid, name, input);
  if (!answer.ok) throw new Error(answer.error);
  return answer.output;
}

const codeOf = ({ status, json: body }: Answer) => [status, (body as ErrorBody).error.code];

overTransports('ORS discovery', (api) => {
  test.each(['', '/diagram', '/Diagram'])('the splits, at %s/splits', async (base) => {
    const { json: splits } = await api().get(`${base}/splits`);
    const answer = ORS_ROUTES.ors_splits.answer.parse(splits);
    expect(answer.map(({ name }) => name)).toEqual(SPLITS);
    expect(answer.slice(0, 3).map(({ type }) => type)).toEqual(['train', 'validation', 'test']);
  });

  test('environments and version', async () => {
    expect((await api().get('/list_environments')).json).toEqual(['diagram']);
    expect((await api().get('/version')).json).toEqual({ version: expect.any(String) as string, build_sha: null });
    expect((await api().get('/health')).status).toBe(200);
  });

  test.each([
    ['train', 4096],
    ['val', 1600],
    ['test_family', 400],
    ['test_level', 400],
    ['test_real', 44],
  ])('%s has %i tasks', async (split, count) => {
    expect((await api().post('/num_tasks', { split })).json).toEqual({ num_tasks: count });
    expect((await api().post('/diagram/num_tasks', { split })).json).toEqual({ num_tasks: count });
    const last = await api().post('/task', { split, index: count - 1 });
    expect(last.status).toBe(200);
    expect(codeOf(await api().post('/task', { split, index: count }))).toEqual([400, 'unknown_index']);
  });

  test('all tasks of a split are there once, flat, with the same keys, and without an answer', async () => {
    const { json: answer, text } = await api().post('/diagram/tasks', { split: 'test_real' });
    const { tasks, env_name } = ORS_ROUTES.ors_tasks.answer.parse(answer);
    expect(env_name).toBe('diagram');
    expect(new Set(tasks.map(({ task_id }) => task_id)).size).toBe(44);
    for (const task of tasks) {
      expect(Object.keys(task)).toEqual(Object.keys(OrsTask.shape));
      expect(Object.values(task).every((value) => value === null || typeof value !== 'object')).toBe(true);
    }
    expect(text).not.toMatch(/"(expect|nodes|edges|prompt)"/);
  });

  test('the first tasks of a split go through all families, then levels', async () => {
    const { json: answer } = await api().post('/task_range', { split: 'train', start: 0, stop: 64 });
    const { tasks } = ORS_ROUTES.ors_task_range.answer.parse(answer);
    expect(new Set(tasks.slice(0, 8).map(({ family, level }) => `${family} ${level}`)).size).toBe(8);
    expect(new Set(tasks.slice(0, 8).map(({ level }) => level))).toEqual(new Set([1]));
    expect(new Set(tasks.slice(0, 32).map(({ family, level }) => `${family} ${level}`)).size).toBe(32);
    expect(tasks[33]?.task_id).toBe(tasks[1]?.task_id.replace(/0$/, '1'));
  });

  test.each([
    [{ start: 0, stop: 3 }, [0, 1, 2]],
    [{ start: -2 }, [42, 43]],
    [{ stop: -42 }, [0, 1]],
    [{ start: 43, stop: 1000 }, [43]],
    [{ start: 5, stop: 5 }, []],
    [{ start: 9, stop: 2 }, []],
    [{ start: null, stop: -1000 }, []],
  ])('a range %o', async (range, indices) => {
    const all = await api().post('/tasks', { split: 'test_real' });
    const { tasks } = ORS_ROUTES.ors_tasks.answer.parse(all.json);
    const { json: answer } = await api().post('/diagram/task_range', { split: 'test_real', ...range });
    expect((answer as { tasks: unknown[] }).tasks).toEqual(indices.map((i) => tasks[i]));
  });

  test('the tools of the environment are those of /tools', async () => {
    const { json: tools } = await api().get('/tools');
    expect((await api().get('/diagram/tools')).json).toEqual(tools);
    expect(tools).toMatchObject({
      terminal_tool: { name: 'answer', arg: 'completion' },
      supports_score_group: false,
      message_block_types: ['text'],
    });
  });

  test('a new session has a name nobody else has', async () => {
    const names = await Promise.all(
      [1, 2, 3].map(async () => readEvents((await api().post('/create_session', {})).text)),
    );
    expect(names.map((event) => event.names)).toEqual(Array.from({ length: 3 }, () => ['task_id', 'end']));
    expect(new Set(names.map(({ task_id }) => task_id)).size).toBe(3);
    expect(names[0]?.task_id).toMatch(/^[0-9a-f-]{36}$/);
  });
});

overTransports('ORS refusals', (api) => {
  const bodies = {
    num_tasks: { split: 'train' },
    task: { split: 'train', index: 0 },
    tasks: { split: 'test_real' },
    task_range: { split: 'train', start: 0, stop: 1 },
  };

  test.each(Object.entries(bodies))('/%s: no such split, no such environment, no split', async (name, body) => {
    expect(codeOf(await api().post(`/${name}`, { ...body, split: 'trian' }))).toEqual([400, 'unknown_split']);
    expect(codeOf(await api().post(`/nope/${name}`, body))).toEqual([404, 'unknown_environment']);
    expect(codeOf(await api().post(`/${name}`, {}))).toEqual([422, 'invalid_request']);
  });

  test('the refusal of a split names the one that was meant', async () => {
    const { json: body } = await api().post('/num_tasks', { split: 'trian' });
    expect((body as ErrorBody).error.message).toContain('"train"');
  });

  test.each([-1, 4096, 2 ** 40])('no index %i', async (index) => {
    expect(codeOf(await api().post('/task', { split: 'train', index }))).toEqual([400, 'unknown_index']);
    expect(codeOf(await api().post('/create', { split: 'train', index }, json('x')))).toEqual([400, 'unknown_index']);
  });

  test('an index that is no integer', async () => {
    expect(codeOf(await api().post('/task', { split: 'train', index: 1.5 }))).toEqual([422, 'invalid_request']);
  });

  const ROUTES_OF_SESSIONS: readonly [string, string, object?][] = [
    ['GET', 'prompt'],
    ['GET', 'messages'],
    ['GET', 'task_tools'],
    ['POST', 'call', { name: 'select', input: { ids: [] } }],
  ];
  const PATHS = ROUTES_OF_SESSIONS.flatMap(([method, name, body]) => [
    [method, `/${name}`, body] as const,
    [method, `/diagram/${name}`, body] as const,
  ]);

  test.each([...PATHS, ['POST', '/ping', {}] as const])('%s %s: no header, no session, ended', async (...row) => {
    const [method, path, body] = row;
    const send = (headers: Record<string, string>): Promise<Answer> =>
      method === 'GET' ? api().get(path, headers) : api().post(path, body, headers);
    expect(codeOf(await send({}))).toEqual([400, 'missing_header']);
    expect(codeOf(await send({ 'x-session-id': ' ' }))).toEqual([400, 'missing_header']);
    expect(codeOf(await send({ 'x-session-id': 'two words' }))).toEqual([400, 'missing_header']);
    expect(codeOf(await send(json('nobody')))).toEqual([404, 'unknown_session']);
    const sid = await create(api());
    expect((await send(json(sid))).status).toBe(200);
    await api().post('/delete', {}, json(sid));
    expect(codeOf(await send(json(sid)))).toEqual([410, 'session_ended']);
  });

  test.each(ROUTES_OF_SESSIONS)('%s /nope/%s: no such environment', async (method, name, body) => {
    const headers = json(await create(api()));
    const answer =
      method === 'GET' ? await api().get(`/nope/${name}`, headers) : await api().post(`/nope/${name}`, body, headers);
    expect(codeOf(answer)).toEqual([404, 'unknown_environment']);
  });

  test.each([
    ['neither', {}, 422, 'invalid_request'],
    ['both', { split: 'train', index: 0, task_spec: { task_id: TASK_ID } }, 422, 'invalid_request'],
    ['a split alone', { split: 'train' }, 422, 'invalid_request'],
    ['a task and a split', { split: 'train', task_spec: { task_id: TASK_ID } }, 422, 'invalid_request'],
    ['an environment that is not there', { env_name: 'x', split: 'train', index: 0 }, 404, 'unknown_environment'],
    ['a toolset', { split: 'train', index: 0, toolset_name: 'codex' }, 400, 'unknown_toolset'],
    ['a task that is not there', { task_spec: { task_id: 'train.pipeline.1.x' } }, 404, 'unknown_task'],
    ['a task of nothing', { task_spec: {} }, 422, 'invalid_request'],
    ['a task with an unknown field', { task_spec: { prompt: 'x', expects: {} } }, 422, 'invalid_request'],
    [
      'a task with a preset that is not there',
      { task_spec: { task_id: TASK_ID, reward: 'x' } },
      422,
      'invalid_request',
    ],
    ['too many calls', { task_spec: { task_id: TASK_ID, max_turns: 1e6 } }, 422, 'invalid_request'],
  ])('/create with %s', async (_, body, ...expected) => {
    expect(codeOf(await api().post('/create', body, json('unborn')))).toEqual(expected);
    expect(codeOf(await api().post('/ping', {}, json('unborn')))).toEqual([404, 'unknown_session']);
  });

  test('/create twice, and again after /delete', async () => {
    const sid = await create(api());
    const again = () => api().post('/create', { split: 'train', index: 0 }, json(sid));
    expect(codeOf(await again())).toEqual([400, 'session_exists']);
    expect((await api().post('/delete_session', {}, json(sid))).json).toEqual({ sid });
    expect((await again()).status).toBe(200);
    expect((await api().post('/ping', {}, json(sid))).json).toEqual({ status: 'ok' });
  });

  test.each(['/create', '/delete', '/delete_session'])('%s without the header', async (path) => {
    expect(codeOf(await api().post(path, { split: 'train', index: 0 }))).toEqual([400, 'missing_header']);
  });

  test('ending what is not there is no fault', async () => {
    expect((await api().post('/delete', {}, json('nobody'))).json).toEqual({ sid: 'nobody' });
    expect((await api().post('/delete_session', {}, json('nobody'))).json).toEqual({ sid: 'nobody' });
  });

  test.each([
    ['no name', { input: {} }],
    ['no input', { name: 'select' }],
    ['an input that is a list', { name: 'select', input: [] }],
  ])('/call with %s', async (_, body) => {
    const sid = await create(api());
    expect(codeOf(await api().post('/call', body, json(sid)))).toEqual([422, 'invalid_request']);
  });
});

overTransports('ORS episodes', (api) => {
  const rewardOf = async (completion: string): Promise<number> =>
    (await api().client.reward({ task_id: TASK_ID, completion })).reward;

  test('the prompt, alone and as messages', async () => {
    const sid = await create(api());
    const { json: prompt } = await api().get('/prompt', json(sid));
    const { json: messages } = await api().get('/diagram/messages', json(sid));
    const [task, how] = ORS_ROUTES.ors_prompt.answer.parse(prompt);
    expect(task?.text).toBe((await api().client.task({ task_id: TASK_ID })).prompt);
    expect(how?.text).toContain('1200 x 800');
    const parsed = ORS_ROUTES.ors_messages.answer.parse(messages);
    expect(parsed.map(({ role, blocks }) => [role, blocks])).toEqual([
      ['system', [how]],
      ['user', [task]],
    ]);
    expect((await api().get('/task_tools', json(sid))).json).toEqual((await api().get('/tools')).json);
  });

  test('a drawing submitted at once', async () => {
    const sid = await create(api());
    const { blocks, ...rest } = await output(api(), sid, 'submit_diagram', { actions: ACTIONS });
    const { reward: expected, components } = await api().client.reward({ task_id: TASK_ID, completion: WHOLE });
    expect(rest).toEqual({ metadata: components, reward: expected, finished: true });
    expect(expected).toBeGreaterThan(0.9);
    expect(blocks[0]).toEqual({ text: expect.stringContaining('Reward: 0.9') as string, detail: null, type: 'text' });
  });

  test('a drawing in several calls has no reward before it is submitted, and the same then', async () => {
    const sid = await create(api());
    const parts: Output[] = [];
    for (const [name, input] of CALLS) parts.push(await output(api(), sid, name, input));
    expect(parts.map(({ reward: given, finished }) => [given, finished])).toEqual(CALLS.map(() => [null, false]));
    expect(parts.at(-1)?.blocks[0]?.text).toBe('The canvas holds 3 shape(s) and 2 arrow(s).');
    const last = await output(api(), sid, 'submit_diagram', { actions: null });
    expect([last.reward, last.finished]).toEqual([await rewardOf(WHOLE), true]);
    expect(Object.keys(last.metadata)).toEqual(Object.keys(parts[0]!.metadata));
  });

  test.each([
    ['a whole drawing', `I drew it: ${WHOLE}`],
    ['no drawing', 'I cannot draw.'],
    ['nothing', ''],
    ['a drawing that is cut', WHOLE.slice(0, -40)],
    [
      'a move, which is for later turns',
      JSON.stringify({ actions: [...ACTIONS, { type: 'move_shape', id: 'a', x: 100, y: 300 }] }),
    ],
  ])('an answer in words before any call is a completion: %s', async (_, completion) => {
    const sid = await create(api());
    const { reward: given, finished } = await output(api(), sid, 'answer', { completion });
    expect([given, finished]).toEqual([await rewardOf(completion), true]);
  });

  test('an answer in words after calls submits what was drawn', async () => {
    const sid = await create(api());
    for (const [name, input] of CALLS) await output(api(), sid, name, input);
    const { reward: given, finished } = await output(api(), sid, 'answer', { completion: 'Done!' });
    expect([given, finished]).toEqual([await rewardOf(WHOLE), true]);
  });

  test('actions in an answer in words after calls go onto the drawing', async () => {
    const sid = await create(api());
    for (const [name, input] of CALLS.slice(0, 4)) await output(api(), sid, name, input);
    const completion = JSON.stringify({ actions: ACTIONS.slice(4) });
    const { reward: given, finished } = await output(api(), sid, 'answer', { completion });
    expect([given, finished]).toEqual([await rewardOf(WHOLE), true]);
  });

  test('a long answer comes in parts', async () => {
    const sid = await create(api());
    const lost = Array.from({ length: 150 }, (_, i) => ({
      type: 'connect',
      from: `the nowhere of 東京 ${i}`,
      to: 'x',
    }));
    const events = await stream(api(), sid, { name: 'submit_diagram', input: { actions: lost } });
    expect(events.names.length).toBeGreaterThan(3);
    expect(new Set(events.names.slice(1, -1))).toEqual(new Set(['chunk']));
    expect(events.names.at(-1)).toBe('end');
    const { output: given } = JSON.parse(events.data) as { output: Output };
    expect(given.blocks[0]?.text).toContain('the nowhere of 東京 41');
  });

  test('a fault of the model is told to it, and the episode goes on', async () => {
    const sid = await create(api());
    const { blocks, reward: given, finished } = await output(api(), sid, 'connect', { from_id: 'a', to_id: 'b' });
    expect([blocks[0]?.text, given, finished]).toEqual([expect.stringContaining('does not exist'), null, false]);
  });

  test.each([
    ['create_shap', {}, 'not_found'],
    ['answer', {}, 'input_validation'],
    ['answer', { completion: 3 }, 'input_validation'],
  ])('a call of %s with %o is refused, and changes nothing', async (name, input, reason) => {
    const sid = await create(api());
    expect(await call(api(), sid, name, input)).toMatchObject({ ok: false, reason });
    expect((await output(api(), sid, 'submit_diagram', { actions: ACTIONS })).finished).toBe(true);
  });

  test('labels that no drawing needs are refused, and no call gets slower by them', async () => {
    const sid = await create(api());
    const text = 'x'.repeat(1_000_000);
    const time = async (i: number): Promise<number> => {
      const start = performance.now();
      const { blocks, finished } = await output(api(), sid, 'create_shape', { ...box(`l${i}`, 1, text) });
      expect([blocks[0]!.text.slice(0, 9), finished]).toEqual(['Not taken', false]);
      return performance.now() - start;
    };
    const times: number[] = [];
    for (let i = 0; i < 20; i++) times.push(await time(i));
    expect(Math.min(...times.slice(10))).toBeLessThan(Math.max(50, 4 * Math.min(...times.slice(0, 10))));
    expect((await output(api(), sid, ...CALLS[0]!)).blocks[0]!.text).toContain('1 shape(s)');
  });

  test('labels of a whole drawing are bounded too, and deleting makes room', async () => {
    const sid = await create(api());
    const text = 'x'.repeat(9000);
    const add = async (i: number) => (await output(api(), sid, 'create_shape', box(`l${i}`, 1, text))).blocks[0]!.text;
    const told: string[] = [];
    for (let i = 0; i < 40; i++) told.push(await add(i));
    expect(told.map((line) => line.includes('too much text'))).toEqual(told.map((_, i) => i >= 29));
    await output(api(), sid, 'delete_shape', { id: 'l0' });
    expect(await add(40)).not.toContain('too much text');
  });

  test('after the end every call is refused, and the reward stays the only one', async () => {
    const sid = await create(api());
    await output(api(), sid, 'submit_diagram', { actions: ACTIONS });
    for (const [name, input] of [...CALLS, ['submit_diagram', {}], ['answer', { completion: WHOLE }]] as const) {
      expect(await call(api(), sid, name, input)).toMatchObject({ ok: false, reason: 'episode_finished' });
    }
  });

  test('the last allowed call ends the episode with the reward of the drawing', async () => {
    const sid = await create(api(), { task_spec: { task_id: TASK_ID, max_turns: 3 } });
    for (const [name, input] of CALLS.slice(0, 2)) await output(api(), sid, name, input);
    const { reward: given, finished } = await output(api(), sid, ...CALLS[2]!);
    expect([given, finished]).toEqual([await rewardOf(JSON.stringify({ actions: ACTIONS.slice(0, 3) })), true]);
  });

  test('a task of its own, with a preset', async () => {
    const sid = await create(api(), { task_spec: { prompt: 'a cat', reward: 'weak', max_turns: 5 } });
    const { json: prompt } = await api().get('/prompt', json(sid));
    expect(ORS_ROUTES.ors_prompt.answer.parse(prompt)[0]?.text).toBe('a cat');
    expect((await output(api(), sid, 'answer', { completion: WHOLE })).reward).toBe(1);
  });

  test('a task goes from /task into /create as it is', async () => {
    const { json: answer } = await api().post('/task', { split: 'val', index: 5 });
    const { task } = answer as { task: OrsTask };
    const [byTask, byIndex] = [
      await create(api(), { task_spec: task, env_name: 'diagram' }),
      await create(api(), { split: 'val', index: 5 }),
    ];
    const prompts = await Promise.all([byTask, byIndex].map((sid) => api().get('/prompt', json(sid))));
    expect(prompts[0]?.json).toEqual(prompts[1]?.json);
    expect(prompts[0]?.text).toContain(JSON.stringify(task.request).slice(1, -1));
  });

  test('two sessions at once stay apart', async () => {
    const sids = await Promise.all([create(api()), create(api())]);
    for (const [name, input] of CALLS) {
      await Promise.all([
        output(api(), sids[0], name, input),
        output(api(), sids[1], 'create_shape', box('a', 0, 'x')),
      ]);
    }
    const [full, poor] = await Promise.all(sids.map((sid) => output(api(), sid, 'submit_diagram', {})));
    expect(full?.reward).toBe(await rewardOf(WHOLE));
    expect(poor?.reward).toBeLessThan(0.3);
  });

  test('calls of one session sent together all happen', async () => {
    const sid = await create(api());
    await Promise.all(CALLS.slice(0, 3).map(([name, input]) => output(api(), sid, name, input)));
    const { blocks } = await output(api(), sid, 'select', { ids: [] });
    expect(blocks[0]?.text).toContain('3 shape(s)');
  });

  test('equal episodes give equal answers', async () => {
    const texts = async (): Promise<string[]> => {
      const sid = await create(api());
      const answers: string[] = [];
      for (const [name, input] of [...CALLS, ['submit_diagram', {}]] as const) {
        answers.push((await stream(api(), sid, { name, input })).data);
      }
      return answers;
    };
    expect(await texts()).toEqual(await texts());
  });
});

overTransports('ORS calls sent again', (api) => {
  test('get the same answer and run nothing', async () => {
    const sid = await create(api());
    const first = await stream(api(), sid, { name: 'create_shape', input: CALLS[0]![1] });
    const again = await stream(api(), sid, { name: 'create_shape', input: CALLS[0]![1], task_id: first.task_id });
    expect(again).toEqual(first);
    const { blocks } = await output(api(), sid, 'select', { ids: [] });
    expect(blocks[0]?.text).toContain('1 shape(s)');
  });

  test('get the reward again', async () => {
    const sid = await create(api());
    const body = { name: 'answer', input: { completion: WHOLE } };
    const first = await stream(api(), sid, body);
    for (let i = 0; i < 3; i++) {
      expect(await stream(api(), sid, { ...body, task_id: first.task_id })).toEqual(first);
    }
  });

  test('after the client left in the middle get the answer too', async () => {
    const sid = await create(api());
    const body = { name: 'submit_diagram', input: { actions: ACTIONS } };
    const leave = new AbortController();
    const { url, fetch } = api();
    const headers = json(sid);
    const init = { method: 'POST', headers, body: JSON.stringify(body), signal: leave.signal };
    const response = await fetch(new Request(`${url}/call`, init));
    const reader = response.body!.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    const { value } = await reader.read();
    leave.abort();
    const { task_id } = readEvents(new TextDecoder().decode(value));
    const events = await stream(api(), sid, { ...body, task_id });
    expect((JSON.parse(events.data) as { output: Output }).output.reward).toBeGreaterThan(0.9);
    expect(await call(api(), sid, body.name, body.input)).toMatchObject({ reason: 'episode_finished' });
  });

  test('with an id that is unknown here, or of another session, are an error event', async () => {
    const [one, other] = [await create(api()), await create(api())];
    const { task_id } = await stream(api(), one, { name: 'select', input: { ids: [] } });
    for (const id of [task_id, 'zzz']) {
      const events = await stream(api(), other, { name: 'select', input: { ids: [] }, task_id: id });
      expect([events.names.at(-1), events.data]).toEqual(['error', 'unknown task_id']);
    }
  });
});

describe('ORS with limits', () => {
  const withOptions = (options: AppOptions): Api => {
    const app = createApp(options);
    return createApi('http://test', async (request) => app.fetch(request));
  };

  test('no place is free: 503 with a time to come back, until one is', async () => {
    const api = withOptions({ session_limits: { max_sessions: 2, idle_ms: 1000 } });
    const [first] = [await create(api), await create(api)];
    const refused = await api.post('/create', { split: 'train', index: 0 }, json('third'));
    expect([...codeOf(refused), refused.headers.get('retry-after')]).toEqual([503, 'overloaded', '5']);
    await api.post('/delete', {}, json(first));
    expect((await api.post('/create', { split: 'train', index: 0 }, json('third'))).status).toBe(200);
  });

  test('an episode that is over gives way to a new one where all places are taken, and is there until then', async () => {
    const api = withOptions({ session_limits: { max_sessions: 2, idle_ms: 1000 } });
    const [over, running] = [await create(api), await create(api)];
    await output(api, over, 'answer', { completion: WHOLE });
    expect((await api.post('/ping', {}, json(over))).status).toBe(200);
    await create(api);
    expect(codeOf(await api.post('/ping', {}, json(over)))).toEqual([404, 'unknown_session']);
    expect((await api.post('/ping', {}, json(running))).status).toBe(200);
  });

  test('a session ends when it was not used for so long; its place is free then', async () => {
    let now = 0;
    const limits = { max_sessions: 1, idle_ms: 900_000 };
    const keepers = { shared: createSharedKeeper(limits, () => now), ors: createOrsKeeper(limits, () => now) };
    const api = withOptions({ session_limits: limits, keepers });
    const sid = await create(api);
    await api.post('/delete', {}, json(sid));
    await api.post('/create', { split: 'train', index: 0 }, json(sid));
    now = 899_000;
    expect((await api.post('/ping', {}, json(sid))).status).toBe(200);
    now += 899_000;
    expect((await api.get('/prompt', json(sid))).status).toBe(200);
    now += 900_000;
    const gone = await api.post('/ping', {}, json(sid));
    expect(codeOf(gone)).toEqual([404, 'unknown_session']);
    expect((gone.json as ErrorBody).error.message).toContain('after 900 s');
    await create(api);
  });

  test('the answers of the last 16 calls are kept', async () => {
    const api = withOptions({});
    const sid = await create(api);
    const body = { name: 'select', input: { ids: [] } };
    const made: Events[] = [];
    for (let i = 0; i < 17; i++) made.push(await stream(api, sid, body));
    const again = async (i: number) => stream(api, sid, { ...body, task_id: made[i]!.task_id });
    expect(await again(1)).toEqual(made[1]);
    expect(await again(16)).toEqual(made[16]);
    expect((await again(0)).data).toBe('unknown task_id');
  });

  test('how many tasks train has is a setting', async () => {
    const api = withOptions({ ors: { train_tasks: 10 } });
    expect((await api.post('/num_tasks', { split: 'train' })).json).toEqual({ num_tasks: 10 });
    const { tasks } = (await api.post('/tasks', { split: 'train' })).json as { tasks: unknown[] };
    expect(tasks).toHaveLength(10);
    expect((await api.post('/num_tasks', { split: 'test_real' })).json).toEqual({ num_tasks: 44 });
  });

  test('a fault of the server is 503 without a reward, told to the log alone; the session is as before', async () => {
    const log: string[] = [];
    let isBroken = true;
    const breaking: typeof step = (request, signer) => {
      if (isBroken) throw new Error('password 1234');
      return step(request, signer);
    };
    const environment = { reset, step: breaking, reward, score, render };
    const api = withOptions({ environment, log: (entry) => log.push(entry) });
    const sid = await create(api);
    const body = { name: 'submit_diagram', input: { actions: ACTIONS } };
    const failed = await api.post('/call', body, json(sid));
    expect([...codeOf(failed), failed.headers.get('retry-after')]).toEqual([503, 'internal', '1']);
    expect(failed.text).not.toMatch(/1234|reward":/);
    expect(log.join()).toContain('password 1234');
    isBroken = false;
    expect((await output(api, sid, body.name, body.input)).reward).toBeGreaterThan(0.9);
  });

  test('a fault at the beginning is 503', async () => {
    const fail = (): never => {
      throw new Error('no');
    };
    const api = withOptions({ environment: { reset: fail, step, reward, score, render } });
    expect(codeOf(await api.post('/create', { split: 'train', index: 0 }, json('x')))).toEqual([503, 'internal']);
  });
});

describe('ORS with two processes', () => {
  let server: Awaited<ReturnType<typeof startServer>>;
  let api: Api;
  beforeAll(async () => {
    server = await startServer({ port: 0, workers: 2 });
    api = createApi(server.url, (request) => fetch(request));
  });
  afterAll(() => server.close());
  /** Together, so that each goes over a connection of its own, of which the processes get every other one. */
  const together = <T>(ask: () => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: 8 }, ask));

  test('a session is the same in both', async () => {
    const sid = await create(api);
    const pings = await together(() => api.post('/ping', {}, json(sid)));
    expect(pings.map(({ status }) => status)).toEqual(Array(8).fill(200));
    for (const [name, input] of CALLS) await output(api, sid, name, input);
    const last = await stream(api, sid, { name: 'submit_diagram', input: {} });
    expect((JSON.parse(last.data) as { output: Output }).output.reward).toBeGreaterThan(0.9);
    const again = await together(() => stream(api, sid, { name: 'submit_diagram', input: {}, task_id: last.task_id }));
    expect(again).toEqual(Array(8).fill(last));
    await api.post('/delete', {}, json(sid));
    const ended = await together(() => api.post('/ping', {}, json(sid)));
    expect(ended.map(codeOf)).toEqual(Array(8).fill([410, 'session_ended']));
  });

  test('calls that are sent together all happen, each with an id of its own', async () => {
    const sid = await create(api);
    let count = 0;
    const made = await together(() => {
      const input = box(`b${count++}`, 10 * count, 'x');
      return stream(api, sid, { name: 'create_shape', input });
    });
    expect(new Set(made.map(({ task_id }) => task_id)).size).toBe(8);
    expect((await output(api, sid, 'select', { ids: [] })).blocks[0]?.text).toContain('8 shape(s)');
  });

  test('one finished episode counts as one completion', async () => {
    const counts = async (): Promise<number[]> => {
      const texts = await together(async () => (await api.get('/metrics')).text);
      return texts.map((text) => Number(/completions_total\{preset="stronger"\} (\d+)/.exec(text)?.[1] ?? 0));
    };
    const sid = await create(api, { task_spec: { task_id: TASK_ID, reward: 'stronger' } });
    const first = await stream(api, sid, { name: 'answer', input: { completion: WHOLE } });
    await together(() => stream(api, sid, { name: 'answer', input: { completion: WHOLE }, task_id: first.task_id }));
    expect(Math.max(...(await counts()))).toBe(1);
  });
});

describe('arguments of tools', () => {
  const KEYWORDS =
    'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield self'.split(
      ' ',
    );
  test.each(TOOLS.map((tool) => [tool.name, tool] as const))('of %s are names in Python too', (name, tool) => {
    const names = [name, ...Object.keys(tool.input_schema['properties'] as object)];
    for (const word of names) {
      expect(word).toMatch(/^[A-Za-z_]\w*$/);
      expect(KEYWORDS).not.toContain(word);
    }
  });
});
