import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assign, type Candidate } from '../../server/reward/graded/hungarian.ts';

const SEED = 7;

/** Largest sum of values over all one-to-one assignments, by trying them all. */
function bruteForce(rows: number, candidates: readonly Candidate[], row = 0, taken = new Set<number>()): number {
  if (row === rows) return 0;
  let best = bruteForce(rows, candidates, row + 1, taken);
  for (const { column, value } of candidates.filter((pair) => pair.row === row && !taken.has(pair.column))) {
    best = Math.max(best, value + bruteForce(rows, candidates, row + 1, new Set([...taken, column])));
  }
  return best;
}

test(`assign finds the largest sum, one to one (seed ${SEED})`, () => {
  const pair = fc.record({ row: fc.nat(5), column: fc.nat(6), value: fc.integer({ min: 1, max: 20 }) });
  const pairs = fc.uniqueArray(pair, { selector: ({ row, column }) => row * 10 + column, maxLength: 30 });
  fc.assert(
    fc.property(pairs, (candidates) => {
      const columnOf = [...assign(6, candidates)];
      const chosen = columnOf.filter((column) => column >= 0);
      expect(new Set(chosen).size).toBe(chosen.length);
      const valueOf = (row: number, column: number): number =>
        column < 0 ? 0 : candidates.find((each) => each.row === row && each.column === column)!.value;
      const sum = columnOf.reduce((total, column, row) => total + valueOf(row, column), 0);
      expect(sum).toBe(bruteForce(6, candidates));
    }),
    { seed: SEED, numRuns: 400 },
  );
});

test('one good column that many rows want goes to the row that gains most', () => {
  const candidates = [
    { row: 0, column: 0, value: 1 },
    { row: 1, column: 0, value: 0.9 },
    { row: 0, column: 1, value: 0.8 },
  ];
  expect([...assign(2, candidates)]).toEqual([1, 0]);
});

test('300 rows that all want 200 columns are assigned in well under a second', () => {
  const candidates = Array.from({ length: 60_000 }, (_, i) => ({
    ...{ row: Math.floor(i / 200), column: i % 200, value: 0.6 + ((i * 7919) % 400) / 1000 },
  }));
  const start = performance.now();
  expect(assign(300, candidates).filter((column) => column >= 0)).toHaveLength(200);
  expect(performance.now() - start).toBeLessThan(2000);
});
