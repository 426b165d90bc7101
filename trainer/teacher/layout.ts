/**
 * From a graph to the actions that draw it. Coordinates are multiples of 20 on a lattice, sizes come from a tiny set, keys
 * always stand in the same order, and a box's id is its label: what a tiny model can learn to write in few tokens.
 */
import type { Action } from '../../schemas/action.ts';
import type { CanvasSize } from '../../schemas/canvas.ts';
import type { Graph } from './graph.ts';
import { placeNodes, type Place } from './lattice.ts';

export interface LayoutStyle {
  /** Reading direction where the prompt names none. */
  direction: 'right' | 'down';
  /** Size of a plain box, canvas pixels. */
  w: number;
  h: number;
}

export const DEFAULT_STYLE: LayoutStyle = { direction: 'right', w: 160, h: 80 };

/** Left and top margin, canvas pixels. */
const MARGIN = 40;
/** Distances between neighbours, widest first; the first that fits the canvas is taken. Multiples of 40: halves are used too. */
const X_PITCHES = [240, 200] as const;
const Y_PITCHES = [160, 120] as const;

/** The widest pitch at which `halves` half steps and a last box of `size` px fit into `room` px; the narrowest if none does. */
function pitchFor(pitches: readonly number[], halves: number, size: number, room: number): number {
  const fits = pitches.filter((pitch) => pitch > size && MARGIN + (halves * pitch) / 2 + size <= room);
  return fits[0] ?? pitches.at(-1)!;
}

/** Half steps to the right and downwards for each place. */
function toHalfSteps(places: readonly Place[], direction: string): { across: number; down: number }[] {
  const last = Math.max(...places.map((place) => place.rank));
  const backwards = direction === 'left' || direction === 'up';
  const sideways = direction === 'right' || direction === 'left';
  return places.map(({ rank, half_row }) => {
    const along = 2 * (backwards ? last - rank : rank);
    return sideways ? { across: along, down: half_row } : { across: half_row, down: along };
  });
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

/** create_shape for every node, then connect for every edge, both in the order of the prompt. */
export function layoutGraph(graph: Graph, canvas: CanvasSize, style: LayoutStyle): Action[] {
  const steps = toHalfSteps(placeNodes(graph), graph.direction ?? style.direction);
  const { w, h } = style;
  const xPitch = pitchFor(X_PITCHES, Math.max(...steps.map((step) => step.across)), w, canvas.w);
  const yPitch = pitchFor(Y_PITCHES, Math.max(...steps.map((step) => step.down)), h, canvas.h);
  const ids = toIds(graph);
  const shapes = graph.nodes.map(({ label, shape }, i): Action => {
    const { across, down } = steps[i]!;
    const x = MARGIN + (across * xPitch) / 2;
    const y = MARGIN + (down * yPitch) / 2;
    return { type: 'create_shape', id: ids[i]!, shape, x, y, w, h, text: label };
  });
  const arrows = graph.edges.map(({ from, to, label }): Action => {
    return { type: 'connect', from: ids[from]!, to: ids[to]!, ...(label === '' ? {} : { text: label }) };
  });
  return [...shapes, ...arrows];
}
