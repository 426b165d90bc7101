/** What a process holds of request bodies together: beyond it 503, and room again whatever became of a request. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../server/app.ts';
import { score, reward } from '../../server/grade.ts';
import { reset, step } from '../../server/episode.ts';
import { startServer } from '../../server/main.ts';
import { render } from '../../server/render/index.ts';
import { createApi } from './support.ts';

const LIMIT = 2 ** 20;
/** A body of nearly so many bytes. */
const padded = (bytes: number): string =>
  JSON.stringify({ prompts: ['a cat'], completions: ['x'], context: { note: ['-'.repeat(bytes - 100)] } });
const LARGE = padded(LIMIT);

describe('a server', () => {
  let server: Awaited<ReturnType<typeof startServer>>;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    server = await startServer({ port: 0, max_body: LIMIT, max_batch_body: LIMIT, score_threads: 0 });
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await server.close();
  });

  /** Sends the head and the half of a large body. */
  async function halfWay(path: string, framing: string): Promise<Socket> {
    const socket = connect(server.port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\n${framing}\r\n\r\n`);
    if (framing.startsWith('transfer')) socket.write(`${(LIMIT / 2).toString(16)}\r\n`);
    socket.write(LARGE.slice(0, LIMIT / 2));
    return socket;
  }
  const post = (path: string, body: string) => fetch(`${server.url}${path}`, { method: 'POST', body });

  /** Whether there is room for a large body; asked until the server has seen what came before. */
  async function hasRoom(expected: boolean): Promise<boolean> {
    for (let tried = 0; tried < 100; tried++) {
      const { status, headers } = await post('/score', LARGE);
      expect([status, headers.get('retry-after')]).toEqual(status === 200 ? [200, null] : [503, '1']);
      if ((status === 200) === expected) return expected;
      await sleep(20);
    }
    return !expected;
  }

  test.each([
    ['of announced size', '/score', `content-length: ${LARGE.length}`, 4],
    ['read another way', '/score?', `content-length: ${LARGE.length}`, 4],
    ['of a path that takes small ones too', '/verify', `content-length: ${LARGE.length}`, 4],
    ['of unknown size, as far as they are there', '/score', 'transfer-encoding: chunked', 7],
  ])(
    'large bodies %s fill it; small ones pass, and clients that go away make room',
    async (_, path, framing, count) => {
      const waiting = await Promise.all(Array.from({ length: count }, () => halfWay(path, framing)));
      expect(await hasRoom(false)).toBe(false);
      expect((await post('/score', padded(1000))).status).toBe(200);
      for (const socket of waiting) socket.destroy();
      expect(await hasRoom(true)).toBe(true);
    },
  );

  test('bodies that were answered, taken or refused, leave nothing behind', async () => {
    for (let i = 0; i < 6; i++) {
      expect((await post('/score', LARGE)).status).toBe(200);
      expect((await post('/score', `${LARGE.slice(0, -1)},`)).status).toBe(400);
      expect((await post('/score?', LARGE)).status).toBe(200);
      expect((await post('/score', `${LARGE}${LARGE}`)).status).toBe(413);
    }
    expect(await hasRoom(true)).toBe(true);
  });
});

test('a body is held until its answer is made', async () => {
  let finish!: () => void;
  const waits = new Promise<void>((done) => (finish = done));
  const slow: typeof score = async (...request) => {
    await waits;
    return score(...request);
  };
  const environment = { reset, step, reward, score: slow, render };
  const app = createApp({ environment, body_limits: { body: LIMIT, batch: LIMIT } });
  const api = createApi('http://test', async (request) => app.fetch(request));
  const send = async () => (await api.post('/score', LARGE)).status;
  const running = Array.from({ length: 4 }, send);
  await sleep(50);
  expect(await send()).toBe(503);
  finish();
  expect(await Promise.all(running)).toEqual([200, 200, 200, 200]);
  expect(await send()).toBe(200);
});
