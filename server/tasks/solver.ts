/**
 * The reference solver: draws a task's expected graph with dagre, as an honest and careful agent would. Its drawing is
 * the gold that the reward is calibrated with, and what a perfect reader of the prompt could reach.
 *
 * It never looks at a score. Boxes are made to fit their labels, dagre places them, and the first of a few settings, from
 * roomy to tight, that fits the canvas is taken; where none fits, the tightest is pressed together until it does.
 * Left out: loops from a node to itself, which the canvas refuses, and bent arrows, which it does not have.
 */
import * as dagre from '@dagrejs/dagre';
import type { Action, ShapeKind } from '../../schemas/action.ts';
import type { CanvasSize } from '../../schemas/canvas.ts';
import type { Direction, Expectation, ScoredTask } from '../../schemas/task.ts';
import { LINE_HEIGHT_PX, measureText, outerBox, wrapLabel } from '../reward/text.ts';

interface DagreGraph {
  setGraph(label: { rankdir: string; nodesep: number; ranksep: number }): void;
  setDefaultEdgeLabel(label: () => object): void;
  setNode(id: string, size: { width: number; height: number }): void;
  setEdge(from: string, to: string): void;
  hasEdge(from: string, to: string): boolean;
  /** Centre, px, after `layout`. */
  node(id: string): { x: number; y: number };
}

/** The part of dagre used here (its own declarations do not resolve under NodeNext). */
const { Graph, layout } = dagre as unknown as {
  Graph: new () => DagreGraph;
  layout: (graph: DagreGraph) => void;
};

const RANK_DIRECTIONS = { down: 'TB', up: 'BT', right: 'LR', left: 'RL' } as const satisfies Record<Direction, string>;

/** Lengths in px: where labels wrap, the smallest box, and the gaps across and along the reading direction. */
interface Setting {
  readonly labelWidth: number;
  readonly least: { readonly w: number; readonly h: number };
  readonly nodeGap: number;
  readonly rankGap: number;
}

const ROOMY = { w: 100, h: 48 } as const;
const TIGHT = { w: 60, h: 34 } as const;

/** Boxes low where ranks are stacked, narrow where they stand side by side. */
const SETTINGS: Readonly<Record<'stacked' | 'side_by_side', readonly Setting[]>> = {
  stacked: [
    { labelWidth: 180, least: ROOMY, nodeGap: 60, rankGap: 60 },
    { labelWidth: 180, least: ROOMY, nodeGap: 40, rankGap: 40 },
    { labelWidth: 140, least: ROOMY, nodeGap: 24, rankGap: 40 },
    { labelWidth: 240, least: TIGHT, nodeGap: 30, rankGap: 30 },
    { labelWidth: 320, least: TIGHT, nodeGap: 24, rankGap: 22 },
    { labelWidth: 80, least: TIGHT, nodeGap: 22, rankGap: 22 },
  ],
  side_by_side: [
    { labelWidth: 180, least: ROOMY, nodeGap: 60, rankGap: 60 },
    { labelWidth: 140, least: ROOMY, nodeGap: 50, rankGap: 50 },
    { labelWidth: 110, least: ROOMY, nodeGap: 40, rankGap: 40 },
    { labelWidth: 80, least: TIGHT, nodeGap: 24, rankGap: 24 },
    { labelWidth: 64, least: TIGHT, nodeGap: 22, rankGap: 22 },
  ],
};

interface Box {
  readonly id: string;
  readonly label: string;
  readonly kind: ShapeKind;
  readonly w: number;
  readonly h: number;
  /** Centre. */
  readonly cx: number;
  readonly cy: number;
}

/** Actions that draw the task's expected graph inside its canvas: all shapes, then all arrows. Pure. */
export function solve(task: ScoredTask & { expect: Expectation }): Action[] {
  const drawable = { ...task, expect: { ...task.expect, edges: drawableEdges(task.expect) } };
  return toActions(drawable.expect, fitCanvas(findLayout(drawable), task.canvas));
}

function drawableEdges({ nodes, edges }: Expectation): Expectation['edges'] {
  const known = new Set(nodes.map(({ id }) => id));
  return edges.filter(({ from, to }) => from !== to && known.has(from) && known.has(to));
}

function findLayout({ expect, canvas, direction }: ScoredTask & { expect: Expectation }): Box[] {
  let least: { boxes: Box[]; excess: number } | undefined;
  for (const attempt of attempts(direction)) {
    const boxes = place(expect, attempt.direction, attempt.setting);
    const { w, h } = extentOf(boxes);
    const excess = Math.max(w / room(canvas.w), h / room(canvas.h));
    if (excess <= 1) return boxes;
    if (least === undefined || excess < least.excess) least = { boxes, excess };
  }
  return least?.boxes ?? [];
}

/** Settings from roomy to tight; where the task names no direction, both ways of reading are tried with each. */
function attempts(direction: Direction | undefined): { direction: Direction; setting: Setting }[] {
  if (direction !== undefined) {
    const isStacked = direction === 'down' || direction === 'up';
    return SETTINGS[isStacked ? 'stacked' : 'side_by_side'].map((setting) => ({ direction, setting }));
  }
  const [down, right] = [attempts('down'), attempts('right')];
  return down.flatMap((attempt, i) => [attempt, ...right.slice(i, i + 1)]);
}

function place({ nodes, edges }: Expectation, direction: Direction, setting: Setting): Box[] {
  const graph = new Graph();
  graph.setGraph({ rankdir: RANK_DIRECTIONS[direction], nodesep: setting.nodeGap, ranksep: setting.rankGap });
  graph.setDefaultEdgeLabel(() => ({}));
  const boxes = nodes.map(({ id, label, shape = 'rectangle' }) => ({
    ...{ id, label, kind: shape },
    ...sizeOf(label, shape, setting),
  }));
  for (const { id, w, h } of boxes) graph.setNode(id, { width: w, height: h });
  for (const { from, to } of edges) if (!graph.hasEdge(to, from)) graph.setEdge(from, to);
  layout(graph);
  return boxes.map((box) => ({ ...box, cx: graph.node(box.id).x, cy: graph.node(box.id).y }));
}

/** Widths are sums of rounded numbers in the renderer too; a label must not just fit. */
const SPARE_PX = 6;

function sizeOf(label: string, kind: ShapeKind, { labelWidth, least }: Setting): { w: number; h: number } {
  const lines = wrapLabel(label, labelWidth);
  const widest = lines.reduce((most, line) => Math.max(most, measureText(line)), 0);
  const { w, h } = outerBox(kind, { w: widest + SPARE_PX, h: lines.length * LINE_HEIGHT_PX });
  return { w: Math.ceil(Math.max(w, least.w)), h: Math.ceil(Math.max(h, least.h)) };
}

const MARGIN_PX = 10;
const room = (side: number): number => side - 2 * MARGIN_PX;

function extentOf(boxes: readonly Box[]): { left: number; top: number; w: number; h: number } {
  const left = boxes.reduce((least, { cx, w }) => Math.min(least, cx - w / 2), Infinity);
  const top = boxes.reduce((least, { cy, h }) => Math.min(least, cy - h / 2), Infinity);
  const right = boxes.reduce((most, { cx, w }) => Math.max(most, cx + w / 2), -Infinity);
  const bottom = boxes.reduce((most, { cy, h }) => Math.max(most, cy + h / 2), -Infinity);
  return { left, top, w: right - left, h: bottom - top };
}

/** Centres the drawing on the canvas; one that is too large is pressed together along that side. */
function fitCanvas(boxes: readonly Box[], canvas: CanvasSize): Box[] {
  const { left, top, w, h } = extentOf(boxes);
  const along = (centre: number, size: number, start: number, extent: number, side: number): number => {
    const shift = (side - extent) / 2 - start;
    if (extent <= room(side) || extent <= size) return centre + shift;
    // From 0 for a box at the start to 1 for one at the end, whatever its size.
    const share = (centre - size / 2 - start) / (extent - size);
    return MARGIN_PX + size / 2 + share * (room(side) - size);
  };
  return boxes.map((box) => ({
    ...box,
    cx: along(box.cx, box.w, left, w, canvas.w),
    cy: along(box.cy, box.h, top, h, canvas.h),
  }));
}

function toActions({ edges }: Expectation, boxes: readonly Box[]): Action[] {
  const shapes = boxes.map(({ id, label, kind, cx, cy, w, h }): Action => {
    return {
      type: 'create_shape',
      id,
      shape: kind,
      x: Math.round(cx - w / 2),
      y: Math.round(cy - h / 2),
      w,
      h,
      text: label,
    };
  });
  const arrows = edges.map(({ from, to, label = '' }): Action => ({ type: 'connect', from, to, text: label }));
  return [...shapes, ...arrows];
}
