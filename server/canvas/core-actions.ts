/** The actions of the article: create_shape and connect. Checks run in the article's order; the first fault wins. */
import type { Action } from '../../schemas/action.ts';
import { arrowText, type Board, shapeText } from './board.ts';
import {
  canvasFault,
  type Fault,
  isName,
  isShapeKind,
  nameFault,
  numberFault,
  quote,
  rangeFault,
  schemaFault,
  sideFault,
  textFault,
} from './faults.ts';
import { isCleanId, toLabel } from './labels.ts';
import { MAX_CANVAS_ITEMS, MAX_CANVAS_TEXT } from './limits.ts';
import type { RawAction, Style } from './types.ts';

/** Runs one action on the board, which it changes; a refused action changes nothing. */
export type Handler = (action: RawAction, board: Board, style: Style) => Action | Fault;

const BOX = ['x', 'y', 'w', 'h'] as const;
const POSITION = ['x', 'y'] as const;

export const createShape: Handler = (action, board, style) => {
  const { id, shape } = action;
  if (!isName(id)) return nameFault('id');
  if (!isName(shape)) return nameFault('shape');
  if (!isShapeKind(shape)) return schemaFault('unknown_shape_type', `unknown shape type: ${quote(shape, style)}`);
  const text = toLabel(action['text'], style);
  const fieldFault = idFault(id, style) ?? boxFault(action, style) ?? textFault(text);
  if (board.shapes.has(id)) return { ...duplicate(id, style), schema_valid: fieldFault === undefined };
  if (fieldFault !== undefined) return fieldFault;
  const { x, y, w, h } = action as Record<(typeof BOX)[number], number>;
  const created = { id, shape, x, y, w, h, text: text ?? '' };
  const noRoom = itemFault(board) ?? addText(board, shapeText(created));
  if (noRoom !== undefined) return noRoom;
  board.shapes.set(id, created);
  return { type: 'create_shape', id, shape, x, y, w, h, text: created.text };
};

export const connect: Handler = (action, board, style) => {
  const { from, to } = action;
  if (!isName(from)) return nameFault('from');
  if (!isName(to)) return nameFault('to');
  const text = toLabel(action['text'], style);
  const fieldFault = textFault(text);
  const endFault = endsFault(from, to, board, style);
  if (endFault !== undefined) return { ...endFault, schema_valid: fieldFault === undefined };
  if (fieldFault !== undefined) return fieldFault;
  const arrow = { from, to, text: text ?? '' };
  const noRoom = itemFault(board) ?? addText(board, arrowText(arrow));
  if (noRoom !== undefined) return noRoom;
  board.arrows.push(arrow);
  return { type: 'connect', from, to, text: arrow.text };
};

function duplicate(id: string, style: Style): Fault {
  return canvasFault('duplicate_shape_id', `duplicate shape id: ${quote(id, style)}`);
}

function idFault(id: string, style: Style): Fault | undefined {
  if (style === 'article' || isCleanId(id)) return undefined;
  return schemaFault('control_character_in_id', 'id must not hold control characters: use letters and digits');
}

function boxFault(action: RawAction, style: Style): Fault | undefined {
  return (
    numberFault(action, BOX) ??
    rangeFault(action, POSITION, style) ??
    sideFault(action['w'] as number, action['h'] as number)
  );
}

function endsFault(from: string, to: string, board: Board, style: Style): Fault | undefined {
  if (!board.shapes.has(from))
    return canvasFault('unknown_source', `arrow source does not exist: ${quote(from, style)}`);
  if (!board.shapes.has(to)) return canvasFault('unknown_target', `arrow target does not exist: ${quote(to, style)}`);
  if (from === to) return canvasFault('self_arrow', 'arrow cannot connect a shape to itself');
  return undefined;
}

function itemFault({ shapes, arrows }: Board): Fault | undefined {
  if (shapes.size + arrows.length < MAX_CANVAS_ITEMS) return undefined;
  return canvasFault('canvas_full', `the canvas is full: at most ${MAX_CANVAS_ITEMS} shapes and arrows together`);
}

/** Counts text that comes on the board, or says why there is no room for it. @param length Below 0 where text goes. */
export function addText(board: Board, length: number): Fault | undefined {
  if (length > 0 && board.text + length > MAX_CANVAS_TEXT) {
    const message = `the canvas holds too much text: ids and labels may have ${MAX_CANVAS_TEXT} characters together`;
    return canvasFault('canvas_text_full', message);
  }
  board.text += length;
  return undefined;
}
