/**
 * What the action set `editor` adds for later turns: move_shape, resize_shape, set_text, delete_shape, disconnect,
 * select, done. Deleting a shape deletes its arrows and deselects it; `disconnect` removes every arrow from one shape to
 * another; `select` replaces the selection ([] clears it); nothing runs after `done`.
 */
import type { Arrow, Shape } from '../../schemas/canvas.ts';
import { arrowText, type Board, shapeText } from './board.ts';
import { addText, type Handler } from './core-actions.ts';
import {
  canvasFault,
  type Fault,
  isName,
  nameFault,
  numberFault,
  quote,
  rangeFault,
  schemaFault,
  sideFault,
  textFault,
} from './faults.ts';
import { toLabel } from './labels.ts';
import type { RawAction, Style } from './types.ts';

const POSITION = ['x', 'y'] as const;
const SIDES = ['w', 'h'] as const;

export const moveShape: Handler = (action, board, style) => {
  const fieldFault = numberFault(action, POSITION) ?? rangeFault(action, POSITION, style);
  const shape = findShape(action, board, style, fieldFault);
  if ('fault' in shape) return shape;
  const { x, y } = action as Record<(typeof POSITION)[number], number>;
  board.shapes.set(shape.id, { ...shape, x, y });
  return { type: 'move_shape', id: shape.id, x, y };
};

export const resizeShape: Handler = (action, board, style) => {
  const { w, h } = action as Record<(typeof SIDES)[number], number>;
  const shape = findShape(action, board, style, numberFault(action, SIDES) ?? sideFault(w, h));
  if ('fault' in shape) return shape;
  board.shapes.set(shape.id, { ...shape, w, h });
  return { type: 'resize_shape', id: shape.id, w, h };
};

/** Unlike in create_shape, an absent text is a fault: it says nothing about what to write. */
export const setText: Handler = (action, board, style) => {
  const value = action['text'] ?? undefined;
  const text = value === undefined ? undefined : toLabel(value, style);
  const shape = findShape(action, board, style, textFault(text));
  if ('fault' in shape) return shape;
  const changed = { ...shape, text: text ?? '' };
  const noRoom = addText(board, shapeText(changed) - shapeText(shape));
  if (noRoom !== undefined) return noRoom;
  board.shapes.set(shape.id, changed);
  return { type: 'set_text', id: shape.id, text: text ?? '' };
};

export const deleteShape: Handler = (action, board, style) => {
  const shape = findShape(action, board, style, undefined);
  if ('fault' in shape) return shape;
  const { id } = shape;
  board.shapes.delete(id);
  board.text -= shapeText(shape);
  keepArrows(board, (arrow) => arrow.from !== id && arrow.to !== id);
  board.selected = board.selected.filter((selected) => selected !== id);
  return { type: 'delete_shape', id };
};

export const disconnect: Handler = (action, board, style) => {
  const { from, to } = action;
  if (!isName(from)) return nameFault('from');
  if (!isName(to)) return nameFault('to');
  const dropped = keepArrows(board, (arrow) => arrow.from !== from || arrow.to !== to);
  if (dropped === 0)
    return canvasFault('unknown_arrow', `no arrow leads from ${quote(from, style)} to ${quote(to, style)}`);
  return { type: 'disconnect', from, to };
};

export const select: Handler = (action, board, style) => {
  const { ids } = action;
  if (!Array.isArray(ids) || !ids.every(isName))
    return schemaFault('ids_not_names', 'ids must be a list of non-empty strings');
  const unknown = ids.find((id) => !board.shapes.has(id));
  if (unknown !== undefined) return unknownShape(unknown, style);
  board.selected = [...new Set(ids)];
  return { type: 'select', ids: board.selected };
};

export const done: Handler = (_action, board) => {
  board.submitted = true;
  return { type: 'done' };
};

/** Drops the other arrows, and says how many those were. */
function keepArrows(board: Board, isKept: (arrow: Arrow) => boolean): number {
  const all = board.arrows;
  board.arrows = all.filter(isKept);
  for (const arrow of all) if (!isKept(arrow)) board.text -= arrowText(arrow);
  return all.length - board.arrows.length;
}

/** The shape that `id` names, or the first fault: of the id, then that it is unknown, then of the other fields. */
function findShape(action: RawAction, board: Board, style: Style, fieldFault: Fault | undefined): Shape | Fault {
  const { id } = action;
  if (!isName(id)) return nameFault('id');
  const shape = board.shapes.get(id);
  if (shape === undefined) return { ...unknownShape(id, style), schema_valid: fieldFault === undefined };
  return fieldFault ?? shape;
}

function unknownShape(id: string, style: Style): Fault {
  return canvasFault('unknown_shape', `shape does not exist: ${quote(id, style)}`);
}
