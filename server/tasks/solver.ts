/**
 * The reference solver: draws a task's expected graph with dagre, as an honest and careful agent would. Its drawing is
 * the gold that the reward is calibrated with, and the scripted upper bound of a benchmark.
 *
 * It never looks at a score: boxes are made to fit their labels, dagre places them, and the first of a few settings
 * (roomy to tight) that fits the canvas is taken.
 */
import dagre from '@dagrejs/dagre';
import type { Action, ShapeKind } from '../../schemas/action.ts';
import type { CanvasSize } from '../../schemas/canvas.ts';
import type { Direction, Expectation, ScoredTask } from '../../schemas/task.ts';
import { LINE_HEIGHT_PX, measureText, outerBox, wrapLabel } from '../reward/text.ts';

const RANK_DIRECTIONS = { down: 'TB', up: 'BT', right: 'LR', left: 'RL' } as const satisfies Record<Direction, string>;

/** Lengths in px. `labelWidth` is where labels wrap. */
interface Setting {
  readonly labelWidth: number;
  readonly nodeGap: number;
  readonly rankGap: number;
}

const SETTINGS: readonly Setting[] = [
  { labelWidth: 180, nodeGap: 60, rankGap: 60 },
  { labelWidth: 150, nodeGap: 50, rankGap: 50 },
  { labelWidth: 120, nodeGap: 40, rankGap: 40 },
  { labelWidth: 100, nodeGap: 30, rankGap: 30 },
  { labelWidth: 80, nodeGap: 24, rankGap: 24 },
];

interface Placed {
  readonly id: string;
  readonly label: string;
  readonly kind: ShapeKind;
  readonly w: number;
  readonly h: number;
  x: number;
  y: number;
}

/** Actions that draw the task's expected graph inside its canvas: all shapes, then all arrows. Pure. */
export function solve(task: ScoredTask & { expect: Expectation }): Action[] {
  const { expect, canvas } = task;
  const directions: readonly Direction[] = task.direction === undefined ? ['down', 'right'] : [task.direction];
  let best: { placed: Placed[]; excess: number } | undefined;
  for (const setting of SETTINGS) {
    for (const direction of directions) {
      const placed = place(expect, direction, setting);
      const excess = excessOf(placed, canvas);
      if (best === undefined || excess < best.excess) best = { placed, excess };
      if (excess <= 1) return toActions(expect, centre(placed, canvas));
    }
  }
  return toActions(expect, centre(best!.placed, canvas));
}

function place(expect: Expectation, direction: Direction, setting: Setting): Placed[] {
  const graph = new dagre.graphlib.Graph<object, { width: number; height: number; x?: number; y?: number }>();
  graph.setGraph({ rankdir: RANK_DIRECTIONS[direction], nodesep: setting.nodeGap, ranksep: setting.rankGap });
  graph.setDefaultEdgeLabel(() => ({}));
  const boxes = expect.nodes.map(({ id, label, shape }) =>
    sizeBox(id, label, shape ?? 'rectangle', setting.labelWidth),
  );
  for (const { id, w, h } of boxes) graph.setNode(id, { width: w, height: h });
  for (const { from, to } of expect.edges) {
    if (from !== to && !graph.hasEdge(to, from)) graph.setEdge(from, to);
  }
  dagre.layout(graph);
  for (const box of boxes) {
    const { x = 0, y = 0 } = graph.node(box.id);
    box.x = x - box.w / 2;
    box.y = y - box.h / 2;
  }
  return boxes;
}

const LEAST_WIDTH_PX = 100;
const LEAST_HEIGHT_PX = 48;
const ROOM_PX = 6;

function sizeBox(id: string, label: string, kind: ShapeKind, labelWidth: number): Placed {
  const lines = wrapLabel(label, labelWidth);
  const widest = lines.reduce((most, line) => Math.max(most, measureText(line)), 0);
  const inner = { w: Math.ceil(widest) + ROOM_PX, h: lines.length * LINE_HEIGHT_PX };
  const { w, h } = outerBox(kind, inner);
  return {
    id,
    label,
    kind,
    w: Math.ceil(Math.max(w, LEAST_WIDTH_PX)),
    h: Math.ceil(Math.max(h, LEAST_HEIGHT_PX)),
    x: 0,
    y: 0,
  };
}

const MARGIN_PX = 10;

function extentOf(placed: readonly Placed[]) {
  const left = placed.reduce((least, { x }) => Math.min(least, x), Infinity);
  const top = placed.reduce((least, { y }) => Math.min(least, y), Infinity);
  const right = placed.reduce((most, { x, w }) => Math.max(most, x + w), -Infinity);
  const bottom = placed.reduce((most, { y, h }) => Math.max(most, y + h), -Infinity);
  return { left, top, w: right - left, h: bottom - top };
}

/** How many times too large a drawing is for its canvas; at most 1 if it fits. */
function excessOf(placed: readonly Placed[], canvas: CanvasSize): number {
  const { w, h } = extentOf(placed);
  return Math.max(w / (canvas.w - 2 * MARGIN_PX), h / (canvas.h - 2 * MARGIN_PX));
}

function centre(placed: readonly Placed[], canvas: CanvasSize): Placed[] {
  const { left, top, w, h } = extentOf(placed);
  const [dx, dy] = [(canvas.w - w) / 2 - left, (canvas.h - h) / 2 - top];
  return placed.map((box) => ({ ...box, x: Math.round(box.x + dx), y: Math.round(box.y + dy) }));
}

function toActions(expect: Expectation, placed: readonly Placed[]): Action[] {
  return [
    ...placed.map(({ id, label, kind, x, y, w, h }): Action => {
      return { type: 'create_shape', id, shape: kind, x, y, w, h, text: label };
    }),
    ...expect.edges
      .filter(({ from, to }) => from !== to)
      .map(({ from, to, label = '' }): Action => ({ type: 'connect', from, to, text: label })),
  ];
}
