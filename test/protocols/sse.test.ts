/** The stream of a call's answer: parts that survive what ORS clients do to them, comments while one waits, an early end. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CHUNK_SIZE, streamAnswer, toChunks } from '../../server/protocols/ors/events.ts';

/** As the openreward client reads the data of an event: as UTF-8, and all that Python calls white space is taken off its front. */
const received = (chunk: string): string =>
  new TextDecoder().decode(new TextEncoder().encode(chunk)).replace(/^[\s\x85]+/, '');

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
        const chunks = toChunks(JSON.stringify({ text: value }));
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
    const chunks = toChunks(JSON.stringify(value));
    expect(chunks.length).toBeGreaterThan(1);
    expect(JSON.parse(chunks.map(received).join(''))).toBe(value);
  });

  test.each([1, CHUNK_SIZE - 1, CHUNK_SIZE])('an answer of %i characters is one part', (length) => {
    expect(toChunks('1'.repeat(length))).toEqual(['1'.repeat(length)]);
  });
});

/** A promise that is kept from outside. */
function pending(): { promise: Promise<string>; resolve: (value: string) => void } {
  let resolve!: (value: string) => void;
  const promise = new Promise<string>((done) => (resolve = done));
  return { promise, resolve };
}

describe('a stream', () => {
  const read = async (stream: ReadableStream<Uint8Array>): Promise<string> => new Response(stream).text();

  test('of an answer that is there', async () => {
    expect(await read(streamAnswer('t', Promise.resolve('{}')))).toBe(
      'event: task_id\ndata: t\n\nevent: end\ndata: {}\n\n',
    );
  });

  test('of a call that failed', async () => {
    const text = await read(streamAnswer('t', Promise.reject(new Error('no'))));
    expect(text).toBe('event: task_id\ndata: t\n\nevent: error\ndata: no\n\n');
  });

  test('gives the id at once, and comments while the call runs', async () => {
    const { promise, resolve } = pending();
    const reader = streamAnswer('t', promise, 10).getReader();
    const next = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value);
    expect(await next()).toBe('event: task_id\ndata: t\n\n');
    expect(await next()).toBe(': ping\n\n');
    expect(await next()).toBe(': ping\n\n');
    resolve('{}');
    let last = await next();
    while (last === ': ping\n\n') last = await next();
    expect(last).toBe('event: end\ndata: {}\n\n');
    expect((await reader.read()).done).toBe(true);
  });

  test('whose reader leaves ends without a fault, and the call goes on', async () => {
    const { promise, resolve } = pending();
    const reader = streamAnswer('t', promise, 5).getReader();
    await reader.read();
    await reader.cancel();
    resolve('{}');
    expect(await promise).toBe('{}');
    await new Promise((done) => setTimeout(done, 30)); // a comment into a closed stream would be an unhandled exception
  });
});
