/** A canvas while actions run on it: the same content as `Canvas`, in containers that are fast to change. */
import type { Arrow, Canvas, Shape } from '../../schemas/canvas.ts';
import type { ApplyStart } from './types.ts';

export interface Board {
  /** By id, in z-order: a Map keeps the order of first insertion, also when a value is replaced. */
  shapes: Map<string, Shape>;
  arrows: Arrow[];
  selected: string[];
  submitted: boolean;
}

/** Copies the containers; the shapes and arrows in them are never changed, only replaced. */
export function createBoard(start: ApplyStart): Board {
  const shapes = new Map<string, Shape>();
  for (const shape of start.canvas.shapes) shapes.set(shape.id, shape);
  return { shapes, arrows: [...start.canvas.arrows], selected: [...start.selected], submitted: false };
}

export function toCanvas(board: Board): Canvas {
  return { shapes: [...board.shapes.values()], arrows: board.arrows };
}
