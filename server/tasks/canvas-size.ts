/** The drawing area of a generated task: 1200 x 800 at levels 1 and 2, above that as much as the graph needs. */
import type { CanvasSize } from '../../schemas/canvas.ts';
import type { Rng } from '../../schemas/seed.ts';
import { DEFAULT_CANVAS_SIZE, type Direction, type Level } from '../../schemas/task.ts';
import type { Structure } from './families.ts';

/** Canvas pixels a box and the gap after it may take along and across the reading direction. */
const STEP = { w: 260, h: 160 } as const;
const MARGIN = 100;
const GRID = 100;

/** Ranks of the longest path that follows the reading order, and the most nodes in one of them. */
function extentOf({ parts, links }: Structure): { depth: number; breadth: number } {
  const ranks = parts.map(() => 0);
  for (const { from, to } of [...links].sort((a, b) => a.from - b.from)) {
    if (from < to) ranks[to] = Math.max(ranks[to]!, ranks[from]! + 1);
  }
  const counts = ranks.map((rank) => ranks.filter((other) => other === rank).length);
  return { depth: Math.max(...ranks) + 1, breadth: Math.max(...counts) };
}

const roundUp = (value: number): number => Math.ceil(value / GRID) * GRID;

export function drawCanvas(rng: Rng, structure: Structure, level: Level, direction: Direction | undefined): CanvasSize {
  if (level <= 2) return { ...DEFAULT_CANVAS_SIZE };
  const { depth, breadth } = extentOf(structure);
  const vertical = direction === 'down' || direction === 'up';
  const [columns, rows] = vertical ? [breadth, depth] : [depth, breadth];
  const side = (count: number, step: number, least: number): number =>
    Math.max(least, roundUp(MARGIN + count * step) + GRID * rng.int(0, 2));
  return { w: side(columns, STEP.w, DEFAULT_CANVAS_SIZE.w), h: side(rows, STEP.h, DEFAULT_CANVAS_SIZE.h) };
}
