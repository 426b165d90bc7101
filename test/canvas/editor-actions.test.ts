import { describe, expect, test } from 'vitest';
import { applyActions } from '../../server/canvas/apply.ts';
import type { ApplyResult } from '../../server/canvas/types.ts';
import type { Canvas } from '../../schemas/canvas.ts';
import { box, drawOn, text } from './support.ts';

const CANVAS: Canvas = {
  shapes: [
    { id: 'a', shape: 'rectangle', x: 0, y: 0, w: 100, h: 60, text: 'A' },
    { id: 'b', shape: 'ellipse', x: 200, y: 0, w: 100, h: 60, text: 'B' },
    { id: 'c', shape: 'diamond', x: 400, y: 0, w: 100, h: 60, text: 'C' },
  ],
  arrows: [
    { from: 'a', to: 'b', text: '' },
    { from: 'b', to: 'c', text: 'yes' },
    { from: 'a', to: 'b', text: 'again' },
    { from: 'b', to: 'a', text: '' },
  ],
};

function edit(...actions: readonly Record<string, unknown>[]): ApplyResult {
  return applyActions(actions, { canvas: CANVAS, selected: ['a', 'c'] }, { action_set: 'editor' });
}

const [A, B, C] = CANVAS.shapes;

test('move_shape and resize_shape change one shape and keep its place in the z-order', () => {
  const { canvas, applied } = edit(
    { type: 'move_shape', id: 'a', x: 10, y: -20, extra: 1 },
    { type: 'resize_shape', id: 'b', w: 50, h: 40 },
  );
  expect(canvas.shapes).toEqual([{ ...A, x: 10, y: -20 }, { ...B, w: 50, h: 40 }, C]);
  expect(applied[0]).toEqual({ type: 'move_shape', id: 'a', x: 10, y: -20 });
});

test('set_text writes a label, cleaned, and a number as its decimal string', () => {
  const { canvas } = edit({ type: 'set_text', id: 'a', text: 'N\u0000ew' }, { type: 'set_text', id: 'b', text: 4.5 });
  expect(canvas.shapes.map((shape) => shape.text)).toEqual(['New', '4.5', 'C']);
});

test('delete_shape takes its arrows and its selection along, and frees its id', () => {
  const { canvas, selected, errors } = edit({ type: 'delete_shape', id: 'a' }, box('a'));
  expect(errors).toEqual([]);
  expect(canvas.shapes.map((shape) => shape.id)).toEqual(['b', 'c', 'a']);
  expect(canvas.arrows).toEqual([{ from: 'b', to: 'c', text: 'yes' }]);
  expect(selected).toEqual(['c']);
});

test('disconnect removes every arrow of that direction', () => {
  expect(edit({ type: 'disconnect', from: 'a', to: 'b' }).canvas.arrows).toEqual([CANVAS.arrows[1], CANVAS.arrows[3]]);
});

test('select replaces the selection, each id once; an empty list clears it', () => {
  expect(edit({ type: 'select', ids: ['b', 'b', 'c'] }).selected).toEqual(['b', 'c']);
  expect(edit({ type: 'select', ids: [] }).selected).toEqual([]);
  expect(edit().selected).toEqual(['a', 'c']);
});

test('done submits, and nothing runs after it', () => {
  const { submitted, errors, counts, canvas } = edit({ type: 'done' }, box('late'), { type: 'done' });
  expect(submitted).toBe(true);
  expect(errors.map((error) => error.code)).toEqual(['after_done', 'after_done']);
  expect(counts).toEqual({ actions: 3, schema_valid: 3, accepted: 1 });
  expect(canvas).toEqual(CANVAS);
});

describe('refused, with the canvas and the selection unchanged', () => {
  test.each([
    [{ type: 'move_shape', x: 0, y: 0 }, 'not_a_name', 'id must be a non-empty string', 0],
    [{ type: 'move_shape', id: 'z', x: 0, y: 0 }, 'unknown_shape', 'shape does not exist: z', 1],
    [{ type: 'move_shape', id: 'z', x: 0 }, 'unknown_shape', 'shape does not exist: z', 0],
    [{ type: 'move_shape', id: 'a', x: '1', y: 0 }, 'not_a_finite_number', 'x must be a finite number', 0],
    [{ type: 'move_shape', id: 'a', x: 1e6, y: 0 }, 'out_of_range', 'x must be between -100000 and 100000', 0],
    [{ type: 'resize_shape', id: 'a', w: 10 }, 'not_a_finite_number', 'h must be a finite number', 0],
    [{ type: 'resize_shape', id: 'a', w: 0, h: 9 }, 'not_positive', 'shape width and height must be positive', 0],
    [{ type: 'resize_shape', id: 'a', w: 9, h: 1001 }, 'too_large', 'shape too large', 0],
    [{ type: 'set_text', id: 'a' }, 'text_not_a_string', 'text must be a string', 0],
    [{ type: 'set_text', id: 'a', text: null }, 'text_not_a_string', 'text must be a string', 0],
    [{ type: 'set_text', id: 'z', text: 'x' }, 'unknown_shape', 'shape does not exist: z', 1],
    [{ type: 'delete_shape', id: 'z' }, 'unknown_shape', 'shape does not exist: z', 1],
    [{ type: 'delete_shape', id: '' }, 'not_a_name', 'id must be a non-empty string', 0],
    [{ type: 'disconnect', from: 'a', to: 'c' }, 'unknown_arrow', 'no arrow leads from a to c', 1],
    [{ type: 'disconnect', from: 'a' }, 'not_a_name', 'to must be a non-empty string', 0],
    [{ type: 'select', ids: 'a' }, 'ids_not_names', 'ids must be a list of non-empty strings', 0],
    [{ type: 'select', ids: ['a', 1] }, 'ids_not_names', 'ids must be a list of non-empty strings', 0],
    [{ type: 'select', ids: ['a', 'z'] }, 'unknown_shape', 'shape does not exist: z', 1],
    [{ type: 'group', ids: ['a'] }, 'unknown_action_type', 'unknown action type: group', 0],
    [{ type: '__proto__' }, 'unknown_action_type', 'unknown action type: __proto__', 0],
  ])('%j', (action, code, message, schemaValid) => {
    const result = edit(action);
    expect(result.errors).toEqual([{ code, message: `action 0: ${message}`, index: 0 }]);
    expect(result.rejected).toEqual([{ index: 0, action, error: result.errors[0] }]);
    expect(result.counts).toEqual({ actions: 1, schema_valid: schemaValid, accepted: 0 });
    expect([result.canvas, result.selected]).toEqual([CANVAS, ['a', 'c']]);
  });
});

test('the action set core knows none of them', () => {
  const drawing = drawOn(text(box('a'), { type: 'move_shape', id: 'a', x: 0, y: 0 }, { type: 'done' }));
  expect(drawing.apply?.errors.map((error) => error.code)).toEqual(['unknown_action_type', 'unknown_action_type']);
  expect(drawing.apply?.submitted).toBe(false);
});

test('a long value is shortened in a message, but not in preset article', () => {
  const action = { type: 'connect', from: 'x'.repeat(5000), to: 'b' };
  expect(edit(action).errors[0]?.message).toBe(
    `action 0: arrow source does not exist: ${'x'.repeat(60)}... (5000 characters)`,
  );
  const article = drawOn(text(action), { preset: 'article' });
  expect(article.apply?.errors[0]?.message.length).toBeGreaterThan(5000);
});
