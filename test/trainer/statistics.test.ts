/** Estimates of an evaluation against what they should be: by enumeration, by coverage, and by hand. */
import { describe, expect, test } from 'vitest';
import { createRng, hash64 } from '../../schemas/seed.ts';
import { bootstrapInterval, mean, passAtK, standardError } from '../../trainer/statistics.ts';

/** Share of all choices of k among n samples, of which the first c pass, that hold one that passes. */
function passByEnumeration(n: number, c: number, k: number): number {
  const choose = (from: number, left: number): number[][] =>
    left === 0
      ? [[]]
      : Array.from({ length: n - from }, (_, i) => from + i).flatMap((first) =>
          choose(first + 1, left - 1).map((rest) => [first, ...rest]),
        );
  return mean(choose(0, k).map((picked) => Number(picked.some((sample) => sample < c))));
}

describe('pass@k', () => {
  test('is the share of choices of k samples that hold one that passes', () => {
    for (let n = 1; n <= 7; n++) {
      for (let c = 0; c <= n; c++) {
        for (let k = 1; k <= n; k++) expect(passAtK(n, c, k)).toBeCloseTo(passByEnumeration(n, c, k), 12);
      }
    }
  });

  test('of many samples it is exact where binomials would overflow', () => {
    expect(passAtK(2000, 1, 1000)).toBeCloseTo(0.5, 9);
    expect(passAtK(2000, 0, 1000)).toBe(0);
  });

  test.each([
    [4, 2, 5],
    [4, 2, 0],
    [4, 5, 1],
    [4, -1, 1],
  ])('%i samples, %i passed, k = %i is refused', (n, c, k) => {
    expect(() => passAtK(n, c, k)).toThrow(RangeError);
  });
});

describe('bootstrap interval', () => {
  test('holds the true mean of skewed values in about 95 of 100 draws', () => {
    const rng = createRng(hash64('bootstrap test'));
    const isHeld = (): boolean => {
      const values = Array.from({ length: 60 }, () => (rng.next() < 0.3 ? 0 : Math.sqrt(rng.next()))); // mean .7 * 2/3
      const { low, high } = bootstrapInterval(values);
      return low <= 0.7 * (2 / 3) && 0.7 * (2 / 3) <= high;
    };
    const held = mean(Array.from({ length: 150 }, () => Number(isHeld())));
    expect(held).toBeGreaterThan(0.89);
    expect(held).toBeLessThan(0.99);
  });

  test('is about two standard errors to each side, the same each time, and a point where all values are equal', () => {
    const rng = createRng(hash64('bootstrap width'));
    const values = Array.from({ length: 200 }, () => rng.next());
    const { low, high } = bootstrapInterval(values);
    expect((high - low) / standardError(values)).toBeCloseTo(2 * 1.96, 0);
    expect(bootstrapInterval(values)).toEqual({ low, high });
    const even = bootstrapInterval([0.5, 0.5, 0.5]);
    expect([even.low, even.high]).toEqual([0.5, 0.5]);
    expect(bootstrapInterval([])).toEqual({ low: NaN, high: NaN });
  });
});
