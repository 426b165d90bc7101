/** The events of a call's answer: parts that survive what ORS clients do to them, and comments while it has to wait. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createDispatcher } from '../../server/dispatch.ts';
import { createNodeListener } from '../../server/node-listener.ts';
import { createOrsKeeper } from '../../server/protocols/ors/sessions.ts';
import { CHUNK_SIZE, toChunks, toEvents, toLateEvents, type Event } from '../../server/protocols/ors/events.ts';

/** As the openreward client reads the data of an event: as UTF-8, and all that Python calls white space is taken off its front. */
const received = (chunk: string): string =>
  new TextDecoder().decode(new TextEncoder().encode(chunk)).replace(/^[\s\x85]+/, '');

const dataOf = (json: string): string[] => toChunks(json).map(([, data]) => data);

describe('parts of an answer', () => {
  const run = { seed: 20_261_130, numRuns: 300 };
  /** Mostly of what is trimmed, escaped, or longer than one unit. */
  const letter = fc.constantFrom(
    ' ',
    ' ',
    '\u00a0',
    '\u3000',
    '\u0085',
    '\n',
    '"',
    '\\',
    '\u0000',
    'é',
    '漢',
    '😀',
    '\ud83d',
    'x',
  );
  const text = fc.array(fc.array(letter, { maxLength: 300 }), { maxLength: 60 }).map((parts) => parts.flat().join(''));

  test('are the same value once they are joined (seeded property)', () => {
    fc.assert(
      fc.property(text, (value) => {
        const chunks = dataOf(JSON.stringify({ text: value }));
        expect(JSON.parse(chunks.map(received).join(''))).toEqual({ text: value });
        for (const chunk of chunks) {
          expect(chunk.length).toBeLessThanOrEqual(CHUNK_SIZE);
          expect(chunk).not.toMatch(/[\r\n]/);
        }
      }),
      run,
    );
  });

  test.each([
    ['spaces', ' '.repeat(20_000)],
    ['characters of two units, at an even place', '😀'.repeat(5000)],
    ['characters of two units, at an odd place', `x${'😀'.repeat(5000)}`],
  ])('of nothing but %s', (_, value) => {
    const chunks = dataOf(JSON.stringify(value));
    expect(chunks.length).toBeGreaterThan(1);
    expect(JSON.parse(chunks.map(received).join(''))).toBe(value);
  });

  test.each([1, CHUNK_SIZE - 1, CHUNK_SIZE])('an answer of %i characters is one part', (length) => {
    expect(toChunks('1'.repeat(length))).toEqual([['end', '1'.repeat(length)]]);
  });

  test('are events of which the last one says that it is', () => {
    const events = toChunks('1'.repeat(2 * CHUNK_SIZE + 1));
    expect(events.map(([event, data]) => [event, data.length])).toEqual([
      ['chunk', CHUNK_SIZE],
      ['chunk', CHUNK_SIZE],
      ['end', 1],
    ]);
    expect(toEvents([['task_id', 't'], ...events.slice(2)])).toMatchObject({
      content_type: 'text/event-stream',
      body: 'event: task_id\ndata: t\n\nevent: end\ndata: 1\n\n',
    });
  });
});

describe('an answer that has to wait', () => {
  const HEAD: Event = ['task_id', 't'];
  const EVENTS: Event[] = [['end', '1']];
  const after = async (ms: number, error?: Error): Promise<Event[]> => {
    await sleep(ms);
    if (error) throw error;
    return EVENTS;
  };
  const never = (error: unknown): void => expect.fail(String(error));
  const textOf = (body: unknown): Promise<string> => new Response(body as ReadableStream<Uint8Array>).text();

  test('is one piece where it is there in time', async () => {
    expect((await toLateEvents(HEAD, after(0), 5000, never)).body).toBe(
      'event: task_id\ndata: t\n\nevent: end\ndata: 1\n\n',
    );
  });

  test('comes after comments where it is not', async () => {
    const { body } = await toLateEvents(HEAD, after(130), 25, never);
    const text = await textOf(body);
    expect(text.split(': ping\n\n').length).toBeGreaterThan(2);
    expect(text.replaceAll(': ping\n\n', '')).toBe('event: task_id\ndata: t\n\nevent: end\ndata: 1\n\n');
  });

  test('that fails in time is a refusal; later it is an event, and the fault is reported', async () => {
    await expect(toLateEvents(HEAD, after(0, new Error('early')), 5000, never)).rejects.toThrow('early');
    const told: unknown[] = [];
    const { body } = await toLateEvents(HEAD, after(60, new Error('late')), 20, (error) => told.push(error));
    const text = await textOf(body);
    expect(text).toMatch(/^event: task_id\ndata: t\n\n(: ping\n\n)+event: error\ndata: the server failed/);
    expect(text).not.toContain('late');
    expect(told.map(String)).toEqual(['Error: late']);
  });

  test('reaches a client over a socket, and a client that leaves harms nobody', async () => {
    const limits = { max_sessions: 4, idle_ms: 60_000 };
    const keep = createOrsKeeper(limits, () => performance.now());
    let waits = 0;
    const dispatcher = createDispatcher({
      ors: { ping_ms: 20 },
      keepers: { ors: (call) => sleep(waits).then(() => keep(call)) },
    });
    const server = createServer(createNodeListener(dispatcher, (_, response) => response.writeHead(500).end()));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const post = (path: string, body: unknown, signal?: AbortSignal): Promise<Response> =>
      fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-session-id': 's' },
        body: JSON.stringify(body),
        ...(signal && { signal }),
      });
    const call = { name: 'select', input: { ids: [] } };
    expect((await post('/create', { split: 'train', index: 0 })).status).toBe(200);
    waits = 100;
    const answer = await post('/call', call);
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    const said = await answer.text();
    expect(said).toMatch(/^event: task_id\ndata: s\.[-\w]+\n\n(: ping\n\n)+event: end\ndata: {"ok":true,/);
    const id = /data: (\S+)/.exec(said)![1];
    const leave = new AbortController();
    const left = post('/call', call, leave.signal).then((response) => response.text());
    await sleep(120);
    leave.abort();
    await expect(left).rejects.toThrow();
    const again = await (await post('/call', { ...call, task_id: id })).text();
    expect(again.replaceAll(': ping\n\n', '')).toBe(said.replaceAll(': ping\n\n', ''));
    server.closeAllConnections();
    server.close();
  });
});
