/** What only a socket shows: clients that hang up, are slow or speak no HTTP, and how a server ends. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../clients/ts/index.ts';
import { createApp } from '../../server/app.ts';
import { startServer } from '../../server/main.ts';
import { ROOT } from '../rules/files.ts';

type Server = Awaited<ReturnType<typeof startServer>>;

const STEP = JSON.stringify({ prompt: 'Draw Alpha', action: '{"actions":[]}' });

function request(body: string, { length = Buffer.byteLength(body), path = '/step' } = {}): string {
  return `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${body}`;
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** All that the server says until it closes the connection. */
async function readAll(socket: Socket): Promise<string> {
  let said = '';
  socket.on('data', (chunk: Buffer) => (said += chunk.toString()));
  if (!socket.closed) await once(socket, 'close');
  return said;
}

interface Refusal {
  status: number;
  type: string | undefined;
  code: string;
}

function toRefusal(said: string): Refusal {
  const [head = '', body = ''] = said.split('\r\n\r\n');
  const { error } = JSON.parse(body) as { error: { code: string } };
  const type = /content-type: (\S+)/i.exec(head)?.[1];
  return { status: Number(/^HTTP\/1.1 (\d+)/.exec(head)?.[1]), type, code: error.code };
}

const isAlive = async (server: Server): Promise<boolean> => (await fetch(`${server.url}/health`)).ok;

describe('rough clients', () => {
  let server: Server;
  const faults: unknown[] = [];
  const note = (error: unknown): void => void faults.push(error);

  beforeAll(async () => {
    process.on('unhandledRejection', note);
    process.on('uncaughtException', note);
    server = await startServer({ port: 0, request_timeout: 1, max_body: 4096 });
  });
  afterAll(async () => {
    await server.close();
    process.off('unhandledRejection', note);
    process.off('uncaughtException', note);
    expect(faults).toEqual([]);
  });

  test.each([
    ['a body that is too slow', request(STEP.slice(0, 9), { length: STEP.length }), 408, 'body_timeout'],
    ['headers that never end', 'POST /step HTTP/1.1\r\nhost: x\r\n', 408, 'body_timeout'],
    [
      'headers that are too large',
      `GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
      431,
      'headers_too_large',
    ],
    ['what is no HTTP', 'hello there\r\n\r\n', 400, 'bad_http'],
    [
      'two lengths',
      'POST /step HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}',
      400,
      'bad_http',
    ],
    ['a host that is none', 'GET /health HTTP/1.1\r\nhost: a b\r\nconnection: close\r\n\r\n', 400, 'bad_http'],
    [
      'a chunked body that is too large',
      `POST /step HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n1388\r\n${'x'.repeat(5000)}\r\n0\r\n\r\n`,
      413,
      'body_too_large',
    ],
    ['a body announced too large', request('', { length: 5000 }), 413, 'body_too_large'],
  ])('%s', async (_, sent, status, code) => {
    const socket = await open(server.port);
    const said = readAll(socket);
    socket.write(sent);
    expect(toRefusal(await said)).toEqual({ status, type: 'application/json', code });
    expect(await isAlive(server)).toBe(true);
  });

  test('a body cut short by a client that still listens', async () => {
    const socket = await open(server.port);
    const said = readAll(socket);
    socket.end(request(STEP.slice(0, 9), { length: STEP.length }));
    expect(toRefusal(await said)).toEqual({ status: 400, type: 'application/json', code: 'body_cut' });
  });

  test('a body in pieces is the same as a whole one, wherever it is cut (B18)', async () => {
    const whole = await (await fetch(`${server.url}/step`, { method: 'POST', body: STEP })).text();
    const head = 'POST /step HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n';
    for (const size of [1, 5, 7]) {
      const socket = await open(server.port);
      const said = readAll(socket);
      socket.write(head);
      for (let at = 0; at < STEP.length; at += size) {
        const piece = STEP.slice(at, at + size);
        socket.write(`${piece.length.toString(16)}\r\n${piece}\r\n`);
        await sleep(0);
      }
      socket.write('0\r\n\r\n');
      expect((await said).endsWith(whole)).toBe(true);
    }
  });

  test('100 clients that hang up at any time, half of them in mid-body (G04)', async () => {
    const half = request(STEP.slice(0, 20), { length: STEP.length });
    await Promise.all(
      Array.from({ length: 100 }, async (_, i) => {
        const socket = await open(server.port);
        socket.write(i % 2 === 0 ? half : request(STEP));
        await sleep((i * 37) % 50);
        socket.destroy();
      }),
    );
    expect(await isAlive(server)).toBe(true);
    const metrics = await (await createClient({ url: server.url }).metrics()).text();
    expect(metrics).not.toMatch(/status="50\d"/);
  });

  test('a connection that rests longer than a request may take is still good', async () => {
    const socket = await open(server.port);
    const said = readAll(socket);
    socket.write(request(STEP));
    await sleep(2500);
    socket.write(request(STEP).replace('host: x', 'host: x\r\nconnection: close'));
    expect((await said).match(/HTTP\/1.1 200/g)).toHaveLength(2);
    expect(await said).toMatch(/keep-alive: timeout=75\r\n/i);
  });

  test('requests that follow each other on one connection, some sent before the answer', async () => {
    const socket = await open(server.port);
    const said = readAll(socket);
    socket.write(
      request(STEP).repeat(3) + request('null') + request(STEP).replace('host: x', 'host: x\r\nconnection: close'),
    );
    const statuses = (await said).match(/HTTP\/1.1 \d+/g);
    expect(statuses?.map((line) => line.slice(-3))).toEqual(['200', '200', '200', '400', '200']);
  });
});

test('a port in use is told, with what to do', async () => {
  const server = await startServer({ port: 0 });
  const taken = { port: server.port };
  await expect(startServer(taken)).rejects.toThrow(
    `port ${server.port} of 127.0.0.1 is in use; choose another one with --port`,
  );
  await expect(startServer({ ...taken, workers: 2 })).rejects.toThrow('is in use; choose another one with --port');
  await server.close();
});

test('an address this machine does not have is told', async () => {
  await expect(startServer({ port: 0, host: '192.0.2.1' })).rejects.toThrow('192.0.2.1 is no address of this machine');
});

test('a client that keeps its half of a refused connection open is cut off, so that nothing is held for it', async () => {
  const server = await startServer({ port: 0, request_timeout: 1 });
  const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined).resume();
  socket.write(request('{', { length: 30_000 }));
  await once(socket, 'end'); // the server has said 408
  const closed = new Promise((resolve) => socket.once('close', resolve)); // after an error of writing
  const bytes = setInterval(() => socket.write(' '), 50); // shows that nobody is there any more
  await closed;
  clearInterval(bytes);
  await server.close();
});

test('closing lets a running request end, and cuts what never comes in (G06)', async () => {
  const server = await startServer({ port: 0, shutdown_timeout: 0.5, request_timeout: 60 });
  const [idle, halfSent] = [await open(server.port), await open(server.port)];
  halfSent.write(request(STEP.slice(0, 9), { length: STEP.length }));
  const running = await open(server.port);
  const said = readAll(running);
  running.write(request(STEP.slice(0, 9), { length: STEP.length }));
  await sleep(50);
  const start = performance.now();
  const closed = server.close();
  running.write(STEP.slice(9));
  expect(await said).toMatch(/^HTTP\/1.1 200 /);
  expect(performance.now() - start).toBeLessThan(400);
  await closed;
  expect(performance.now() - start).toBeLessThan(1500);
  for (const socket of [idle, halfSent]) if (!socket.closed) await once(socket.resume(), 'close');
  await expect(open(server.port)).rejects.toThrow();
});

test('a request that comes just after the signal, on a connection that was open, is answered', async () => {
  const server = await startServer({ port: 0, shutdown_timeout: 5 });
  const sockets = await Promise.all(Array.from({ length: 4 }, () => open(server.port)));
  const said = sockets.map(readAll);
  for (const socket of sockets) socket.write(request(STEP));
  await Promise.all(sockets.map((socket) => once(socket, 'data')));
  const start = performance.now();
  const closed = server.close();
  for (const [i, socket] of sockets.slice(1).entries()) setTimeout(() => socket.write(request(STEP)), 20 * i);
  await closed;
  expect(performance.now() - start).toBeLessThan(2500);
  const [idle, ...asked] = await Promise.all(said);
  expect(idle!.match(/HTTP\/1.1 200/g)).toHaveLength(1);
  for (const each of asked) {
    expect(each.match(/HTTP\/1.1 200/g)).toHaveLength(2);
    expect(each).toMatch(/connection: close\r\n/i);
  }
});

interface Served {
  child: ChildProcess;
  url: string;
  port: number;
  said: () => string;
}

const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) if (child.exitCode === null) child.kill('SIGKILL'); // a test failed before its end
});

/** `canvas-gym serve` from the sources, in a process of its own. */
async function serve(...flags: string[]): Promise<Served> {
  const args = ['--import', 'tsx', 'clients/cli/main.ts', 'serve', '--port', '0', ...flags];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  while (!said.includes('states')) {
    if (child.exitCode !== null) throw new Error(`serve ended: ${said}`);
    await sleep(20);
  }
  const url = /http:\/\/\S+/.exec(said)![0];
  return { child, url, port: Number(new URL(url).port), said: () => said };
}

const exitOf = async ({ child }: Served): Promise<unknown> =>
  child.exitCode ?? child.signalCode ?? ((await once(child, 'exit')) as unknown[]).find((each) => each !== null);

test('SIGTERM during requests: all that had come in are answered, and the exit code is 0', async () => {
  const served = await serve('--shutdown-timeout', '3');
  const client = createClient({ url: served.url, retries: 0 });
  let answered = 0;
  const keepAsking = async (): Promise<unknown> => {
    for (;;) {
      try {
        await client.step({ prompt: 'Draw Alpha', action: '{}' });
      } catch (error) {
        return error;
      }
      answered++;
    }
  };
  const ends = Array.from({ length: 8 }, keepAsking);
  while (answered < 20) await sleep(10);
  served.child.kill('SIGTERM');
  for (const error of await Promise.all(ends)) {
    // Refused connections, never an answer that was begun and cut, nor a 5xx.
    expect(String(error)).toMatch(/ConnectionError: .*(ECONNREFUSED|ECONNRESET|other side closed)/);
  }
  expect(await exitOf(served)).toBe(0);
}, 120_000);

test('a second signal ends it at once', async () => {
  const served = await serve('--shutdown-timeout', '60', '--request-timeout', '60');
  const socket = await open(served.port);
  socket.write(request(STEP.slice(0, 9), { length: STEP.length }));
  await sleep(100);
  served.child.kill('SIGTERM');
  await sleep(200);
  expect(served.child.exitCode).toBeNull();
  const start = performance.now();
  served.child.kill('SIGTERM');
  expect([await exitOf(served), performance.now() - start < 2000]).toEqual([1, true]);
}, 120_000);

describe('two workers on one port', () => {
  let served: Served;
  let remote: ReturnType<typeof createClient>;

  beforeAll(async () => {
    served = await serve('--workers', '2', '--secret', 'shared secret');
    remote = createClient({ url: served.url, headers: { connection: 'close' } }); // a worker is chosen per connection
  }, 120_000);

  /** Process ids that answer within some requests. */
  async function pidsOf(requests: number): Promise<Set<number>> {
    const pids = new Set<number>();
    for (let i = 0; i < requests; i++) {
      pids.add(Number(/process_pid (\d+)/.exec(await (await remote.metrics()).text())?.[1]));
    }
    return pids;
  }

  test('share the work, and answer what this process does, signatures included', async () => {
    expect((await pidsOf(10)).size).toBe(2);
    const app = createApp({ secret: 'shared secret' });
    const local = createClient({ url: 'http://test', fetch: (asked) => app.fetch(asked) });
    let here = (await local.reset({ seed: 5, max_turns: 3 })).state;
    let there = (await remote.reset({ seed: 5, max_turns: 3 })).state;
    for (let turn = 0; turn < 3; turn++) {
      const box = { type: 'create_shape', id: `s${turn}`, shape: 'ellipse', x: 300 * turn, y: 10, w: 200, h: 90 };
      const action = { actions: [{ ...box, text: 'Sensor' }] };
      const [ours, theirs] = [await local.step({ state: here, action }), await remote.step({ state: there, action })];
      expect(JSON.stringify(theirs)).toBe(JSON.stringify(ours));
      [here, there] = [ours.state, theirs.state];
    }
    expect(here.stop_reason).toBe('max_steps');
  });

  const workers = (): number[] =>
    spawnSync('pgrep', ['-P', String(served.child.pid)], { encoding: 'utf8' })
      .stdout.split('\n')
      .filter(Boolean)
      .map(Number);

  test('replacements that die before they listen are replaced too, until all are there', async () => {
    for (let round = 0; round < 4; round++) {
      while (workers().length === 0) await sleep(20);
      for (const pid of workers()) process.kill(pid, 'SIGKILL');
      await sleep(100);
    }
    expect(served.said()).toContain('ended before it listened; trying again');
    let pids = new Set<number>();
    for (let tries = 0; pids.size < 2 && tries < 300; tries++) {
      await sleep(100);
      pids = await pidsOf(10).catch(() => new Set<number>());
    }
    expect(pids.size).toBe(2);
    expect([workers().length, served.child.exitCode]).toEqual([2, null]);
  }, 120_000);

  test('one that dies is replaced, and the end is an orderly one', async () => {
    const [first] = await pidsOf(10);
    const before = served.said().length;
    process.kill(first!, 'SIGKILL');
    while (!served.said().slice(before).includes('starting another')) await sleep(20);
    let pids = await pidsOf(10);
    for (let tries = 0; pids.size < 2 && tries < 200; tries++) {
      await sleep(100);
      pids = await pidsOf(10);
    }
    expect([pids.size, pids.has(first!)]).toEqual([2, false]);
    served.child.kill('SIGTERM');
    expect(await exitOf(served)).toBe(0);
  }, 120_000);
});
