/** A canvas as text, for a terminal: boxes with their labels, arrows as dots with a head. Rough on purpose. */
import type { Canvas, CanvasSize, Shape } from '../../schemas/canvas.ts';

interface Grid {
  put(column: number, row: number, text: string): void;
  lines(): string[];
}

/** Columns and rows of one box, both ends included. */
interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** [corner, horizontal side, vertical side] of each kind of shape. */
const BORDERS: Readonly<Record<Shape['shape'], readonly [string, string, string]>> = {
  rectangle: ['+', '-', '|'],
  ellipse: ['.', '-', ':'],
  diamond: ['*', '-', '/'],
  text: [' ', ' ', ' '],
};

const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uff01-\uff60]/u;
const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

function createGrid(columns: number, rows: number): Grid {
  const cells = Array.from({ length: rows }, () => new Array<string>(columns).fill(' '));
  return {
    put: (column, row, text) => {
      const line = cells[row];
      if (line && column >= 0 && column < columns) line[column] = text;
    },
    lines: () => cells.map((line) => line.join('').trimEnd()),
  };
}

/** Cells of a text; a wide character takes two, the second one empty. */
function toCells(text: string, width: number): string[] {
  const printable = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  const cells = [...GRAPHEMES.segment(printable)].flatMap(({ segment }) =>
    WIDE.test(segment) ? [segment, ''] : [segment],
  );
  return cells.length <= width ? cells : [...cells.slice(0, Math.max(0, width - 1)), '~'].slice(0, width);
}

function drawBox(grid: Grid, { left, right, top, bottom }: Box, { shape, text, id }: Shape): void {
  const [corner, horizontal, vertical] = BORDERS[shape];
  for (let row = top; row <= bottom; row++) {
    for (let column = left; column <= right; column++) {
      const onSide = column === left || column === right;
      const onEdge = row === top || row === bottom;
      grid.put(column, row, onSide && onEdge ? corner : onEdge ? horizontal : onSide ? vertical : ' ');
    }
  }
  const cells = toCells(text || `(${id})`, Math.max(1, right - left - 1));
  const start = Math.floor((left + right + 1 - cells.length) / 2);
  cells.forEach((cell, i) => {
    grid.put(start + i, Math.floor((top + bottom) / 2), cell);
  });
}

const centre = ({ left, right, top, bottom }: Box): [number, number] => [(left + right) / 2, (top + bottom) / 2];

function isOutside({ left, right, top, bottom }: Box, column: number, row: number): boolean {
  return column < left || column > right || row < top || row > bottom;
}

function drawArrow(grid: Grid, from: Box, to: Box): void {
  const [x0, y0] = centre(from);
  const [x1, y1] = centre(to);
  const length = Math.max(Math.abs(x1 - x0), Math.abs(y1 - y0));
  const points = Array.from({ length: Math.ceil(length) + 1 }, (_, i): [number, number] => [
    Math.round(x0 + ((x1 - x0) * i) / Math.max(1, length)),
    Math.round(y0 + ((y1 - y0) * i) / Math.max(1, length)),
  ]).filter(([column, row]) => isOutside(from, column, row) && isOutside(to, column, row));
  for (const [column, row] of points) grid.put(column, row, '.');
  const head = points.at(-1);
  const isFlat = Math.abs(x1 - x0) >= Math.abs(y1 - y0);
  if (head) grid.put(...head, isFlat ? (x1 > x0 ? '>' : '<') : y1 > y0 ? 'v' : '^');
}

/**
 * Lines of text that show the canvas, `columns` wide and half as high in proportion, since a character is twice as high
 * as wide; without the empty lines above and below.
 */
export function toAscii(canvas: Canvas, size: CanvasSize, columns: number): string[] {
  const rows = Math.max(4, Math.round((columns * size.h) / size.w / 2));
  const grid = createGrid(columns, rows);
  const box = ({ x, y, w, h }: Shape): Box => {
    const left = Math.round((x / size.w) * columns);
    const top = Math.round((y / size.h) * rows);
    const right = Math.max(left + 2, Math.round(((x + w) / size.w) * columns) - 1);
    return { left, top, right, bottom: Math.max(top + 2, Math.round(((y + h) / size.h) * rows) - 1) };
  };
  const boxes = new Map(canvas.shapes.map((shape) => [shape.id, box(shape)]));
  for (const { from, to } of canvas.arrows) {
    const ends = [boxes.get(from), boxes.get(to)];
    if (ends[0] && ends[1]) drawArrow(grid, ends[0], ends[1]);
  }
  for (const shape of canvas.shapes) drawBox(grid, boxes.get(shape.id)!, shape);
  const lines = grid.lines();
  const first = lines.findIndex((line) => line !== '');
  return first < 0 ? ['(empty)'] : lines.slice(first, lines.findLastIndex((line) => line !== '') + 1);
}
