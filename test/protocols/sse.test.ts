/** The events of a call's answer: parts that survive what ORS clients do to them. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CHUNK_SIZE, toChunks, toEvents } from '../../server/protocols/ors/events.ts';

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
