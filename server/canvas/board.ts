/** A canvas while actions run on it: the same content as `Canvas`, in containers that are fast to change. */
import type { Arrow, Canvas, Shape } from '../../schemas/canvas.ts';
import type { ApplyStart } from './types.ts';

export interface Board {
  /** By id, in z-order: a Map keeps the order of first insertion, also when a value is replaced. */
  shapes: Map<string, Shape>;
  arrows: Arrow[];
  /** Characters of all ids and labels. */
  text: number;
  selected: string[];
  submitted: boolean;
}

export const shapeText = ({ id, text }: Shape): number => id.length + text.length;
export const arrowText = ({ from, to, text }: Arrow): number => from.length + to.length + text.length;

/** Copies the containers; the shapes and arrows in them are never changed, only replaced. */
export function createBoard(start: ApplyStart): Board {
  const shapes = new Map<string, Shape>();
  let text = 0;
  for (const shape of start.canvas.shapes) {
    shapes.set(shape.id, shape);
    text += shapeText(shape);
  }
  for (const arrow of start.canvas.arrows) text += arrowText(arrow);
  return { shapes, arrows: [...start.canvas.arrows], text, selected: [...start.selected], submitted: false };
}

export function toCanvas(board: Board): Canvas {
  return { shapes: [...board.shapes.values()], arrows: board.arrows };
}
