/** The shortcut of the edit similarity leaves every result as it is. */
import fc from 'fast-check';
import { distance } from 'fastest-levenshtein';
import { expect, test } from 'vitest';
import { editSimilarity } from '../../server/reward/graded/similarity.ts';

const SEED = 11;
const LEAST = 0.6;

/** A long text and a changed copy of it, so that similarities around 0.6 are common. */
const pair = fc
  .record({
    letters: fc.constantFrom('ab', 'abcdefghijklmnopqrstuvwxyz ', 'aáĀ中한🚀'),
    length: fc.integer({ min: 1, max: 150 }),
    seed: fc.infiniteStream(fc.nat(10_000)),
    changed: fc.integer({ min: 0, max: 700 }),
  })
  .map(({ letters, length, seed, changed }) => {
    const next = (below: number): number => (seed.next().value as number) % below;
    const text = Array.from({ length }, () => letters[next(letters.length)]!);
    const copy = text.map((each) => (next(1000) < changed ? String.fromCharCode(65 + next(50)) : each));
    return [text.join(''), copy.join('')] as const;
  });

test(`is 1 - distance / length, or nothing below 0.6 (seed ${SEED})`, () => {
  const kinds = { alike: 0, unlike: 0 };
  fc.assert(
    fc.property(pair, ([a, b]) => {
      const exact = 1 - distance(a, b) / Math.max(a.length, b.length);
      const given = editSimilarity(a, b);
      kinds[exact >= LEAST ? 'alike' : 'unlike']++;
      if (exact >= LEAST) expect(given).toBe(exact);
      else expect(given).toBeLessThan(LEAST);
    }),
    { seed: SEED, numRuns: 2000 },
  );
  expect(Math.min(kinds.alike, kinds.unlike)).toBeGreaterThan(100);
});
