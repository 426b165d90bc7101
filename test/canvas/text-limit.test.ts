/** How much text a canvas holds, over any number of turns, and how much a completion may bring that is no text itself. */
import { describe, expect, test } from 'vitest';
import { applyActions } from '../../server/canvas/apply.ts';
import { MAX_CANVAS_TEXT, MAX_COMPLETION_LENGTH } from '../../server/canvas/limits.ts';
import type { ApplyResult, ApplyStart, Style } from '../../server/canvas/types.ts';
import { box, codes, drawOn, START } from './support.ts';

const apply = (start: ApplyStart, style: Style, ...actions: Record<string, unknown>[]): ApplyResult =>
  applyActions(actions, start, { action_set: 'editor', style });
const label = (length: number) => ({ text: 'x'.repeat(length) });
const faults = ({ errors }: ApplyResult): string[] => errors.map(({ code }) => code);

/** A canvas with two boxes of ids of one character, on which `left` more characters fit. */
function almostFull(left: number, style: Style): ApplyResult {
  const start = apply(START, style, box('a', label(MAX_CANVAS_TEXT - left - 3)), box('b', label(1)));
  expect(start.errors).toEqual([]);
  return start;
}

describe.each(['lenient', 'article'] as const)('the text of a canvas, %s', (style) => {
  test.each([
    ['a shape', 10, box('c', label(9)), box('c', label(10))],
    [
      'an arrow',
      10,
      { type: 'connect', from: 'a', to: 'b', ...label(8) },
      { type: 'connect', from: 'a', to: 'b', ...label(9) },
    ],
    ['a new label', 10, { type: 'set_text', id: 'b', ...label(11) }, { type: 'set_text', id: 'b', ...label(12) }],
  ])('%s fits to the last character, and not beyond', (_, left, fits, excess) => {
    const start = almostFull(left, style);
    expect(faults(apply(start, style, fits))).toEqual([]);
    expect(faults(apply(start, style, fits, box('more', label(0))))).toEqual(['canvas_text_full']);
    const refused = apply(start, style, excess);
    expect(faults(refused)).toEqual(['canvas_text_full']);
    expect(refused.canvas).toEqual(start.canvas);
    expect(refused.counts).toEqual({ actions: 1, schema_valid: 1, accepted: 0 });
  });

  test('what is deleted makes room, arrows too', () => {
    let start = almostFull(20, style);
    start = apply(start, style, box('c', label(9)), { type: 'connect', from: 'a', to: 'c', ...label(8) });
    for (const remove of [
      [{ type: 'delete_shape', id: 'c' }],
      [
        { type: 'disconnect', from: 'a', to: 'c' },
        { type: 'set_text', id: 'c', text: '' },
        { type: 'delete_shape', id: 'c' },
      ],
    ]) {
      expect(faults(apply(start, style, ...remove, box('d', label(19))))).toEqual([]);
      expect(faults(apply(start, style, ...remove, box('d', label(20))))).toEqual(['canvas_text_full']);
    }
  });
});

test('a canvas that holds more already, as a caller may hand it in, takes less and no more', () => {
  const shape = { id: 'a', shape: 'rectangle' as const, x: 0, y: 0, w: 100, h: 60, ...label(MAX_CANVAS_TEXT) };
  const start = { canvas: { shapes: [shape], arrows: [] }, selected: [] };
  expect(faults(apply(start, 'lenient', box('b')))).toEqual(['canvas_text_full']);
  expect(faults(apply(start, 'lenient', { type: 'set_text', id: 'a', text: '' }, box('b')))).toEqual([]);
});

describe('a completion that is parsed is as long as its text', () => {
  test.each(['graded', 'article'] as const)('%s', (preset) => {
    const answer = (length: number) => ({ actions: [box('a', label(length))] });
    expect(codes(drawOn(answer(MAX_COMPLETION_LENGTH - 200), { preset }))).toEqual([]);
    for (const completion of [answer(MAX_COMPLETION_LENGTH), JSON.stringify(answer(MAX_COMPLETION_LENGTH))]) {
      expect(codes(drawOn(completion, { preset }))).toEqual(['completion_too_long']);
    }
    expect(codes(drawOn({ actions: Array(MAX_COMPLETION_LENGTH).fill(0) }, { preset }))).toEqual([
      'completion_too_long',
    ]);
  });
});
