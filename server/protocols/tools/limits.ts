/**
 * How much a tool call may bring. A drawing by tools stays with a server between its calls, so that what one call leaves
 * there costs all later ones. A call beyond a limit is told to the model and changes nothing; text is bounded elsewhere.
 */
import type { Canvas } from '../../../schemas/canvas.ts';
import { SUBMIT_TOOL } from '../../../schemas/tools.ts';
import { MAX_COMPLETION_LENGTH } from '../../canvas/limits.ts';

/** Most characters of the arguments of a call that does not submit; one label has far less. */
export const MAX_ARGUMENTS_LENGTH = 10_000;

/** Most characters of all ids and labels on a canvas that calls draw: a completion that draws the same would not be read. */
const MAX_CANVAS_TEXT = MAX_COMPLETION_LENGTH;

/** The tools that add text to the canvas. */
const WRITES = new Set(['create_shape', 'connect', 'set_text']);

/** What numbers and signs count, characters. */
const SCALAR_LENGTH = 4;

function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return Array.isArray(value) ? value.length : SCALAR_LENGTH;
}

/** Whether a parsed value has more characters than a limit, about; looks no further than that, and bears any nesting. */
export function isLongerThan(root: unknown, limit: number): boolean {
  const open: unknown[] = [root];
  let length = 0;
  while (open.length > 0) {
    const value = open.pop();
    length += lengthOf(value);
    if (length > limit) return true;
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value)) for (const key in value) length += key.length;
    for (const item of Object.values(value)) open.push(item);
  }
  return length > limit;
}

function textLength({ shapes, arrows }: Canvas): number {
  const drawn = shapes.reduce((sum, { id, text }) => sum + id.length + text.length, 0);
  return arrows.reduce((sum, { from, to, text }) => sum + from.length + to.length + text.length, drawn);
}

/** Why a call is not taken, for the model; undefined where it is. */
export function excessOf(canvas: Canvas, name: string, input: unknown): string | undefined {
  const limit = name === SUBMIT_TOOL ? MAX_COMPLETION_LENGTH : MAX_ARGUMENTS_LENGTH;
  if (isLongerThan(input, limit)) return `Not taken: arguments of ${name} must be at most ${limit} characters long.`;
  const room = MAX_CANVAS_TEXT - textLength(canvas);
  if (!WRITES.has(name) || !isLongerThan(input, room)) return undefined;
  return 'Not taken: the canvas would hold more text than fits. Submit the drawing, or delete something.';
}
