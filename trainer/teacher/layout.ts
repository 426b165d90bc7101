/**
 * From a graph to the actions that draw it. Coordinates are multiples of 20 on a lattice, sizes come from a tiny set, keys
 * always stand in the same order, and a box's id is its label: what a tiny model can learn to write in few tokens.
 */
import type { Action } from '../../schemas/action.ts';
import type { CanvasSize } from '../../schemas/canvas.ts';
import type { Direction } from '../../schemas/task.ts';
import type { Graph, GraphNode } from './graph.ts';
import { placeNodes, type Place } from './lattice.ts';

export interface LayoutStyle {
  /** Reading direction where the prompt names none and the canvas has room. */
  direction: 'right' | 'down';
  /** Width of a plain box where the canvas has room, canvas pixels. */
  w: 160 | 200;
}

/** Left and top margin, canvas pixels. */
const MARGIN = 40;
/**
 * Distances between the corners of neighbours, canvas pixels, best first; the first of x serves both widths of plain boxes,
 * so that their drawings share coordinates. Half a distance is used across the reading direction.
 */
const X_PITCHES = [240, 280, 260, 220, 200, 180] as const;
const Y_PITCHES = [200, 180, 160, 140, 120, 100] as const;
const MAX_GAP = 80;
const GRID = 20;

/** A label of more characters than this needs a larger box. */
const LONG_LABEL = 28;

interface Size {
  w: number;
  h: number;
}

/** Diamonds and ellipses hold less text than the box around them. */
function sizeOf({ label, shape }: GraphNode, style: LayoutStyle): Size {
  if (shape === 'diamond' || label.length > LONG_LABEL) return { w: 240, h: 120 };
  return shape === 'ellipse' ? { w: 200, h: 120 } : { w: style.w, h: 80 };
}

/** Half steps to the right and downwards for each place. */
function toHalfSteps(places: readonly Place[], direction: Direction): { across: number; down: number }[] {
  const last = Math.max(...places.map((place) => place.rank));
  const backwards = direction === 'left' || direction === 'up';
  const sideways = direction === 'right' || direction === 'left';
  return places.map(({ rank, half_row }) => {
    const along = 2 * (backwards ? last - rank : rank);
    return sideways ? { across: along, down: half_row } : { across: half_row, down: along };
  });
}

interface Axis {
  /** Half steps of each node, and the largest extent of a box, along this axis. */
  steps: readonly number[];
  size: number;
  room: number;
}

/** The best pitch at which all boxes end inside the room; undefined when none does. */
function pitchFor(pitches: readonly number[], { steps, size, room }: Axis): number | undefined {
  const halves = Math.max(...steps);
  const odd = steps.some((step) => step % 2 === 1);
  return pitches.find(
    (pitch) =>
      pitch > size &&
      pitch <= size + MAX_GAP &&
      (!odd || pitch % (2 * GRID) === 0) &&
      MARGIN + (halves * pitch) / 2 + size <= room,
  );
}

interface Layout {
  sizes: Size[];
  corners: { x: number; y: number }[];
}

/** Undefined when the graph does not fit the canvas this way. */
function tryLayout(graph: Graph, canvas: CanvasSize, direction: Direction, style: LayoutStyle): Layout | undefined {
  const steps = toHalfSteps(placeNodes(graph), direction);
  const sizes = graph.nodes.map((node) => sizeOf(node, style));
  const [w, h] = [Math.max(...sizes.map((size) => size.w)), Math.max(...sizes.map((size) => size.h))];
  const xPitch = pitchFor(X_PITCHES, { steps: steps.map((step) => step.across), size: w, room: canvas.w });
  const yPitch = pitchFor(Y_PITCHES, { steps: steps.map((step) => step.down), size: h, room: canvas.h });
  if (xPitch === undefined || yPitch === undefined) return undefined;
  const corners = steps.map(({ across, down }, i) => ({
    x: MARGIN + (across * xPitch) / 2 + (w - sizes[i]!.w) / 2,
    y: MARGIN + (down * yPitch) / 2 + (h - sizes[i]!.h) / 2,
  }));
  return { sizes, corners };
}

/** The style's own way, then narrower boxes, then the other direction unless the prompt names one. */
function fitLayout(graph: Graph, canvas: CanvasSize, style: LayoutStyle): Layout | undefined {
  const other: Direction = style.direction === 'right' ? 'down' : 'right';
  const directions: readonly Direction[] = graph.direction ? [graph.direction] : [style.direction, other];
  for (const direction of directions) {
    for (const w of [style.w, 160] as const) {
      const layout = tryLayout(graph, canvas, direction, { ...style, w });
      if (layout) return layout;
    }
  }
  return undefined;
}

/** Ids: the label itself, with a number after it where labels repeat. */
function toIds(graph: Graph): string[] {
  const seen = new Map<string, number>();
  return graph.nodes.map(({ label }) => {
    const count = (seen.get(label) ?? 0) + 1;
    seen.set(label, count);
    return count === 1 ? label : `${label} ${count}`;
  });
}

/**
 * create_shape for every node, then connect for every edge, both in the order of the prompt. Undefined when the canvas is
 * too small for every way this teacher knows.
 */
export function layoutGraph(graph: Graph, canvas: CanvasSize, style: LayoutStyle): Action[] | undefined {
  const layout = fitLayout(graph, canvas, style);
  if (!layout) return undefined;
  const ids = toIds(graph);
  const shapes = graph.nodes.map(({ label, shape }, i): Action => {
    const { x, y } = layout.corners[i]!;
    const { w, h } = layout.sizes[i]!;
    return { type: 'create_shape', id: ids[i]!, shape, x, y, w, h, text: label };
  });
  const arrows = graph.edges.map(({ from, to, label }): Action => {
    return { type: 'connect', from: ids[from]!, to: ids[to]!, ...(label === '' ? {} : { text: label }) };
  });
  return [...shapes, ...arrows];
}
