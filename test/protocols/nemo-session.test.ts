/** A rollout of NeMo Gym while it goes on: tools, and the session in the cookie that an agent holds by hand. */
import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { deflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Action } from '../../schemas/action.ts';
import { createApp } from '../../server/app.ts';
import { createNemoKeeper, type Remembered } from '../../server/protocols/nemo-gym/session.ts';
import type { AskKeeper } from '../../server/protocols/sessions/store.ts';
import { createApi, overTransports, type Api } from '../http/support.ts';
import { GOOD, SOLUTION, TASK_ID, toCall } from './drawings.ts';
import {
  callItem,
  createRollout,
  drawByTools,
  messageItem,
  toResponse,
  toRow,
  type Rollout,
  type ToolAnswer,
} from './nemo-client.ts';

interface Verified {
  reward: number;
}

const SECRET = 'a secret of the replicas';

overTransports(
  'A session of NeMo Gym, signed',
  (api) => {
    test('a drawing by tools has the reward of the same drawing as text', async () => {
      const { rollout, items } = await drawByTools(api());
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
      ['deep nesting in a field', `{"id": ${'['.repeat(4000)}${']'.repeat(4000)}}`],
      ['far too long', `{"id": ${'['.repeat(2 ** 20)}${']'.repeat(2 ** 20)}}`],
    ])('bad arguments are told to the model: %s', async (_, text) => {
      const rollout = await createRollout(api(), toRow({ task_id: TASK_ID }));
      const answer = await rollout.send('create_shape', text);
      expect(answer.status).toBe(200);
      expect((answer.json as ToolAnswer).ok).toBe(false);
      expect(answer.headers.get('set-cookie')).toContain('canvas_gym_session=');
    });

    test('every answer sets the cookie, which is not Secure and less than 4096 bytes with its name', async () => {
      const { rollout } = await drawByTools(api());
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
      const { rollout } = await drawByTools(api(), SOLUTION.slice(0, 2));
      const moved = rollout.at(replica);
      expect((await moved.call('create_shape', toCall(SOLUTION[2]!).input)).message).toContain('3 shape(s)');
    });

    test('a cookie of another secret, and one that was changed, are refused', async () => {
      const stranger = createApp({ secret: 'quite another secret' });
      const { rollout } = await drawByTools(api(), SOLUTION.slice(0, 1));
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

    /** Calls of a client that always sends the cookie of /seed_session. */
    const callByFirstCookie = async (actions: readonly Action[], to: Api = api()) => {
      const { cookie, verify } = await createRollout(to, toRow({ task_id: TASK_ID }));
      const items: object[] = [];
      const answers: ToolAnswer[] = [];
      for (const { name, input } of actions.map(toCall)) {
        answers.push((await to.post(`/${name}`, input, { cookie })).json as ToolAnswer);
        items.push(callItem(name, input));
      }
      return { answers, verify: async () => (await verify(toResponse(items))).json as Verified };
    };

    test.each([
      ['an arrow drawn twice', [...SOLUTION, SOLUTION.at(-1)!]],
      ['a shape drawn twice', [SOLUTION[0]!, SOLUTION[0]!, SOLUTION[1]!]],
      ['a shape drawn, deleted, drawn', [SOLUTION[0]!, { type: 'delete_shape', id: 'a' } as const, SOLUTION[0]!]],
    ])('a client that keeps the first cookie is told what it is scored by: %s', async (_, actions) => {
      const kept = await callByFirstCookie(actions);
      const { call, verify } = await createRollout(api(), toRow({ task_id: TASK_ID }));
      const told: ToolAnswer[] = [];
      for (const { name, input } of actions.map(toCall)) told.push(await call(name, input));
      expect(kept.answers).toEqual(told);
      const items = actions.map(toCall).map(({ name, input }) => callItem(name, input));
      expect((await kept.verify()).reward).toBe(((await verify(toResponse(items))).json as Verified).reward);
    });

    test('a call that is sent again with the same cookie is taken once', async () => {
      const { rollout } = await drawByTools(api(), SOLUTION.slice(0, 3));
      const { name, input } = toCall(SOLUTION[3]!);
      const { cookie } = rollout;
      const first = await api().post(`/${name}`, input, { cookie });
      const again = await api().post(`/${name}`, input, { cookie });
      expect([again.text, again.headers.get('set-cookie')]).toEqual([first.text, first.headers.get('set-cookie')]);
      expect((again.json as ToolAnswer).message).toContain('3 shape(s) and 1 arrow(s)');
    });

    test('the first call sent again leaves the canvas as it is, and a submission has the same answer', async () => {
      const { cookie } = await createRollout(api(), toRow({ task_id: TASK_ID }));
      const { name, input } = toCall(SOLUTION[0]!);
      for (const ok of [true, false]) {
        const answer = (await api().post(`/${name}`, input, { cookie })).json as ToolAnswer;
        expect([answer.ok, answer.message]).toEqual([ok, expect.stringContaining('1 shape(s)') as string]);
      }
      const submit = async () => api().post('/submit_diagram', { actions: SOLUTION.slice(1) }, { cookie });
      const first = await submit();
      expect(first.json).toMatchObject({ ok: true, done: true });
      expect((await submit()).text).toBe(first.text);
    });

    test('where memory is full, the rollout that was not seen for longest is forgotten', async () => {
      const app = createApp({ session_limits: { max_sessions: 2, idle_ms: 60_000 } });
      const small = createApi('http://small', async (request) => app.fetch(request));
      const shapes = async (cookie: string, action: Action): Promise<string> => {
        const { name, input } = toCall(action);
        return ((await small.post(`/${name}`, input, { cookie })).json as ToolAnswer).message.slice(17, 25);
      };
      const [a, b, c] = [
        await createRollout(small, toRow({ task_id: TASK_ID })),
        await createRollout(small, toRow({ task_id: TASK_ID })),
        await createRollout(small, toRow({ task_id: TASK_ID })),
      ].map(({ cookie }) => cookie) as [string, string, string];
      expect(await shapes(b, SOLUTION[0]!)).toBe('1 shape(');
      expect(await shapes(a, SOLUTION[0]!)).toBe('1 shape(');
      expect(await shapes(a, SOLUTION[1]!)).toBe('2 shape(');
      for (const [i, action] of SOLUTION.slice(0, 3).entries()) expect(await shapes(c, action)).toBe(`${i + 1} shape(`);
      expect(await shapes(a, SOLUTION[2]!)).toBe('3 shape(');
      expect(await shapes(b, SOLUTION[1]!)).toBe('1 shape(');
    });

    test('processes that ask one keeper know what the others drew, also by calls at once', async () => {
      const keeper = createNemoKeeper({ max_sessions: 9, idle_ms: 60_000 }, () => 0);
      const ask: AskKeeper<Remembered> = async (call) => {
        await setTimeout(1);
        return keeper(call);
      };
      const processes = [1, 2].map(() => {
        const app = createApp({ keepers: { nemo: ask } });
        return createApi('http://worker', async (request) => app.fetch(request));
      });
      const { cookie } = await createRollout(processes[0]!, toRow({ task_id: TASK_ID }));
      const call = async (action: Action, at: number): Promise<string> => {
        const { name, input } = toCall(action);
        return ((await processes[at % 2]!.post(`/${name}`, input, { cookie })).json as ToolAnswer).message;
      };
      await Promise.all(SOLUTION.slice(0, 3).map(call));
      await call(SOLUTION[3]!, 0);
      expect(await call(SOLUTION[4]!, 1)).toContain('3 shape(s) and 2 arrow(s)');
    });

    test('a rollout that is idle for longer than sessions may be is forgotten', async () => {
      const app = createApp({ session_limits: { max_sessions: 2, idle_ms: 1 } });
      const hasty = createApi('http://hasty', async (request) => app.fetch(request));
      const { cookie } = await createRollout(hasty, toRow({ task_id: TASK_ID }));
      for (const action of SOLUTION.slice(0, 2)) {
        const { json } = await hasty.post('/create_shape', toCall(action).input, { cookie });
        expect((json as ToolAnswer).message).toContain('1 shape(s)');
        await setTimeout(3);
      }
    });

    test('arguments of a megabyte are refused, and nothing of them is kept', async () => {
      setFlagsFromString('--expose-gc');
      const collect = runInNewContext('gc') as () => void;
      const used = (): number => {
        collect();
        return process.memoryUsage().heapUsed;
      };
      const before = used();
      const rollouts: Rollout[] = [];
      for (let i = 0; i < 60; i++) {
        const rollout = await createRollout(api(), toRow({ task_id: TASK_ID }));
        const { status, json } = await rollout.send('create_shape', `${i} ${'z'.repeat(2 ** 20)}`);
        expect([status, (json as ToolAnswer).ok]).toEqual([200, false]);
        expect((json as ToolAnswer).message).toContain('at most 10000 characters');
        rollouts.push(rollout);
      }
      expect(used() - before).toBeLessThan(20 * 2 ** 20);
      for (const { call } of rollouts) expect((await call('select', { ids: [] })).done).toBe(false);
    });

    test('a label that compresses well does not break the cookie', async () => {
      const rollout = await createRollout(api(), toRow({ task_id: TASK_ID }));
      const box = { shape: 'rectangle', x: 0, y: 0, w: 90, h: 50, text: 'z'.repeat(9000) };
      const oks: boolean[] = [];
      for (let i = 0; i < 40; i++) oks.push((await rollout.call('create_shape', { id: `b${i}`, ...box })).ok);
      expect(oks.slice(0, 3)).toEqual([true, true, true]);
      expect(oks.at(-1)).toBe(false);
    });

    test('a tool that a model made up is a 404 that tells the others, and the session goes on', async () => {
      const { rollout } = await drawByTools(api(), SOLUTION.slice(0, 1));
      const before = rollout.cookie;
      const answer = await rollout.send('paint', '{}');
      expect([answer.status, answer.text]).toEqual([404, expect.stringContaining('create_shape, connect')]);
      expect(rollout.cookie).toBe(before);
      expect((await rollout.call('create_shape', toCall(SOLUTION[1]!).input)).message).toContain('2 shape(s)');
    });

    test.each([
      ['a route of ours, refused', '/render', 422],
      ['a route of ours, answered', '/health', 405],
      ['a route of ours that takes it', '/reset', 200],
      ['too large', `/create_shape`, 413],
    ])('a model that calls what is no tool keeps its session: %s', async (_, path, status) => {
      const { rollout } = await drawByTools(api(), SOLUTION.slice(0, 1));
      const before = rollout.cookie;
      const answer = await rollout.send(path.slice(1), status === 413 ? ' '.repeat(33 * 2 ** 20) : '{}');
      expect([answer.status, rollout.cookie]).toEqual([status, before]);
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
