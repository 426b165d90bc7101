/** The Model Context Protocol with the SDK's own client, and what HTTP shows that the client hides. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { PNG } from 'pngjs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { TOOLS } from '../../schemas/tools.ts';
import { createApp } from '../../server/app.ts';
import { reset, step } from '../../server/episode.ts';
import { reward, score } from '../../server/grade.ts';
import { startServer } from '../../server/main.ts';
import { render } from '../../server/render/index.ts';
import { RenderError } from '../../server/render/png.ts';

const TASK = 'train.pipeline.1.3';
const ENVIRONMENT = { reset, step, reward, score, render };
const box = (id: string, x: number, text: string) => ({ id, shape: 'rectangle', x, y: 360, w: 200, h: 80, text });
const ACCEPT = 'application/json, text/event-stream';

interface Content {
  type: string;
  text?: string;
  data?: string;
  mimeType?: string;
}
interface Result {
  content: Content[];
  isError?: boolean;
  structuredContent?: { finished: boolean; reward: number | null; text: string };
}

let open: { client: Client; transport: StreamableHTTPClientTransport }[] = [];

async function connect(url: string, fetch?: (url: string | URL, init?: RequestInit) => Promise<Response>) {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), fetch ? { fetch } : {});
  await client.connect(transport);
  open.push({ client, transport });
  const call = async (name: string, args: Record<string, unknown> = {}): Promise<Result> =>
    (await client.callTool({ name, arguments: args })) as unknown as Result;
  return { client, transport, call };
}

afterEach(async () => {
  for (const { client, transport } of open) {
    await transport.terminateSession().catch(() => undefined); // some have ended already
    await client.close();
  }
  open = [];
});

const textOf = ({ content }: Result): string => content.map(({ text }) => text ?? '').join('\n');
const pictureOf = ({ content }: Result): PNG | undefined => {
  const image = content.find(({ type }) => type === 'image');
  return image?.data === undefined ? undefined : PNG.sync.read(Buffer.from(image.data, 'base64'));
};

describe('a chat client', () => {
  let server: Awaited<ReturnType<typeof startServer>>;
  beforeAll(async () => {
    server = await startServer({ port: 0, max_sessions: 4 });
  });
  afterAll(() => server.close());

  test('sees the tools and how to begin', async () => {
    const { client } = await connect(server.url);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['start_diagram', ...TOOLS.map(({ name }) => name)]);
    expect(tools.map(({ inputSchema }) => Object.keys(inputSchema.properties ?? {}).length)).not.toContain(0);
    expect(client.getServerVersion()).toMatchObject({ name: 'canvas-gym' });
    expect(client.getInstructions()).toContain('start_diagram');
    await client.ping();
  });

  test('draws a task, sees the canvas grow, and gets the reward at the end', async () => {
    const { call } = await connect(server.url);
    const start = await call('start_diagram', { task_id: TASK });
    expect(textOf(start)).toContain('Record, Review, Edit Episode');
    expect(pictureOf(start)).toBeUndefined();
    const first = await call('create_shape', box('a', 120, 'Record'));
    expect(first).toMatchObject({ isError: false, structuredContent: { finished: false, reward: null } });
    const picture = pictureOf(first)!;
    expect([picture.width, picture.height]).toEqual([1200, 800]);
    const second = await call('create_shape', box('b', 500, 'Review'));
    expect(pictureOf(second)!.data.equals(picture.data)).toBe(false);
    await call('create_shape', box('c', 880, 'Edit Episode'));
    await call('connect', { from_id: 'a', to_id: 'b' });
    await call('connect', { from_id: 'b', to_id: 'c' });
    const last = await call('submit_diagram');
    expect(last.structuredContent).toMatchObject({ finished: true });
    expect(last.structuredContent?.reward).toBeGreaterThan(0.95);
    expect(textOf(last)).toContain('Reward: ');
    expect(textOf(await call('create_shape', box('d', 0, 'x')))).toContain('over');
  });

  test('draws a prompt of its own, in one call', async () => {
    const { call } = await connect(server.url);
    await call('start_diagram', { prompt: 'a client and a server' });
    const actions = [{ type: 'create_shape', ...box('a', 120, 'Client') }];
    const { structuredContent, isError } = await call('submit_diagram', { actions });
    expect(structuredContent).toMatchObject({ finished: true });
    expect(isError).toBe(false);
  });

  test.each([
    ['a call before the start', 'create_shape', box('a', 0, 'A'), 'start_diagram'],
    ['no such task', 'start_diagram', { task_id: 'train.pipelin.1.3' }, 'train.pipeline.1.3'],
    ['two tasks', 'start_diagram', { task_id: TASK, prompt: 'a box' }, 'task_id and prompt'],
    ['a prompt that is none', 'start_diagram', { prompt: 7 }, 'prompt'],
  ])('%s is a result that says what to do', async (_, name, args, hint) => {
    const { call } = await connect(server.url);
    const result = await call(name, args);
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain(hint);
  });

  test('a wrong action is told and leaves the drawing as it was', async () => {
    const { call } = await connect(server.url);
    await call('start_diagram', { task_id: TASK });
    await call('create_shape', box('a', 120, 'Record'));
    const result = await call('connect', { from_id: 'a', to_id: 'b' });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain('holds 1 shape(s) and 0 arrow(s)');
    expect(pictureOf(result)).toBeDefined();
  });

  test('a tool that is none is an error of the protocol', async () => {
    const { call } = await connect(server.url);
    await expect(call('fly')).rejects.toMatchObject({ code: -32602 });
  });

  test('calls that come together all count', async () => {
    const { call } = await connect(server.url);
    await call('start_diagram', { prompt: 'ten boxes' });
    await Promise.all(Array.from({ length: 10 }, (_, i) => call('create_shape', box(`s${i}`, 110 * i, `B${i}`))));
    expect(textOf(await call('select', { ids: ['s0'] }))).toContain('holds 10 shape(s)');
  });

  test('two clients draw apart', async () => {
    const [one, two] = [await connect(server.url), await connect(server.url)];
    await one.call('start_diagram', { prompt: 'a box' });
    await two.call('start_diagram', { prompt: 'a box' });
    await one.call('create_shape', box('a', 0, 'A'));
    expect(textOf(await two.call('select', { ids: [] }))).toContain('holds 0 shape(s)');
  });

  test('a session that was ended is gone, and its place is free', async () => {
    const begin = async () => {
      const client = await connect(server.url);
      await client.call('start_diagram', { prompt: 'a box' });
      return client;
    };
    const clients = [await begin(), await begin(), await begin(), await begin()];
    await expect(connect(server.url)).rejects.toMatchObject({ code: 503 });
    for (const { transport } of clients) await transport.terminateSession();
    await expect(clients[0]!.client.ping()).rejects.toThrow();
    await connect(server.url);
  });

  test('clients that begin nothing keep no place from one that does', async () => {
    const { call } = await connect(server.url);
    await call('start_diagram', { prompt: 'a box' });
    for (let i = 0; i < 20; i++) await connect(server.url);
    expect((await call('create_shape', box('a', 0, 'A'))).isError).toBe(false);
  });
});

test('with several processes a session is the same in each', async () => {
  const server = await startServer({ port: 0, workers: 2 });
  try {
    const { call } = await connect(server.url, (url, init) =>
      fetch(url, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), connection: 'close' } }),
    );
    await call('start_diagram', { prompt: 'ten boxes' });
    await Promise.all(Array.from({ length: 10 }, (_, i) => call('create_shape', box(`s${i}`, 110 * i, `B${i}`))));
    expect(textOf(await call('select', { ids: ['s0'] }))).toContain('holds 10 shape(s)');
  } finally {
    await server.close();
  }
});

describe('over HTTP', () => {
  const app = createApp();
  const post = async (body: unknown, headers: Record<string, string> = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return app.fetch(new Request('http://test/mcp', { method: 'POST', body: text, headers }));
  };
  const INITIALIZE = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
  };
  const begin = async (): Promise<string> => {
    const response = await post(INITIALIZE, { accept: ACCEPT });
    expect(response.status).toBe(200);
    return response.headers.get('mcp-session-id')!;
  };

  test.each([
    ['no JSON', '{bad', 400],
    ['nesting of 100 levels', '['.repeat(100) + ']'.repeat(100), 400],
    ['a request before initialize', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, 400],
  ])('%s', async (_, body, status) => {
    const response = await post(body, { accept: ACCEPT });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: {} });
  });

  test('a session that is unknown is 404, so that a client begins anew', async () => {
    const response = await post({ jsonrpc: '2.0', id: 1, method: 'ping' }, { 'mcp-session-id': 'nope' });
    expect(response.status).toBe(404);
  });

  test('a notification is taken without an answer', async () => {
    const headers = { accept: ACCEPT, 'mcp-session-id': await begin() };
    const response = await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, headers);
    expect([response.status, await response.text()]).toEqual([202, '']);
  });

  test('a version of the protocol that is none', async () => {
    const headers = { accept: ACCEPT, 'mcp-session-id': await begin(), 'mcp-protocol-version': '1999-01-01' };
    expect((await post({ jsonrpc: '2.0', id: 1, method: 'ping' }, headers)).status).toBe(400);
  });

  test.each([
    ['https://example.org', 403],
    ['http://localhost.example.org:8000', 403],
    ['null', 403],
    ['http://localhost:6274', 200],
    ['http://127.0.0.1', 200],
  ])('a page of %s', async (origin, status) => {
    expect((await post(INITIALIZE, { accept: ACCEPT, origin })).status).toBe(status);
  });

  test.each([
    ['JSON-RPC of OpenEnv', 'POST', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'openenv/session/create' })],
    ['the end of a session', 'DELETE', null],
  ])('%s, asked for by a page', async (_, method, body) => {
    const session = { 'mcp-session-id': await begin() };
    const ask = (origin: string) => {
      const headers = method === 'DELETE' ? { origin, ...session } : { origin };
      return app.fetch(new Request('http://test/mcp', { method, body, headers }));
    };
    const refused = await ask('https://example.org');
    expect(refused.status).toBe(403);
    expect(JSON.stringify(await refused.json())).toContain('this machine only');
    expect((await ask('http://localhost:6274')).status).toBe(200);
  });

  const call = (id: number, name: string, args?: unknown) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, arguments: args },
  });

  test.each([
    ['its own', 2, 2],
    ['another', 2, 9],
  ])('a batch that cancels %s request is answered all the same', { timeout: 5000 }, async (_, id, cancelled) => {
    const headers = { accept: ACCEPT, 'mcp-session-id': await begin() };
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: cancelled } };
    const response = await post([call(id, 'start_diagram', { task_id: TASK }), cancel], headers);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ id, result: { isError: false } });
  });

  test('the calls of a batch are made once each, and other requests have their turn between them', async () => {
    let steps = 0;
    const environment: typeof ENVIRONMENT = {
      ...ENVIRONMENT,
      step: (...args) => {
        steps++;
        return step(...args);
      },
    };
    const counted = createApp({ environment });
    const send = async (body: unknown, session: Record<string, string> = {}) =>
      counted.fetch(
        new Request('http://test/mcp', {
          method: 'POST',
          body: JSON.stringify(body),
          headers: { accept: ACCEPT, ...session },
        }),
      );
    const session = { 'mcp-session-id': (await send(INITIALIZE)).headers.get('mcp-session-id')! };
    await send(call(1, 'start_diagram', { prompt: 'many boxes' }), session);
    let turns = 0;
    const count = setInterval(() => turns++, 0);
    const batch = Array.from({ length: 90 }, (_, i) => call(i + 2, 'create_shape', box(`s${i}`, i, `B${i}`)));
    const response = await send(batch, session);
    clearInterval(count);
    expect(((await response.json()) as { result: Result }[]).map(({ result }) => result.isError)).toEqual(
      batch.map(() => false),
    );
    expect(steps).toBe(90);
    expect(turns).toBeGreaterThan(30);
  });

  test('a notification to cancel alone', async () => {
    const headers = { accept: ACCEPT, 'mcp-session-id': await begin() };
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } };
    expect((await post(cancel, headers)).status).toBe(202);
  });

  const WRONG_ARGUMENTS: [string, unknown][] = [
    ['a list', [1]],
    ['an empty list', []],
    ['a text', 'draw'],
    ['a number', 7],
  ];
  test.each(
    ['start_diagram', 'create_shape', 'submit_diagram'].flatMap((name) =>
      WRONG_ARGUMENTS.map(([what, args]) => [name, what, args] as const),
    ),
  )('%s with arguments that are %s is a result that says so', async (name, _, args) => {
    const headers = { accept: ACCEPT, 'mcp-session-id': await begin() };
    await post(call(1, 'start_diagram', { task_id: TASK }), headers);
    const response = await post(call(2, name, args), headers);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ id: 2, result: { isError: true } });
    const next = await post(call(3, 'create_shape', box('a', 120, 'Record')), headers);
    expect(await next.json()).toMatchObject({ id: 3, result: { isError: false } });
  });

  test('arguments that are null are none', async () => {
    const headers = { accept: ACCEPT, 'mcp-session-id': await begin() };
    const response = await post(call(1, 'start_diagram', null), headers);
    expect(await response.json()).toMatchObject({ id: 1, result: { isError: false } });
  });

  test.each([
    ['a call without a name', 'tools/call', { arguments: {} }, -32602],
    ['a call without params', 'tools/call', undefined, -32602],
    ['a method that is none', 'tools/fly', {}, -32601],
  ])('%s is an error of the protocol', async (_, method, params, code) => {
    const headers = { accept: ACCEPT, 'mcp-session-id': await begin() };
    const response = await post({ jsonrpc: '2.0', id: 1, method, params }, headers);
    expect(await response.json()).toMatchObject({ id: 1, error: { code } });
  });

  test('a drawing that is finished counts as one completion, and /metrics says how many sessions there are', async () => {
    const counted = createApp();
    const send = async (body: unknown, headers: Record<string, string> = {}) =>
      counted.fetch(new Request('http://test/mcp', { method: 'POST', body: JSON.stringify(body), headers }));
    const readMetrics = async (): Promise<string[]> => {
      const text = await (await counted.fetch(new Request('http://test/metrics'))).text();
      return text.split('\n').filter((line) => /^canvas_gym_(completions_total|sessions)/.test(line));
    };
    const draw = async (toBody: (name: string, args: object) => object, headers: Record<string, string>) => {
      await send(toBody('start_diagram', { task_id: TASK, reward: 'stronger' }), headers);
      await send(toBody('create_shape', box('a', 120, 'Record')), headers);
      await send(toBody('submit_diagram', { actions: 'x' }), headers);
      await send(toBody('submit_diagram', {}), headers);
    };
    expect(await readMetrics()).toEqual(['canvas_gym_sessions 0']);
    const id = (await send(INITIALIZE, { accept: ACCEPT })).headers.get('mcp-session-id')!;
    await draw((name, args) => call(2, name, args), { accept: ACCEPT, 'mcp-session-id': id });
    expect(await readMetrics()).toEqual(['canvas_gym_completions_total{preset="stronger"} 1', 'canvas_gym_sessions 1']);
    const created = await send({ jsonrpc: '2.0', id: 1, method: 'openenv/session/create' });
    const { session_id } = ((await created.json()) as { result: { session_id: string } }).result;
    await draw((name, args) => ({ ...call(3, name), params: { name, arguments: args, session_id } }), {});
    expect(await readMetrics()).toEqual(['canvas_gym_completions_total{preset="stronger"} 2', 'canvas_gym_sessions 2']);
  });

  test('there is no stream to listen to', async () => {
    const response = await app.fetch(new Request('http://test/mcp', { headers: { accept: 'text/event-stream' } }));
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toContain('DELETE');
  });

  test.each([
    ['no session', {}, 400],
    ['an unknown one', { 'mcp-session-id': 'nope' }, 404],
  ])('DELETE with %s', async (_, headers, status) => {
    const request = new Request('http://test/mcp', { method: 'DELETE', headers: headers as Record<string, string> });
    expect((await app.fetch(request)).status).toBe(status);
  });

  test.each([
    ['initialize', INITIALIZE, -32601],
    ['an empty object', {}, -32600],
    ['a list', [], -32700],
    ['no JSON', '{bad', -32700],
    ['nothing', '', -32700],
    ['params that are a list', { jsonrpc: '2.0', method: 'tools/list', params: [] }, -32600],
    ['another key', { jsonrpc: '2.0', method: 'tools/list', more: 1 }, -32600],
    ['a call without a session', { jsonrpc: '2.0', method: 'tools/call', params: { name: 'select' } }, -32602],
    ['a session that is unknown', { jsonrpc: '2.0', method: 'tools/call', params: { session_id: 'x' } }, -32602],
    ['closing nothing', { jsonrpc: '2.0', method: 'openenv/session/close' }, -32602],
  ])('without an MCP header, by the rules of OpenEnv: %s', async (_, body, code) => {
    const response = await post(body);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code, data: null } });
  });

  test('all places of OpenEnv sessions taken', async () => {
    const small = createApp({ session_limits: { max_sessions: 1, idle_ms: 60_000 } });
    const ask = async (method: string, params: object): Promise<{ result?: { session_id: string } }> => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params });
      const response = await small.fetch(new Request('http://test/mcp', { method: 'POST', body }));
      return (await response.json()) as { result?: { session_id: string } };
    };
    const create = () => ask('openenv/session/create', {});
    const { result } = await create();
    await ask('tools/call', { ...result, name: 'start_diagram', arguments: { prompt: 'a box' } });
    const data = { active_sessions: 1, max_sessions: 1 };
    expect(await create()).toMatchObject({ id: 7, error: { code: -32000, data } });
  });
});

describe('a part that fails', () => {
  const connectTo = (environment: typeof ENVIRONMENT, log: (entry: string) => void = () => undefined) => {
    const app = createApp({ environment, log });
    return connect('http://test', async (url, init) => app.fetch(new Request(url, init)));
  };

  test.each([
    ['busy', new RenderError('render_busy', 'busy'), 0],
    ['broken', new TypeError('broken'), 1],
  ])('a renderer that is %s costs the picture, not the call', async (_, fault, reported) => {
    const faults: string[] = [];
    const { call } = await connectTo({ ...ENVIRONMENT, render: () => Promise.reject(fault) }, (entry) =>
      faults.push(entry),
    );
    await call('start_diagram', { task_id: TASK });
    const result = await call('create_shape', box('a', 120, 'Record'));
    expect(result.isError).toBe(false);
    expect(pictureOf(result)).toBeUndefined();
    expect(textOf(result)).toContain('no picture');
    expect(faults).toHaveLength(reported);
  });

  test('a step that breaks is an error without a reward, and may be repeated', async () => {
    let isBroken = true;
    const broken: typeof step = (request, signer) => {
      if (isBroken) throw new TypeError('broken');
      return step(request, signer);
    };
    const faults: string[] = [];
    const { call } = await connectTo({ ...ENVIRONMENT, step: broken }, (entry) => faults.push(entry));
    await call('start_diagram', { task_id: TASK });
    const refused = call('create_shape', box('a', 120, 'Record'));
    await expect(refused).rejects.toMatchObject({
      code: -32603,
      message: expect.stringContaining('repeated') as string,
    });
    expect(faults).toHaveLength(1);
    isBroken = false;
    expect((await call('create_shape', box('a', 120, 'Record'))).isError).toBe(false);
  });

  test('by the rules of OpenEnv it is status 200 all the same', async () => {
    const faults: string[] = [];
    const broken: typeof reset = () => {
      throw new TypeError('broken');
    };
    const app = createApp({ environment: { ...ENVIRONMENT, reset: broken }, log: (entry) => faults.push(entry) });
    const rpc = async (method: string, params: object = {}) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params });
      const response = await app.fetch(new Request('http://test/mcp', { method: 'POST', body }));
      expect(response.status).toBe(200);
      return (await response.json()) as { result?: { session_id: string }; error?: { code: number; message: string } };
    };
    const { result } = await rpc('openenv/session/create');
    const answer = await rpc('tools/call', { session_id: result?.session_id, name: 'start_diagram' });
    expect(answer).toMatchObject({ id: 7, error: { code: -32603, data: null } });
    expect(answer.error?.message).not.toContain('broken');
    expect(faults).toHaveLength(1);
  });
});
