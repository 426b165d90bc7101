import { describe, expect, test } from 'vitest';
import { computeAdvantages, isFlatGroup, nextMovingMean } from '../../trainer/advantage.ts';
import { mean, pairedDifference, standardDeviation, standardError } from '../../trainer/statistics.ts';

describe('computeAdvantages', () => {
  const returns = [0.1, 0.4, 0.4, 0.9];

  test.each([
    ['none', [0.1, 0.4, 0.4, 0.9]],
    ['moving_mean', [-0.4, -0.1, -0.1, 0.4]],
    ['group_mean', [-0.35, -0.05, -0.05, 0.45]],
    ['leave_one_out', [-0.35, -0.05, -0.05, 0.45].map((value) => (value * 4) / 3)],
  ] as const)('%s', (baseline, expected) => {
    const advantages = computeAdvantages(returns, { baseline, normalise: false, moving_mean: 0.5 });
    advantages.forEach((value, i) => {
      expect(value).toBeCloseTo(expected[i]!, 12);
    });
  });

  test('normalised: unit standard deviation, bounded by sqrt(n)', () => {
    const advantages = computeAdvantages(returns, { baseline: 'group_mean', normalise: true });
    expect(standardDeviation(advantages)).toBeCloseTo(1, 12);
    expect(Math.max(...advantages.map(Math.abs))).toBeLessThan(Math.sqrt(returns.length));
  });

  test.each(['group_mean', 'leave_one_out'] as const)(
    '%s: a flat group has exact zeros (case E03, E04)',
    (baseline) => {
      const rounded = [0.1 + 0.2, 0.3, 0.3, 0.3 + Number.EPSILON];
      expect(isFlatGroup(rounded)).toBe(true);
      for (const normalise of [false, true]) {
        expect(computeAdvantages(rounded, { baseline, normalise })).toEqual([0, 0, 0, 0]);
      }
    },
  );

  test.each([
    ['none', [0.9 / 0.2, 0.9001 / 0.2]],
    ['moving_mean', [0.1 / 0.2, 0.1001 / 0.2]],
  ] as const)(
    '%s: normalised over the batch, so that a group nearly flat is not blown up (case E04)',
    (baseline, expected) => {
      const options = { baseline, normalise: true, moving_mean: 0.8 };
      const advantages = computeAdvantages([0.9, 0.9001], { ...options, batch_std: 0.2 });
      advantages.forEach((value, i) => {
        expect(value).toBeCloseTo(expected[i]!, 12);
      });
      const ofFlatBatch = computeAdvantages([0.9, 0.9], { ...options, batch_std: 0 });
      expect(ofFlatBatch).toEqual(computeAdvantages([0.9, 0.9], { ...options, normalise: false }));
    },
  );

  test.each(['group_mean', 'leave_one_out'] as const)(
    '%s: a group of one has nothing to be compared with',
    (baseline) => {
      expect(computeAdvantages([0.9], { baseline, normalise: true })).toEqual([0]);
    },
  );

  test('the moving mean starts at the first batch and keeps nine tenths', () => {
    expect(nextMovingMean(undefined, [0.2, 0.4])).toBeCloseTo(0.3, 12);
    expect(nextMovingMean(0.3, [0.8])).toBeCloseTo(0.35, 12);
  });
});

describe('statistics', () => {
  test('against values computed by hand', () => {
    expect(mean([1, 2, 3, 6])).toBe(3);
    expect(standardDeviation([1, 2, 3, 6])).toBeCloseTo(Math.sqrt(14 / 3), 12);
    expect(standardError([1, 2, 3, 6])).toBeCloseTo(Math.sqrt(14 / 12), 12);
  });

  test('paired difference: the tasks’ own difficulty cancels', () => {
    const difference = pairedDifference([0.2, 0.7, 0.9], [0.1, 0.5, 0.6]);
    expect(difference.mean).toBeCloseTo(0.2, 12);
    expect(difference.standard_error).toBeCloseTo(0.1 / Math.sqrt(3), 12);
    expect(() => pairedDifference([1], [1, 2])).toThrow(RangeError);
  });
});
