/** What only real web sockets show: many at once, order, clients that are gone, idle or do not read, and how they end. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect as connectTcp } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createDispatcher } from '../../server/dispatch.ts';
import { startServer } from '../../server/main.ts';
import { attachSockets } from '../../server/protocols/openenv/sockets.ts';
import type { ServerSettings } from '../../server/settings.ts';
import { NOT_SLOW_MS } from '../tools/not-slow.ts';
import { connect, toWs, type Client } from './socket-client.ts';

type Server = Awaited<ReturnType<typeof startServer>>;

const TASK = 'train.pipeline.1.3';
const BOX = { type: 'create_shape', id: 'a', shape: 'rectangle', x: 120, y: 360, w: 200, h: 80, text: 'Record' };
const RESET = { type: 'reset', data: { task_id: TASK } };
const STEP = { type: 'step', data: { actions: [BOX] } };

let servers: Server[] = [];
let clients: Client[] = [];

async function serve(settings: Partial<ServerSettings> = {}): Promise<Server> {
  const server = await startServer({ port: 0, shutdown_timeout: 1, ...settings });
  servers.push(server);
  return server;
}

async function open(server: Server, path = '/ws'): Promise<Client> {
  const client = await connect(toWs(server.url, path));
  clients.push(client);
  return client;
}

/** Resolves once the server knows that no socket is open. */
async function untilLeft(server: Server): Promise<void> {
  const metrics = async (): Promise<string> => (await fetch(`${server.url}/metrics`)).text();
  await expect.poll(metrics, { timeout: NOT_SLOW_MS }).toContain('canvas_gym_web_sockets 0\n');
}

afterEach(async () => {
  for (const { ws } of clients) ws.terminate();
  await Promise.all(servers.map(({ close }) => close()));
  servers = [];
  clients = [];
});

async function rpc(server: Server, method: string, params: object = {}): Promise<Record<string, unknown>> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(`${server.url}/mcp`, { method: 'POST', body });
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>;
}

const sessionIdOf = ({ result }: Record<string, unknown>): string => (result as { session_id: string }).session_id;

describe('many at once', () => {
  test('1,000 sockets, each with an episode of its own', async () => {
    const server = await serve();
    const sockets: Client[] = [];
    for (let i = 0; i < 1000; i += 50) {
      sockets.push(...(await Promise.all(Array.from({ length: 50 }, () => open(server)))));
    }
    const resets = await Promise.all(
      sockets.map((client, i) =>
        client.ask({ type: 'reset', data: { seed: i, split: 'train', level: 1, episode_id: `e${i}` } }),
      ),
    );
    const prompts = new Set(resets.map(({ data }) => (data['observation'] as { prompt: string }).prompt));
    expect(prompts.size).toBeGreaterThan(900);
    const steps = await Promise.all(
      sockets.map((client, i) => client.ask(i % 2 === 0 ? STEP : { type: 'step', data: 'I cannot draw.' })),
    );
    expect(steps.filter(({ data }) => data['done'] !== true)).toEqual([]);
    const wrong = steps.filter(({ data }, i) => (data['reward'] as number) > 0 !== (i % 2 === 0));
    expect(wrong.length).toBe(0);
    const states = await Promise.all(sockets.map((client) => client.ask({ type: 'state' })));
    expect(states.map(({ data }) => data)).toEqual(states.map((_, i) => ({ episode_id: `e${i}`, step_count: 1 })));
  });

  test('frames that come together are answered one by one, in order', async () => {
    const client = await open(await serve());
    const count = 500;
    for (let i = 0; i < count; i++) {
      client.send({ type: 'reset', data: { task_id: TASK, episode_id: `e${i}` } });
      client.send({ type: 'state' });
    }
    for (let i = 0; i < count; i++) {
      expect((await client.next()).type).toBe('observation');
      expect((await client.next()).data['episode_id']).toBe(`e${i}`);
    }
    await sleep(50);
    expect(client.frames).toEqual([]);
  });

  test('several processes', async () => {
    const server = await serve({ workers: 2 });
    const sockets = await Promise.all(Array.from({ length: 16 }, () => open(server)));
    for (const client of sockets) {
      expect((await client.ask(RESET)).type).toBe('observation');
      expect((await client.ask(STEP)).data['done']).toBe(true);
    }
  });
});

describe('places', () => {
  test.each(['/ws', '/mcp'])(
    'at %s one frame says that all are taken, and a place that is left is given again',
    async (path) => {
      const server = await serve({ max_sockets: 2 });
      const [first] = [await open(server), await open(server)];
      const late = await open(server, path);
      const refusal = JSON.stringify(await late.next());
      expect(refusal).toContain('"active_sessions":2');
      expect(refusal).toContain('"max_sessions":2');
      expect(refusal).toContain(path === '/ws' ? 'CAPACITY_REACHED' : '-32000');
      expect((await late.closed).code).toBe(1000);
      expect(late.frames).toEqual([]);
      expect(await (await fetch(`${server.url}/metrics`)).text()).toContain('canvas_gym_web_sockets 2\n');
      expect((await first.ask(RESET)).type).toBe('observation');
      await first.close();
      const next = await open(server);
      expect((await next.ask(RESET)).type).toBe('observation');
    },
  );

  test('a socket that sent close gives its place up', async () => {
    const server = await serve({ max_sockets: 1 });
    const first = await open(server);
    first.send({ type: 'close' });
    expect((await first.closed).code).toBe(1000);
    expect((await (await open(server)).ask(RESET)).type).toBe('observation');
  });

  test('another path', async () => {
    const server = await serve();
    const ws = new WebSocket(toWs(server.url, '/step'));
    ws.on('error', () => undefined);
    const [, response] = (await once(ws, 'unexpected-response')) as [unknown, { statusCode: number }];
    expect(response.statusCode).toBe(404);
    ws.terminate();
  });
});

describe('web pages', () => {
  const statusFor = async (server: Server, path: string, origin: string): Promise<number> => {
    const ws = new WebSocket(toWs(server.url, path), { origin });
    ws.on('error', () => undefined);
    const opened = once(ws, 'open').then(() => 101);
    const refused = once(ws, 'unexpected-response').then(
      ([, response]) => (response as { statusCode: number }).statusCode,
    );
    const status = await Promise.race([opened, refused]);
    ws.terminate();
    return status;
  };

  test.each([
    ['/ws', 'https://example.org', 403],
    ['/mcp', 'https://example.org', 403],
    ['/ws', 'http://127.0.0.1.example.org', 403],
    ['/mcp', 'null', 403],
    ['/ws', 'http://localhost:3000', 101],
    ['/mcp', 'http://127.0.0.1', 101],
  ])('%s from a page of %s: %i', async (path, origin, status) => {
    expect(await statusFor(await serve(), path, origin)).toBe(status);
  });
});

describe('requests that ask for another protocol', () => {
  const BODY = JSON.stringify({ task_id: TASK, action: { actions: [BOX] } });
  const ask = async (server: Server, method: string, path: string, body: string, cut: number): Promise<string> => {
    const tcp = connectTcp(server.port, '127.0.0.1');
    const head = [`${method} ${path} HTTP/1.1`, 'host: x', 'connection: Upgrade, HTTP2-Settings', 'upgrade: h2c'];
    const request = `${[...head, 'http2-settings: AAMAAABkAAQAAP__', `content-length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`;
    tcp.write(request.slice(0, cut));
    await sleep(30);
    tcp.write(request.slice(cut));
    let said = '';
    tcp.on('data', (chunk: Buffer) => (said += chunk.toString()));
    while (!said.endsWith('}')) await once(tcp, 'data');
    tcp.destroy();
    return said;
  };

  test.each([
    ['a GET', 'GET', '/health', '', 20, '"healthy"'],
    ['a POST', 'POST', '/step', BODY, 20, '"done":true'],
    ['a POST whose body comes later', 'POST', '/step', BODY, -40, '"done":true'],
  ])('%s is answered as if it had not asked', async (_, method, path, body, cut, answer) => {
    const said = await ask(await serve(), method, path, body, cut);
    expect(said).toContain('HTTP/1.1 200 OK');
    expect(said).toContain(answer);
  });
});

describe('clients that are gone, idle or do not read', () => {
  test('one that answers no ping is dropped', async () => {
    const server = await serve({ socket_ping_interval: 0.1, max_sockets: 1 });
    const tcp = connectTcp(server.port, '127.0.0.1');
    tcp.write(
      'GET /ws HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
    let said = '';
    tcp.on('data', (chunk: Buffer) => (said += chunk.toString('latin1')));
    await once(tcp, 'close');
    expect(said).toContain('101 Switching Protocols');
    expect((await (await open(server)).ask(RESET)).type).toBe('observation');
  });

  test('one that answers pings stays, until it is idle for too long', async () => {
    const server = await serve({ socket_ping_interval: 0.1, socket_idle_timeout: 2 });
    const client = await open(server);
    for (let i = 0; i < 4; i++) await once(client.ws, 'ping'); // by the second, one that answered none is dropped
    const start = performance.now();
    expect((await client.ask(RESET)).type).toBe('observation');
    expect((await client.closed).code).toBe(1001);
    expect(performance.now() - start).toBeGreaterThan(1900);
  });

  test('one that does not read is not read either, and loses nothing', async () => {
    const client = await open(await serve());
    client.ws.pause();
    const count = 10_000;
    const ignored = 'x'.repeat(4000); // more than the buffers of both systems hold
    for (let i = 0; i < count; i++)
      client.send({ type: 'reset', data: { task_id: TASK, episode_id: `e${i}`, ignored } });
    let unsent = Infinity;
    while (client.ws.bufferedAmount < unsent) {
      unsent = client.ws.bufferedAmount; // until the server has stopped reading
      await sleep(500);
    }
    expect(unsent).toBeGreaterThan(0);
    client.ws.resume();
    for (let i = 0; i < count; i++) {
      expect((await client.next()).data['metadata']).toMatchObject({ episode_id: `e${i}` });
    }
  });

  const LIMITS = { max_sockets: 100, max_frame: 2 ** 20, socket_idle_timeout: 60, socket_ping_interval: 60 };

  /** A server whose connections can be looked at from its side. */
  const serveVisibly = async () => {
    const http = createServer();
    const { context } = createDispatcher();
    const sockets = attachSockets(http, context, LIMITS);
    const ends: Duplex[] = [];
    http.on('upgrade', (_, end) => ends.push(end));
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    const { port } = http.address() as { port: number };
    const connectHere = async (path: string): Promise<Client> => {
      const client = await connect(`ws://127.0.0.1:${port}${path}`);
      clients.push(client);
      return client;
    };
    /** The most that any connection ever held unsent in a second, bytes. */
    const mostUnsent = async (): Promise<number> => {
      let most = 0;
      for (let i = 0; i < 100; i++) {
        most = Math.max(most, ...ends.map(({ writableLength }) => writableLength));
        await sleep(10);
      }
      return most;
    };
    const close = () => {
      sockets.close(0);
      http.close();
    };
    return { connect: connectHere, mostUnsent, close, context };
  };

  const LIST_TOOLS = { type: 'step', data: { type: 'list_tools' } };
  const TOOLS_LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

  test.each([
    ['/ws', 'own', LIST_TOOLS],
    ['/mcp', 'own', TOOLS_LIST],
    ['/ws', 'shared', LIST_TOOLS],
  ])('many small frames at %s (%s sessions) that ask for much are not answered ahead', async (path, kind, frame) => {
    const server = await serveVisibly();
    const silent = await Promise.all(
      Array.from({ length: 5 }, async (_, i) => {
        if (kind === 'shared') await server.context.shared.create(`s${i}`);
        return server.connect(kind === 'shared' ? `${path}?session_id=s${i}` : path);
      }),
    );
    for (const { ws } of silent) ws.pause();
    const text = JSON.stringify(frame);
    for (const client of silent) for (let i = 0; i < 5000; i++) client.send(text);
    expect(await server.mostUnsent()).toBeLessThan(400_000);
    const [first] = silent;
    first!.ws.resume();
    for (let i = 0; i < 5000; i++) expect(JSON.stringify(await first!.next())).toContain('start_diagram');
    server.close();
  });

  test('too large a frame closes its socket alone', async () => {
    const server = await serve({ max_frame: 4096 });
    const [large, small] = [await open(server), await open(server)];
    large.send({ type: 'step', data: 'x'.repeat(5000) });
    expect((await large.closed).code).toBe(1009);
    expect((await small.ask(RESET)).type).toBe('observation');
  });

  test('one that cuts the connection in the middle of an episode', async () => {
    const server = await serve({ max_sockets: 1 });
    const first = await open(server);
    await first.ask(RESET);
    first.ws.terminate();
    await untilLeft(server);
    expect((await (await open(server)).ask(STEP)).data['code']).toBe('EXECUTION_ERROR');
  });
});

describe('the end of the server', () => {
  test('idle sockets are closed at once, a running episode may finish', async () => {
    const server = await serve({ shutdown_timeout: 5 });
    const [idle, busy] = [await open(server), await open(server)];
    await busy.ask(RESET);
    const ended = server.close();
    expect((await idle.closed).code).toBe(1001);
    await sleep(400);
    expect((await busy.ask(STEP)).data['done']).toBe(true);
    expect((await busy.closed).code).toBe(1001);
    await ended;
  });

  test('an episode that does not finish is not waited for', async () => {
    const server = await serve({ shutdown_timeout: 1 });
    const client = await open(server);
    await client.ask(RESET);
    const start = performance.now();
    await server.close();
    expect(performance.now() - start).toBeLessThan(NOT_SLOW_MS);
    expect((await client.closed).code).toBe(1001);
  });

  test('not even one whose client is silent', async () => {
    const server = await serve({ shutdown_timeout: 1 });
    const client = await open(server);
    await client.ask(RESET);
    client.ws.pause();
    const start = performance.now();
    await server.close();
    expect(performance.now() - start).toBeLessThan(NOT_SLOW_MS);
  });
});

describe('sessions shared with POST /mcp', () => {
  test('a socket and tool calls play one episode', async () => {
    const server = await serve();
    const id = sessionIdOf(await rpc(server, 'openenv/session/create'));
    const client = await open(server, `/ws?session_id=${id}`);
    await client.ask({ type: 'reset', data: { task_id: TASK, episode_id: 'e' } });
    const called = await rpc(server, 'tools/call', { session_id: id, name: 'create_shape', arguments: BOX });
    expect(called['result']).toMatchObject({ isError: false, data: { finished: false, reward: null } });
    expect((await client.ask({ type: 'state' })).data).toEqual({ episode_id: 'e', step_count: 1 });
    const submit = { type: 'step', data: { type: 'call_tool', tool_name: 'submit_diagram', arguments: {} } };
    expect((await client.ask(submit)).data).toMatchObject({ done: true });
    await client.close();
    const over = await rpc(server, 'tools/call', { session_id: id, name: 'create_shape', arguments: BOX });
    expect(over['result']).toMatchObject({ isError: true });
    expect((await rpc(server, 'openenv/session/close', { session_id: id }))['result']).toEqual({
      session_id: id,
      closed: true,
    });
  });

  test('one socket at a time holds a session', async () => {
    const server = await serve();
    const id = sessionIdOf(await rpc(server, 'openenv/session/create'));
    const path = `/ws?session_id=${id}`;
    const first = await open(server, path);
    await first.ask(RESET);
    const second = await open(server, path);
    expect((await second.next()).data['code']).toBe('SESSION_ERROR');
    expect((await second.closed).code).toBe(1000);
    await first.close();
    const third = await open(server, path);
    expect((await third.ask(STEP)).data['done']).toBe(true);
  });

  test('a session that is closed while a socket holds it ends with the socket', async () => {
    const server = await serve();
    const id = sessionIdOf(await rpc(server, 'openenv/session/create'));
    const client = await open(server, `/ws?session_id=${id}`);
    await client.ask(RESET);
    const { result } = await rpc(server, 'openenv/session/close', { session_id: id });
    expect(result).toEqual({ session_id: id, closed: false, closing: true });
    expect((await client.ask(STEP)).data['done']).toBe(true);
    await client.close();
    await untilLeft(server);
    expect(await rpc(server, 'openenv/session/close', { session_id: id })).toMatchObject({ error: { code: -32602 } });
  });

  test('an MCP client is told so too', async () => {
    const server = await serve();
    const id = sessionIdOf(await rpc(server, 'openenv/session/create'));
    const client = await open(server, `/ws?session_id=${id}`);
    await client.ask(RESET);
    const end = async (): Promise<unknown> =>
      (await fetch(`${server.url}/mcp`, { method: 'DELETE', headers: { 'mcp-session-id': id } })).json();
    expect(await end()).toEqual({ closed: false });
    await client.close();
    await untilLeft(server);
    expect(await end()).toMatchObject({ error: { code: 'unknown_session' } });
  });

  test('what sockets have scored is counted: each step, and each drawing by tools once', async () => {
    const server = await serve();
    const id = sessionIdOf(await rpc(server, 'openenv/session/create'));
    const tool = (tool_name: string, args: object) => ({ type: 'call_tool', tool_name, arguments: args });
    const request = (name: string) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } });
    for (const path of ['/ws', `/ws?session_id=${id}`]) {
      const client = await open(server, path);
      await client.ask(RESET);
      await client.ask(STEP);
      await client.ask(RESET);
      for (const data of [tool('create_shape', BOX), tool('submit_diagram', {}), tool('submit_diagram', {})]) {
        await client.ask({ type: 'step', data });
      }
      await client.ask(RESET);
      await client.ask({ type: 'mcp', data: request('submit_diagram') });
    }
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(metrics).toContain('canvas_gym_completions_total{preset="graded"} 6\n');
  });

  test('whichever process a request or a socket reaches', async () => {
    const server = await serve({ workers: 2 });
    const ids = await Promise.all(
      Array.from({ length: 8 }, async () => sessionIdOf(await rpc(server, 'openenv/session/create'))),
    );
    for (const id of ids) {
      const client = await open(server, `/ws?session_id=${id}`);
      client.send({ type: 'reset', data: { task_id: TASK } });
      client.send({ type: 'state' });
      expect((await client.next()).type).toBe('observation');
      expect((await client.next()).data['step_count']).toBe(0);
      const shapes = Array.from({ length: 6 }, (_, i) => ({ ...BOX, id: `s${i}`, x: 110 * i }));
      await Promise.all(
        shapes.map((shape) => rpc(server, 'tools/call', { session_id: id, name: 'create_shape', arguments: shape })),
      );
      expect((await client.ask({ type: 'state' })).data['step_count']).toBe(6);
      const second = await open(server, `/ws?session_id=${id}`);
      expect((await second.next()).data['code']).toBe('SESSION_ERROR');
    }
  });

  test('a process that is killed gives its sessions back', async () => {
    const server = await serve({ workers: 2 });
    const id = sessionIdOf(await rpc(server, 'openenv/session/create'));
    const path = `/ws?session_id=${id}`;
    const client = await open(server, path);
    await client.ask({ type: 'reset', data: { task_id: TASK, episode_id: 'e' } });
    /** Of the process that the socket is connected to. */
    const pidOf = async (): Promise<number> => {
      for (;;) {
        const response = await fetch(`${server.url}/metrics`, { headers: { connection: 'close' } });
        const metrics = await response.text();
        if (metrics.includes('web_sockets 1\n')) return Number(/process_pid (\d+)/.exec(metrics)?.[1]);
      }
    };
    process.kill(await pidOf(), 'SIGKILL');
    await client.closed;
    const next = async (): Promise<Client> => {
      const again = await open(server, path);
      const { type } = await again.ask({ type: 'state' });
      return type === 'state' ? again : next(); // until the primary process knows
    };
    expect((await (await next()).ask({ type: 'state' })).data).toEqual({ episode_id: 'e', step_count: 0 });
  });

  test('no such session', async () => {
    const client = await open(await serve(), '/ws?session_id=nope');
    expect((await client.next()).data['code']).toBe('SESSION_ERROR');
    expect((await client.closed).code).toBe(1000);
  });
});

describe('JSON-RPC on the socket /mcp', () => {
  test('a session of its own from the first frame on', async () => {
    const client = await open(await serve(), '/mcp');
    const ask = (id: number, method: string, params: object = {}) => client.ask({ jsonrpc: '2.0', id, method, params });
    expect(await ask(1, 'tools/call', { name: 'start_diagram', arguments: { task_id: TASK } })).toMatchObject({
      id: 1,
      result: { isError: false },
    });
    await ask(2, 'tools/call', { name: 'create_shape', arguments: BOX });
    expect(await ask(3, 'tools/call', { name: 'submit_diagram' })).toMatchObject({
      result: { data: { finished: true } },
    });
    expect(await client.ask('{bad')).toMatchObject({ id: null, error: { code: -32700, data: null } });
    expect(await client.ask({})).toMatchObject({ error: { code: -32600 } });
    expect(await ask(4, 'zzz')).toMatchObject({ id: 4, error: { code: -32601 } });
  });
});
