/** The TypeScript client: a method for each route, typed errors, retries that give up, and nothing known of the server. */
import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  ConnectionError,
  createClient,
  ResponseError,
  type Client,
  type ClientOptions,
} from '../../clients/ts/index.ts';
import type { StepResponse } from '../../schemas/responses.ts';
import { ENV_ROUTE_IDS } from '../../schemas/routes.ts';
import { createApp } from '../../server/app.ts';

const app = createApp();
const inProcess = (request: Request): Response | Promise<Response> => app.fetch(request);

/** A client whose first answers are given, then those of the app; and the requests it sent. */
function scripted(
  answers: (Response | Error)[],
  options: Partial<ClientOptions> = {},
): { client: Client; sent: Request[] } {
  const sent: Request[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    sent.push(request.clone());
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer ?? (await inProcess(request));
  };
  return { client: createClient({ url: 'http://test', fetch, retry_delay_ms: 1, ...options }), sent };
}

const failure = (status: number, headers = {}): Response => new Response('<h1>busy</h1>', { status, headers });

test('has a method for each route', () => {
  expect(Object.keys(createClient({ url: 'http://test' })).sort()).toEqual([...ENV_ROUTE_IDS].sort());
});

test('its types are those of the routes', () => {
  expectTypeOf<Client['step']>().returns.resolves.toEqualTypeOf<StepResponse>();
  expectTypeOf<Client['render']>().returns.resolves.toEqualTypeOf<Blob>();
  expectTypeOf<Client['reset']>().toBeCallableWith();
  expectTypeOf<Client['reset']>().toBeCallableWith({ seed: '7', level: 3 });
  expectTypeOf<Client['task']>().toBeCallableWith({ task_id: 'train.er.1.0' });
  // @ts-expect-error an action is needed
  expectTypeOf<Client['step']>().toBeCallableWith({ prompt: 'x' });
  // @ts-expect-error no such preset
  expectTypeOf<Client['reset']>().toBeCallableWith({ reward: 'best' });
});

test.each(ENV_ROUTE_IDS)('%s answers', async (id) => {
  const inputs: Partial<Record<(typeof ENV_ROUTE_IDS)[number], unknown>> = {
    step: { prompt: 'x', action: 'y' },
    reward: { prompt: 'x', completion: 'y' },
    score: { prompts: ['x'], completions: ['y'] },
    render: { actions: [] },
    task: { task_id: 'val.er.1.0' },
  };
  const client = createClient({ url: 'http://test', fetch: inProcess });
  const method = client[id] as (input?: unknown) => Promise<object>;
  const answer = await method(inputs[id]);
  expect(answer instanceof Blob ? answer.size : Object.keys(answer).length).toBeGreaterThan(0);
});

test('a path in the address is kept, parameters are encoded, what is undefined is left out', async () => {
  const { client, sent } = scripted([], { url: 'http://test/env/', headers: { authorization: 'Bearer x' } });
  await client.tasks({ split: 'val', level: 2, family: undefined, limit: 3 }).catch(() => undefined);
  await client.task({ task_id: 'a/b?c' }).catch(() => undefined);
  expect(sent.map(({ url }) => url)).toEqual([
    'http://test/env/tasks?split=val&level=2&limit=3',
    'http://test/env/tasks/a%2Fb%3Fc',
  ]);
  expect(sent[0]?.headers.get('authorization')).toBe('Bearer x');
});

describe('errors', () => {
  test('a refusal carries code, status, place and details', async () => {
    const { client, sent } = scripted([]);
    const error = await client.reset({ seed: -1 }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ResponseError);
    expect(error).toMatchObject({ code: 'bad_seed', status: 400, path: 'body.seed', name: 'ResponseError' });
    expect((error as ResponseError).message).toMatch(/^body.seed: must be an integer/);
    expect((error as ResponseError).detail).toHaveLength(1);
    expect(sent).toHaveLength(1); // what is refused once is refused again
  });

  const typed = (status: number, body: string, type: string): Response =>
    new Response(body, { status, headers: { 'content-type': type } });

  test.each([
    ['a page', typed(404, '<h1>busy</h1>', 'text/html; charset=utf-8'), 404, '404 text/html'],
    ['a page that is there', typed(200, '<h1>Welcome</h1>', 'text/html'), 200, '200 text/html'],
    ['JSON of another service', typed(404, '{"detail":"Not Found"}', 'application/json'), 404, '404 application/json'],
    ['nothing at all', new Response(null, { status: 204 }), 204, '204'],
  ])('%s says that the server is another one', async (_, answer, status, answered) => {
    const { client } = scripted([answer], { url: 'http://test/env' });
    await expect(client.health()).rejects.toMatchObject({
      ...{ code: 'unknown', status, message: `no canvas-gym server at http://test/env (answered ${answered})` },
    });
  });

  test('no answer', async () => {
    const client = createClient({ url: 'http://127.0.0.1:1', retries: 1, retry_delay_ms: 1 });
    const error = await client.health().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({
      code: 'connection',
      message: expect.stringMatching(/^no answer from http:\/\/127.0.0.1:1\/health: /) as string,
    });
  });
});

describe('retries', () => {
  test.each([408, 429, 502, 503, 504])('after %i the request is repeated', async (status) => {
    const { client, sent } = scripted([failure(status), failure(status)]);
    await client.reset({ seed: 3 });
    expect(await Promise.all(sent.map((request) => request.text()))).toEqual([
      '{"seed":3}',
      '{"seed":3}',
      '{"seed":3}',
    ]);
  });

  test('after a broken connection too', async () => {
    const { client, sent } = scripted([new TypeError('fetch failed')]);
    expect(await client.health()).toMatchObject({ status: 'healthy' });
    expect(sent).toHaveLength(2);
  });

  test('after an answer that breaks off in its middle', async () => {
    const half = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.error(new Error('terminated'));
      },
    });
    const { client, sent } = scripted([new Response(half, { status: 200 })]);
    expect(await client.health()).toMatchObject({ status: 'healthy' });
    expect(sent).toHaveLength(2);
  });

  test('they give up, with the last answer', async () => {
    const { client, sent } = scripted([failure(503), failure(503), failure(502)], { retries: 2 });
    await expect(client.health()).rejects.toMatchObject({ status: 502 });
    expect(sent).toHaveLength(3);
  });

  test('they wait as long as the server says', async () => {
    const { client } = scripted([failure(503, { 'retry-after': '0.2' })]);
    const start = performance.now();
    await client.health();
    expect(performance.now() - start).toBeGreaterThan(190);
  });

  test('an attempt that takes too long counts as broken', async () => {
    let attempts = 0;
    const never = (request: Request): Promise<Response> => {
      attempts++;
      return new Promise((_, reject) => {
        request.signal.addEventListener('abort', () => {
          reject(request.signal.reason as Error);
        });
      });
    };
    const client = createClient({ url: 'http://test', fetch: never, timeout_ms: 20, retries: 1, retry_delay_ms: 1 });
    await expect(client.health()).rejects.toBeInstanceOf(ConnectionError);
    expect(attempts).toBe(2);
  });

  test('the caller can end it: no more attempts, and its own reason', async () => {
    const controller = new AbortController();
    const { client, sent } = scripted([failure(503), failure(503), failure(503)], { retry_delay_ms: 5000 });
    const call = client.health({}, { signal: controller.signal });
    setTimeout(() => {
      controller.abort(new Error('enough'));
    }, 20);
    const start = performance.now();
    await expect(call).rejects.toThrow('enough');
    expect([sent.length, performance.now() - start < 1000]).toEqual([1, true]);
  });
});
