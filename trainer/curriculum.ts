/**
 * Curriculum: which cells, a family at a level, the tasks of a step come from. Where the reward is near 0 or near 1 there is
 * little to learn, so a cell with mean reward s is drawn in proportion to s (1 - s) + .05.
 * After the learnability of a task, p (1 - p): Tzannetos et al. 2023, arXiv 2304.12877; prioritised levels: Jiang et al. 2021, arXiv 2010.03934.
 */
import type { Rng } from '../schemas/seed.ts';

/** Running mean reward by cell name; cells not played yet are missing. Goes into the checkpoint. */
export type CellMeans = Readonly<Record<string, number>>;

/** Weight of the newest mean. */
const RATE = 0.2;
/** What a cell not played yet counts as: the most that can be learned. */
const UNKNOWN = 0.5;
const LEAST = 0.05;

/** Share in which a cell is drawn, before they are made to add up to 1. */
export function cellWeight(mean: number | undefined): number {
  const s = mean ?? UNKNOWN;
  return s * (1 - s) + LEAST;
}

/** One of the cells, in proportion to its weight. */
export function drawCell(cells: readonly string[], means: CellMeans, rng: Rng): string {
  const weights = cells.map((cell) => cellWeight(means[cell]));
  let left = rng.next() * weights.reduce((a, b) => a + b, 0);
  for (const [i, weight] of weights.entries()) {
    left -= weight;
    if (left < 0) return cells[i]!;
  }
  return cells.at(-1)!;
}

/** The means after a step: each played cell moves a fifth of the way to the mean of its episodes. */
export function nextCellMeans(means: CellMeans, played: readonly { cell: string; reward: number }[]): CellMeans {
  const sums = new Map<string, { sum: number; count: number }>();
  for (const { cell, reward } of played) {
    const { sum, count } = sums.get(cell) ?? { sum: 0, count: 0 };
    sums.set(cell, { sum: sum + reward, count: count + 1 });
  }
  const next: Record<string, number> = { ...means };
  for (const [cell, { sum, count }] of sums) {
    const now = sum / count;
    const before = means[cell];
    next[cell] = before === undefined ? now : before + RATE * (now - before);
  }
  return next;
}
