/** Sessions that several connections, or several processes, change. */
import { describe, expect, test } from 'vitest';
import { reset, step } from '../../server/episode.ts';
import { createSharedKeeper, createSharedSessions, releaseSockets } from '../../server/protocols/sessions/shared.ts';
import { createSessionKeeper, createSessionStore } from '../../server/protocols/sessions/store.ts';
import { callSessionTool, startSession, type EnvSession } from '../../server/protocols/tools/held-episode.ts';

/** In an order that mixes calls up, and the same in each run. */
const WAITS_MS = [2, 0, 1, 0, 2, 1, 1];
let waited = 0;
const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, WAITS_MS[waited++ % WAITS_MS.length]));

test('no change is lost, whichever process makes it and however slow the way to the keeper is', async () => {
  const keeper = createSessionKeeper<number>({ max_sessions: 10, idle_ms: 1000 }, () => 0);
  let conflicts = 0;
  const createProcess = () =>
    createSessionStore<number>(async (call) => {
      await later();
      const reply = keeper(call);
      await later();
      if (call.op === 'write' && !reply.ok) conflicts++;
      return reply;
    });
  const processes = [createProcess(), createProcess()];
  await processes[0]!.create('a', 0);
  const results = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      processes[i % 2]!.update('a', (value) => ({ value: value + 1, result: value })),
    ),
  );
  expect(results.map((one) => one?.result).sort((x, y) => x! - y!)).toEqual(Array.from({ length: 20 }, (_, i) => i));
  expect(conflicts).toBeGreaterThan(0);
});

describe('changes of one process', () => {
  const createHere = async () => {
    const store = createSessionStore<number>(createSessionKeeper<number>({ max_sessions: 10, idle_ms: 1000 }, () => 0));
    await store.create('a', 0);
    await store.create('b', 0);
    return store;
  };

  test('are made once each, in order, and other work has its turn between them', async () => {
    const store = await createHere();
    let made = 0;
    let turns = 0;
    const count = setInterval(() => turns++, 0);
    const slow = (value: number) => {
      made++;
      const start = performance.now();
      while (performance.now() - start < 3);
      return { value: value + 1, result: value };
    };
    const results = await Promise.all(Array.from({ length: 50 }, () => store.update('a', slow)));
    clearInterval(count);
    expect(results.map((one) => one?.result)).toEqual(Array.from({ length: 50 }, (_, i) => i));
    expect(made).toBe(50);
    expect(turns).toBeGreaterThan(40);
  });

  test('one that fails holds up no other, and its error is told', async () => {
    const store = await createHere();
    const failing = store.update('a', () => {
      throw new Error('broken');
    });
    const next = store.update('a', (value) => ({ value: value + 1, result: value }));
    await expect(failing).rejects.toThrow('broken');
    expect(await next).toEqual({ result: 0 });
  });

  test('those of another session do not wait', async () => {
    const store = await createHere();
    const order: string[] = [];
    const note = (id: string) => store.update(id, (value) => ({ value, result: order.push(id) }));
    await Promise.all([note('a'), note('a'), note('b')]);
    expect(order).toEqual(['a', 'b', 'a']);
  });
});

test('a session that ends while it is changed is gone', async () => {
  const keeper = createSessionKeeper<number>({ max_sessions: 10, idle_ms: 1000 }, () => 0);
  const store = createSessionStore<number>(keeper);
  await store.create('a', 0);
  const updated = await store.update('a', (value) => {
    keeper({ op: 'delete', id: 'a' });
    return { value: value + 1, result: true };
  });
  expect(updated).toBeUndefined();
  expect(await store.count()).toEqual({ active: 0, max: 10 });
});

test('places are bounded, and those of idle sessions are given again', async () => {
  let time = 0;
  const store = createSessionStore<string>(createSessionKeeper<string>({ max_sessions: 2, idle_ms: 1000 }, () => time));
  expect([await store.create('a', ''), await store.create('b', ''), await store.create('c', '')]).toEqual([
    true,
    true,
    false,
  ]);
  time = 900;
  expect(await store.update('a', (value) => ({ value, result: 1 }))).toEqual({ result: 1 });
  time = 1500;
  expect(await store.create('c', '')).toBe(true);
  expect(await store.delete('b')).toBe(false);
  expect(await store.delete('a')).toBe(true);
});

describe('sessions that a web socket may hold', () => {
  const ENVIRONMENT = { reset, step };
  const createShared = (max_sessions: number) => {
    const keeper = createSharedKeeper({ max_sessions, idle_ms: 1000 }, () => 0);
    return { keeper, shared: createSharedSessions(keeper) };
  };
  const begun = () => startSession({ prompt: 'a box' }, ENVIRONMENT).session;
  const become = (episode: EnvSession) => () => ({ episode, result: true });

  test('where all places are taken, one without an episode gives way, that of longest ago first', async () => {
    const { shared } = createShared(3);
    for (const id of ['a', 'b', 'c']) await shared.create(id);
    await shared.update('a', become(begun()));
    await shared.touch('b');
    expect(await shared.create('d')).toBe(true);
    expect([await shared.touch('a'), await shared.touch('b'), await shared.touch('c')]).toEqual([true, true, false]);
  });

  test('one whose drawing is submitted gives way too', async () => {
    const { shared } = createShared(1);
    await shared.create('a');
    await shared.update('a', become(begun()));
    expect(await shared.create('b')).toBe(false);
    const over = callSessionTool(begun(), 'submit_diagram', {}, ENVIRONMENT).session;
    await shared.update('a', become(over));
    expect(await shared.create('b')).toBe(true);
  });

  test('one that a web socket holds does not', async () => {
    const { shared } = createShared(1);
    await shared.create('a');
    await shared.attach('a', 'socket');
    expect(await shared.create('b')).toBe(false);
    await shared.detach('a', 'socket');
    expect(await shared.create('b')).toBe(true);
  });

  test('those of a process that ended are free, or end where they were to end with their socket', async () => {
    const { keeper, shared } = createShared(10);
    for (const id of ['a', 'b', 'c']) await shared.create(id);
    await shared.update('a', become(begun()));
    for (const id of ['a', 'b']) expect(await shared.attach(id, `of ${id}`)).toBe('attached');
    expect(await shared.close('b')).toBe('closing');
    releaseSockets(keeper, process.pid + 1);
    expect(await shared.attach('a', 'next')).toBe('taken');
    releaseSockets(keeper, process.pid);
    expect(await shared.attach('a', 'next')).toBe('attached');
    expect(await shared.update('a', (episode) => ({ episode, result: episode.state?.turn }))).toEqual({ result: 0 });
    expect([await shared.touch('b'), await shared.touch('c')]).toEqual([false, true]);
  });
});
