import { expect, test } from 'vitest';
import { createRng } from '../../schemas/seed.ts';
import { cellWeight, drawCell, nextCellMeans } from '../../trainer/curriculum.ts';

test('a cell weighs s (1 - s) + .05, and one not played yet the most', () => {
  expect(cellWeight(0)).toBeCloseTo(0.05);
  expect(cellWeight(1)).toBeCloseTo(0.05);
  expect(cellWeight(0.8)).toBeCloseTo(0.21);
  expect(cellWeight(undefined)).toBeCloseTo(0.3);
});

test('cells are drawn in proportion to their weights', () => {
  const rng = createRng(1n);
  const means = { easy: 1, half: 0.5 };
  const draws = Array.from({ length: 7000 }, () => drawCell(['easy', 'half'], means, rng));
  expect(draws.filter((cell) => cell === 'easy').length / 7000).toBeCloseTo(0.05 / 0.35, 1);
});

test('the mean of a played cell moves a fifth of the way, a first one is taken as it is, others stay', () => {
  const played = [
    { cell: 'a', reward: 1 },
    { cell: 'a', reward: 0.5 },
    { cell: 'b', reward: 0.4 },
  ];
  const next = nextCellMeans({ a: 0.5, c: 0.9 }, played);
  expect(next['a']).toBeCloseTo(0.55);
  expect(next['b']).toBeCloseTo(0.4);
  expect(next['c']).toBe(0.9);
});
