/** Sessions that several connections, or several processes, change. */
import { expect, test } from 'vitest';
import { createSessionKeeper, createSessionStore } from '../../server/protocols/sessions/store.ts';

const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.floor(Math.random() * 3)));

test('no change is lost, however slow the way to the keeper is', async () => {
  const keeper = createSessionKeeper<number>({ max_sessions: 10, idle_ms: 1000 }, () => 0);
  let conflicts = 0;
  const store = createSessionStore<number>(async (call) => {
    await later();
    const reply = keeper(call);
    await later();
    if (call.op === 'write' && !reply.ok) conflicts++;
    return reply;
  });
  await store.create('a', 0);
  const results = await Promise.all(
    Array.from({ length: 20 }, () => store.update('a', (value) => ({ value: value + 1, result: value }))),
  );
  expect(results.map((one) => one?.result).sort((x, y) => x! - y!)).toEqual(Array.from({ length: 20 }, (_, i) => i));
  expect(conflicts).toBeGreaterThan(0);
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
  const store = createSessionStore<string>(createSessionKeeper({ max_sessions: 2, idle_ms: 1000 }, () => time));
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
