/** NeMo Gym's Gymnasium protocol: one response is one turn, and the rewards an agent adds up are the environment's. */
import { expect, test } from 'vitest';
import { createApp } from '../../server/app.ts';
import { reset, step } from '../../server/episode.ts';
import { reward, score } from '../../server/grade.ts';
import { render } from '../../server/render/index.ts';
import { createApi, overTransports, type Answer } from '../http/support.ts';
import { NOT_SLOW_MS } from '../tools/not-slow.ts';
import { GOOD, INLINE, POOR, PROMPT, PROSE, SOLUTION, TASK_ID, toCall, ZEBRA } from './drawings.ts';
import { callItem, messageItem, toResponse, toRow } from './nemo-client.ts';

const SECRET = 'a secret of the replicas';

interface Stepped {
  observation: string | null;
  reward: number;
  terminated: boolean;
  truncated: boolean;
  info: Record<string, unknown> & { tool_outputs?: { call_id: string; output: string }[] };
}

const pairOf = ({ headers }: Answer): string => headers.get('set-cookie')!.split(';')[0]!;

overTransports(
  'NeMo Gym’s Gymnasium protocol',
  (api) => {
    /** Plays responses in turn; the answers of reset and of each step. */
    const play = async (row: object, responses: readonly (readonly unknown[])[]): Promise<[Answer, ...Answer[]]> => {
      const answers: [Answer, ...Answer[]] = [await api().post('/nemo-gym/reset', row)];
      for (const items of responses) {
        const headers = { 'content-type': 'application/json', cookie: pairOf(answers.at(-1)!) };
        answers.push(await api().post('/nemo-gym/step', { ...row, response: toResponse(items) }, headers));
      }
      return answers;
    };

    test('an episode of one turn', async () => {
      const [first, last] = await play(toRow({ task_id: TASK_ID }), [[messageItem(GOOD)]]);
      expect(first.json).toEqual({ observation: null, info: {} });
      const { reward } = await api().client.reward({ task_id: TASK_ID, completion: GOOD });
      expect(last!.json).toMatchObject({ observation: null, reward, terminated: true, truncated: false });
    });

    test('where the row asks nothing, the observation is the task', async () => {
      const [first] = await play({ responses_create_params: { input: [] }, task_id: TASK_ID }, []);
      expect(first.json).toEqual({ observation: PROMPT, info: {} });
    });

    test('an episode of several turns: the rewards add up to those of the environment', async () => {
      const actions = SOLUTION.map((action) => [messageItem(JSON.stringify({ actions: [action] }))]);
      const end = [messageItem('{"actions": [{"type": "done"}]}')];
      const [, ...steps] = await play(toRow({ task_id: TASK_ID, max_turns: 20 }), [...actions, end]);
      const answers = steps.map(({ json }) => json as Stepped);
      expect(answers.map(({ terminated }) => terminated)).toEqual([...actions.map(() => false), true]);
      expect(answers[0]!.observation).toContain('The canvas: {"shapes":[{');
      const { reward } = await api().client.reward({ task_id: TASK_ID, completion: GOOD });
      const sum = answers.reduce((total, answer) => total + answer.reward, 0);
      expect(sum).toBeCloseTo(reward - 0.01 * answers.length, 10);
    });

    test('the last allowed turn truncates', async () => {
      const [, , last] = await play(toRow({ task_id: TASK_ID, max_turns: 2 }), [
        [messageItem(PROSE)],
        [messageItem(PROSE)],
      ]);
      expect(last!.json).toMatchObject({ terminated: false, truncated: true, info: { stop_reason: 'max_steps' } });
    });

    test('function calls of a response are one turn, and each has its own output', async () => {
      const calls = SOLUTION.map((action, i) => ({
        ...callItem(toCall(action).name, toCall(action).input),
        call_id: `c${i}`,
      }));
      const odd = [
        { ...callItem('connect', { from_id: 'x', to_id: 'y' }), call_id: 'bad' },
        { ...callItem('paint', {}), call_id: 'no' },
      ];
      const [, step] = await play(toRow({ task_id: TASK_ID, max_turns: 3 }), [[...calls, ...odd]]);
      const { info, observation } = step!.json as Stepped;
      expect(info.tool_outputs).toEqual([
        ...calls.map((_, i) => ({ call_id: `c${i}`, output: 'ok' })),
        { call_id: 'bad', output: expect.stringContaining('does not exist') as string },
        { call_id: 'no', output: 'no tool paint' },
      ]);
      expect(observation).toContain('"from":');
    });

    /** A shape whose label no cookie carries. */
    const label = Array.from({ length: 5000 }, (_, i) => String.fromCodePoint(0x4e00 + ((i * 7919) % 20_000))).join('');
    const large = { type: 'create_shape', id: 'l', shape: 'rectangle', x: 1, y: 1, w: 99, h: 50, text: label };
    const say = (...actions: object[]) => [messageItem(JSON.stringify({ actions }))];

    test.each(['core', 'editor'])(
      'a turn that would fill the canvas beyond what a cookie carries is used up and changes nothing: %s',
      async (action_set) => {
        const row = toRow({ task_id: TASK_ID, max_turns: 5, action_set });
        const [, ...steps] = await play(row, [say(SOLUTION[0]!), say(large), say(SOLUTION[1]!)]);
        const [first, second, third] = steps.map(({ json }) => json as Stepped) as [Stepped, Stepped, Stepped];
        expect(second).toMatchObject({ terminated: false, truncated: false, info: { stop_reason: null } });
        expect(second.reward).toBeCloseTo(-0.01, 10);
        expect(second.observation).toContain('Not taken');
        expect(second.observation!.split('The canvas: ')[1]).toBe(first.observation!.split('The canvas: ')[1]);
        const completion = JSON.stringify({ actions: SOLUTION.slice(0, 2) });
        const { reward } = await api().client.reward({ task_id: TASK_ID, completion });
        expect(first.reward + second.reward + third.reward).toBeCloseTo(reward - 0.03, 10);
      },
    );

    test('turns that are not taken end the episode like others, and their calls are answered', async () => {
      const { type: name, ...input } = large;
      const calls = [SOLUTION[0]!, large].map((action, i) => ({ ...callItem(action.type, action), call_id: `c${i}` }));
      const items = [...calls.slice(0, 1), { ...callItem(name, input), call_id: 'c1' }, callItem('paint', {})];
      const [, first, second] = await play(toRow({ task_id: TASK_ID, max_turns: 2 }), [items, say(SOLUTION[0]!)]);
      const outputs = (first!.json as Stepped).info.tool_outputs!.map(({ output }) => output);
      expect(outputs).toEqual([...Array<unknown>(2).fill(expect.stringContaining('Not taken')), 'no tool paint']);
      expect((first!.json as Stepped).info).toMatchObject({ stop_reason: null, 'reward/structure': 0 });
      expect(second!.json).toMatchObject({ observation: null, truncated: true, info: { stop_reason: 'max_steps' } });
    });

    const nested = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
    test.each([
      ['arguments', [{ ...callItem('create_shape', {}), arguments: nested }]],
      ['arguments of a submission', [{ ...callItem('submit_diagram', {}), arguments: `{"actions": ${nested}}` }]],
      [
        'one of several calls',
        [callItem('select', {}), { ...callItem('connect', {}), arguments: `{"from": ${nested}}` }],
      ],
      ['a tool that is not ours', [{ ...callItem('paint', {}), arguments: nested }]],
      ['text', [messageItem(`{"actions": ${nested}}`)]],
    ])('what a model nests too deep is a bad turn and no error: %s', async (_, items) => {
      const row = toRow({ task_id: TASK_ID, max_turns: 3 });
      const [, step] = await play(row, [items]);
      expect([step!.status, step!.json], step!.text).toMatchObject([200, { reward: -0.01, terminated: false }]);
      const { status, json } = await api().post('/verify', { ...row, response: toResponse(items) });
      expect([status, json]).toMatchObject([200, { reward: 0 }]);
    });

    test.each([
      ['text that is no JSON', '{"from_id": '],
      ['a number', '3'],
      ['null', 'null'],
      ['no arguments', ''],
    ])('a call with arguments that are %s takes no other call with it', async (_, text) => {
      const calls = SOLUTION.map((action) => callItem(toCall(action).name, toCall(action).input));
      const bad = { ...callItem('connect', {}), arguments: text };
      const [, step] = await play(toRow({ task_id: TASK_ID, max_turns: 3 }), [[calls[0]!, bad, ...calls.slice(1)]]);
      const { info, reward } = step!.json as Stepped;
      const outputs = info.tool_outputs!.map(({ output }) => output);
      expect(outputs.map((output) => output === 'ok')).toEqual([true, false, ...calls.slice(1).map(() => true)]);
      expect(reward).toBeGreaterThan(0.5);
    });

    test('an inline task comes with every row; the cookie does not hold it', async () => {
      const [first, step] = await play(toRow({ task: INLINE }), [[messageItem(ZEBRA)]]);
      expect((step!.json as Stepped).reward).toBeGreaterThan(0.9);
      expect(pairOf(first).length).toBeLessThan(500);
    });

    test.each([
      ['in the middle', 5],
      ['that was the last', 1],
    ])('a turn %s that is sent again with the same cookie is played once', async (_, max_turns) => {
      const row = toRow({ task_id: TASK_ID, max_turns });
      const [first] = await play(row, []);
      const headers = { 'content-type': 'application/json', cookie: pairOf(first) };
      const body = { ...row, response: toResponse([messageItem(POOR)]) };
      const [once, again, third] = [
        await api().post('/nemo-gym/step', body, headers),
        await api().post('/nemo-gym/step', body, headers),
        await api().post('/nemo-gym/step', body, headers),
      ];
      expect([again.status, again.text, pairOf(again)]).toEqual([200, once.text, pairOf(once)]);
      expect([third.status, third.text]).toEqual([200, once.text]);
    });

    test('another server with the same secret answers a repeated turn alike', async () => {
      const app = createApp({ secret: SECRET });
      const other = createApi('http://other', async (request) => app.fetch(request));
      const row = toRow({ task_id: TASK_ID, max_turns: 5 });
      const [first, once] = await play(row, [[messageItem(POOR)]]);
      const headers = { 'content-type': 'application/json', cookie: pairOf(first) };
      const again = await other.post('/nemo-gym/step', { ...row, response: toResponse([messageItem(POOR)]) }, headers);
      expect([again.text, pairOf(again)]).toEqual([once!.text, pairOf(once!)]);
    });

    test('a turn of many megabytes of calls is refused', async () => {
      const arguments_ = { actions: Array.from({ length: 400_000 }, () => ({ type: 'done' })) };
      const start = performance.now();
      const [, step] = await play(toRow({ task_id: TASK_ID }), [[callItem('submit_diagram', arguments_)]]);
      expect((step!.json as Stepped).reward).toBe(0);
      expect(performance.now() - start).toBeLessThan(NOT_SLOW_MS);
    });

    test('a step after the end is refused, and so is one without a session', async () => {
      const row = toRow({ task_id: TASK_ID });
      const [, last] = await play(row, [[messageItem(PROSE)]]);
      const body = { ...row, response: toResponse([messageItem(GOOD)]) };
      const headers = { 'content-type': 'application/json', cookie: pairOf(last!) };
      expect((await api().post('/nemo-gym/step', body, headers)).status).toBe(409);
      expect((await api().post('/nemo-gym/step', body)).json).toMatchObject({ error: { path: 'cookie' } });
    });

    test('refusals carry the session on', async () => {
      const row = toRow({ task_id: TASK_ID });
      const [first, last] = await play(row, [[messageItem(PROSE)]]);
      const refused: [number, Answer, object, string][] = [
        [409, last!, row, '/nemo-gym/step'],
        [404, first, { ...row, task_id: 'train.nosuch.1.1' }, '/nemo-gym/step'],
        [404, first, { ...row, task_id: 'train.nosuch.1.1' }, '/verify'],
        [422, first, { responses_create_params: {}, task: 5 }, '/seed_session'],
      ];
      for (const [status, before, sent, path] of refused) {
        const headers = { 'content-type': 'application/json', cookie: pairOf(before) };
        const answer = await api().post(path, { ...sent, response: toResponse([messageItem(GOOD)]) }, headers);
        expect([answer.status, pairOf(answer)], answer.text).toEqual([status, pairOf(before)]);
        expect(answer.json).toMatchObject({ error: { path: expect.stringMatching(/^body/) as string } });
      }
    });

    test('close answers with nothing, with a session and without', async () => {
      const [first] = await play(toRow({ task_id: TASK_ID }), []);
      const headers = { 'content-type': 'application/json', cookie: pairOf(first) };
      expect((await api().post('/nemo-gym/close', {}, headers)).json).toEqual({});
      expect((await api().post('/nemo-gym/close', {})).json).toEqual({});
    });
  },
  { secret: SECRET },
);

test('a turn that the server failed on is 503 with Retry-After and the session, and can be taken again', async () => {
  const log: string[] = [];
  let isBroken = true;
  const breaking: typeof step = (...args) => {
    if (isBroken) throw new Error('password 1234');
    return step(...args);
  };
  const environment = { reset, step: breaking, reward, score, render };
  const app = createApp({ environment, log: (entry) => log.push(entry) });
  const api = createApi('http://test', async (request) => app.fetch(request));
  for (const [begin, path, body] of [
    [
      '/nemo-gym/reset',
      '/nemo-gym/step',
      { ...toRow({ task_id: TASK_ID }), response: toResponse([messageItem(GOOD)]) },
    ],
    ['/seed_session', '/create_shape', toCall(SOLUTION[0]!).input],
    ['/seed_session', '/verify', { ...toRow({ task_id: TASK_ID }), response: toResponse([callItem('select', {})]) }],
  ] as const) {
    const cookie = pairOf(await api.post(begin, toRow({ task_id: TASK_ID })));
    isBroken = true;
    const failed = await api.post(path, body, { cookie });
    expect([failed.status, failed.headers.get('retry-after'), pairOf(failed)]).toEqual([503, '1', cookie]);
    expect([log.pop(), log.length]).toEqual([expect.stringContaining('1234'), 0]);
    isBroken = false;
    expect((await api.post(path, body, { cookie: pairOf(failed) })).status).toBe(200);
  }
});
