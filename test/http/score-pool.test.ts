/** Batches scored by threads: the same bytes as without, others are not kept waiting, and a thread that ends is no reward. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../server/app.ts';
import { DEFAULT_BODY_LIMITS, type Reply } from '../../server/dispatch.ts';
import { createMetrics } from '../../server/metrics.ts';
import { startServer } from '../../server/main.ts';
import { createScorePool, type BatchRequest, type ScorePool } from '../../server/score-pool.ts';
import { GOLDEN } from './support.ts';

function batch(size: number, reward = 'graded'): string {
  const items = Array.from({ length: size }, (_, i) => GOLDEN[i % GOLDEN.length]!);
  const prompts = items.map(({ prompt }) => prompt);
  return JSON.stringify({ prompts, completions: items.map(({ completion }) => completion), reward });
}

const post = (body: string): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body,
});
type Path = '/score' | '/get_reward?reward=article' | '/fai_rl';

const ROUTE_OF = {
  '/score': { route: 'score', query: {} },
  '/get_reward?reward=article': { route: 'openrlhf_get_reward', query: { reward: 'article' } },
  '/fai_rl': { route: 'fai_rl_score', query: {} },
} as const;

const toRequest = (text: string, path: Path = '/score'): BatchRequest => ({
  ...ROUTE_OF[path],
  body: new TextEncoder().encode(text),
});

async function inProcess(body: string, path: Path = '/score'): Promise<{ status: number; text: string }> {
  const response = await createApp().fetch(new Request(`http://x${path}`, post(body)));
  return { status: response.status, text: await response.text() };
}

/** Asks until a thread is ready and has taken the body. */
async function scoreInThread(pool: ScorePool, body: string, path?: Path): Promise<Reply> {
  for (let tried = 0; tried < 500; tried++) {
    const scored = pool.score(toRequest(body, path));
    if (scored) return scored;
    await sleep(20);
  }
  throw new Error('no thread was ready within 10 s');
}

describe('the pool', () => {
  const metrics = createMetrics();
  const faults: string[] = [];
  const log = (entry: string): void => void faults.push(entry);
  const options = { body_limits: DEFAULT_BODY_LIMITS, metrics, log };
  const pool = createScorePool({ ...options, threads: 2 });
  afterAll(async () => {
    await pool.close();
    metrics.close();
  });

  const withUnknownTask = JSON.stringify({
    completions: ['x'.repeat(10_000)],
    context: { task_id: ['train.nothing.1.1'] },
  });
  test.each([
    ['a batch', batch(300), 200],
    ['what is no JSON', `{"completions":[${'"a",'.repeat(4000)}]`, 400],
    ['an unknown task', withUnknownTask, 404],
    [
      'columns of different length',
      JSON.stringify({ prompts: ['a'], completions: Array<string>(4000).fill('b') }),
      422,
    ],
  ])('%s is answered with the bytes that the main thread would answer', async (_, body, status) => {
    const reply = await scoreInThread(pool, body);
    const text = new TextDecoder().decode(reply.body as Uint8Array);
    expect({ status: reply.status, text }).toEqual(await inProcess(body));
    expect(reply.status).toBe(status);
  });

  const labels = Array.from({ length: 300 }, (_, i) => `train.pipeline.1.${i}`);
  const answers = labels.map((_, i) => GOLDEN[i % GOLDEN.length]!.completion);
  test.each<[Path, object]>([
    ['/get_reward?reward=article', { query: answers, labels }],
    ['/fai_rl', { prompts: answers, completions: answers, context: { task_id: labels } }],
    [
      '/fai_rl',
      { prompts: answers, completions: answers, context: { task_id: [...labels.slice(1), 'train.pipeline.1'] } },
    ],
  ])('a batch for %s too', async (path, batchOf) => {
    const body = JSON.stringify(batchOf);
    const reply = await scoreInThread(pool, body, path);
    const text = new TextDecoder().decode(reply.body as Uint8Array);
    expect({ status: reply.status, text }).toEqual(await inProcess(body, path));
  });

  test('completions scored in threads are counted', async () => {
    const before = countOf(metrics.toText(), 'weak');
    await scoreInThread(pool, batch(200, 'weak'));
    expect(countOf(metrics.toText(), 'weak') - before).toBe(200);
  });

  test('small bodies stay where they are', () => {
    expect(pool.score(toRequest(batch(1)))).toBeUndefined();
  });

  test('none where no threads are allowed', () => {
    const none = createScorePool({ ...options, threads: 0 });
    expect(none.score(toRequest(batch(300)))).toBeUndefined();
  });

  test('a thread that ends while it scores is a fault, not an answer', async () => {
    const own = createScorePool({ ...options, threads: 1 });
    await scoreInThread(own, batch(200));
    const scored = scoreInThread(own, batch(4096));
    const outcome = expect(scored).rejects.toThrow('ended');
    await own.close();
    await outcome;
  });

  test('nothing was reported as a fault', () => {
    expect(faults).toEqual([]);
  });
});

function countOf(text: string, preset: string): number {
  return Number(new RegExp(`completions_total\\{preset="${preset}"\\} (\\d+)`).exec(text)?.[1] ?? 0);
}

describe('a server', () => {
  let server: Awaited<ReturnType<typeof startServer>>;
  beforeAll(async () => {
    server = await startServer({ port: 0, score_threads: 1 });
  });
  afterAll(() => server.close());

  test('answers others while a large batch is scored, and the batch as ever', async () => {
    const order: string[] = [];
    const body = batch(4096);
    const ask = async (): Promise<string> => (await fetch(`${server.url}/score`, post(body))).text();
    await ask(); // the thread starts
    for (let tried = 0; tried < 10 && order[0] !== 'health'; tried++) {
      order.length = 0;
      const scored = ask().then((text) => (order.push('batch'), text));
      await sleep(5);
      await fetch(`${server.url}/health`).then(() => order.push('health'));
      expect(await scored).toBe((await inProcess(body)).text);
    }
    expect(order).toEqual(['health', 'batch']);
  });
});
