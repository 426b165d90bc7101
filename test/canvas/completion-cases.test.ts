/** Completions that broke other people's parsers and editors, each a test under its id in test/data/cases.json. */
import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { applyActions } from '../../server/canvas/apply.ts';
import { MAX_CANVAS_ITEMS } from '../../server/canvas/limits.ts';
import { scoreCompletion } from '../../server/reward/score.ts';
import { DEFAULT_CANVAS_SIZE } from '../../schemas/task.ts';
import { box, codes, cpuMs, drawOn, ids, START, text } from './support.ts';

interface Case {
  id: string;
  input_kind: string;
  input: string;
}

const CASES = JSON.parse(readFileSync(new URL('../data/cases.json', import.meta.url), 'utf8')) as Case[];

/** The completion of a case; `js` cases are expressions. */
function input(id: string, variables: Record<string, number> = {}): string {
  const found = CASES.find((each) => each.id === id);
  if (found === undefined) throw new Error(`no case ${id}`);
  return found.input_kind === 'js' ? (runInNewContext(found.input, variables) as string) : found.input;
}

const TASK = { prompt: 'Draw Alpha and Beta', canvas: DEFAULT_CANVAS_SIZE };

describe('text around and behind the answer', () => {
  test('A06 the last complete object with actions is the answer, and candidates are counted', () => {
    const drawing = drawOn(input('A06'));
    expect(drawing.parse.info).toEqual({
      outcome: 'extracted',
      candidates: 3,
      truncated: false,
      duplicate_keys: false,
    });
    expect(ids(drawing.apply?.canvas)).toEqual(['a']);
  });

  test('A07 a cut answer gives its complete actions only, and says so', () => {
    const drawing = drawOn(input('A07'));
    expect(drawing.parse.info).toMatchObject({ outcome: 'repaired', truncated: true });
    expect(ids(drawing.apply?.canvas)).toEqual(['a']);
    expect(scoreCompletion(TASK, input('A07'), 'stronger').result.components['parses_as_json']).toBe(0.5);
  });

  test('A07 finish_reason length means cut, even where the JSON is complete', () => {
    const drawing = drawOn(text(box('a')), { finish_reason: 'length' });
    expect(drawing.parse.info).toMatchObject({ outcome: 'repaired', truncated: true });
    expect(ids(drawing.apply?.canvas)).toEqual(['a']);
  });

  test.each([
    [40, 'stronger'],
    [200, 'graded'],
  ] as const)('A08 a loop of 400 actions is refused before anything runs (limit %i)', (limit, preset) => {
    const drawing = drawOn(input('A08'), { preset });
    expect(codes(drawing)).toEqual(['too_many_actions']);
    expect(drawing.parse.errors[0]?.message).toContain(`(400 > ${limit})`);
    expect(drawing.apply).toBeNull();
  });

  test('A08 the loop earns less than one correct shape', () => {
    const looped = scoreCompletion(TASK, input('A08'), 'stronger').result.reward;
    expect(looped).toBeLessThan(scoreCompletion(TASK, text(box('Alpha')), 'stronger').result.reward);
  });

  test('A21 an invisible byte order mark in front is no fault; inside a label it stays', () => {
    const drawing = drawOn(input('A21'));
    expect(drawing.parse.info.outcome).toBe('strict');
    expect(ids(drawing.apply?.canvas)).toEqual(['a']);
    const label = 'A\ufeffB';
    expect(drawOn(`\u200b\u00a0${text(box('a', { text: label }))}\u2060`).apply?.canvas.shapes[0]?.text).toBe(label);
  });

  test('A22 a raw line break in a string is refused with its place and what to write', () => {
    const { errors } = drawOn(input('A22')).parse;
    expect(errors[0]?.code).toBe('raw_line_break');
    expect(errors[0]?.message).toMatch(/line 1, column 95: .*write \\n instead/);
  });

  test('A22 a bare list is taken as the actions', () => {
    const drawing = drawOn(input('A22').replace('\n', '\\n'));
    expect(drawing.parse.info.outcome).toBe('extracted');
    expect(drawing.apply?.canvas.shapes[0]?.text).toBe('line 1\nline 2');
  });
});

describe('numbers and keys', () => {
  test('A14 numbers that overflow are refused by field', () => {
    expect(codes(drawOn(input('A14')))).toEqual(['not_a_finite_number']);
    expect(drawOn(text(box('a', { y: 1e308 }))).apply?.errors).toEqual([
      { code: 'out_of_range', message: 'action 0: y must be between -100000 and 100000', index: 0 },
    ]);
    expect(codes(drawOn(text(box('a', { w: 1e308 }))))).toEqual(['too_large']);
  });

  test('A15 NaN and Infinity are not JSON', () => {
    const { errors, actions } = drawOn(input('A15')).parse;
    expect(actions).toBeNull();
    expect(errors[0]?.message).toContain('write a finite number');
  });

  test.each(['x', 'y', 'w', 'h'])('A16 nothing is turned into a number: %s', (field) => {
    for (const value of ['40', '', true, null, [], {}, '100px', '0x10', undefined])
      expect(codes(drawOn(text(box('a', { [field]: value }))))).toEqual(['not_a_finite_number']);
  });

  test('A16 a number as text becomes its decimal string', () => {
    expect(codes(drawOn(input('A16')))).toEqual(['not_a_finite_number']);
    expect(drawOn(text(box('a', { text: 7 }))).apply?.canvas.shapes[0]?.text).toBe('7');
  });

  test('A18 of a key that occurs twice the last value counts, and info says so', () => {
    const drawing = drawOn(input('A18'));
    expect(codes(drawing)).toEqual(['empty_actions']);
    expect(drawing.parse.info.duplicate_keys).toBe(true);
    const labelled = text(box('a', { text: 'key: value, "x": 1' }));
    expect(drawOn(labelled).parse.info.duplicate_keys).toBe(false);
  });

  test('F05 a number that never ends is refused fast and briefly', () => {
    const drawing = drawOn(input('F05'));
    expect(codes(drawing)).toEqual(['truncated']);
    expect(drawing.parse.errors[0]?.message.length).toBeLessThan(200);
  });
});

describe('size', () => {
  test('A19 deep nesting is refused, as text and as a value', () => {
    const completion = input('A19');
    expect(codes(drawOn(completion))).toEqual(['nested_too_deep']);
    expect(codes(drawOn(completion, { preset: 'article' }))).toEqual(['nested_too_deep']);
    expect(codes(drawOn(`Here: ${completion}`))).toEqual(['nested_too_deep']);
    expect(codes(drawOn(JSON.parse(completion)))).toEqual(['nested_too_deep']);
    const cyclic: Record<string, unknown> = {};
    cyclic['actions'] = [cyclic, cyclic];
    expect(codes(drawOn(cyclic))).toEqual(['nested_too_deep']);
  });

  test('A20 an unclosed string of escapes and braces is refused at once', () => {
    const completion = input('A20');
    expect(codes(drawOn(completion))).toEqual(['invalid_json']);
    expect(cpuMs(() => drawOn(completion))).toBeLessThan(50);
  });

  test('A20 longer text is not read at all', () => {
    expect(codes(drawOn(' '.repeat(300_000)))).toEqual(['completion_too_long']);
  });

  test('B16 arrows count towards the limit of actions', () => {
    expect(codes(drawOn(input('B16', { LIMIT: 200 })))).toEqual(['too_many_actions']);
    expect(codes(drawOn(input('B16', { LIMIT: 199 })))).toEqual([]);
  });

  test('B16 a full canvas refuses shapes and arrows alike and keeps what it has', () => {
    const shapes = Array.from({ length: MAX_CANVAS_ITEMS }, (_, i) => ({
      ...{ id: `s${i}`, shape: 'rectangle' as const, x: 0, y: 0, w: 100, h: 60, text: '' },
    }));
    const start = { canvas: { shapes, arrows: [] }, selected: [] };
    const actions = [box('new'), { type: 'connect', from: 's0', to: 's1' }];
    const { errors, canvas, counts } = applyActions(actions, start, { action_set: 'core' });
    expect(errors.map((error) => error.code)).toEqual(['canvas_full', 'canvas_full']);
    expect(canvas).toEqual(start.canvas);
    expect(counts).toEqual({ actions: 2, schema_valid: 2, accepted: 0 });
  });
});

describe('shapes and labels', () => {
  test('B07 shapes without a size are refused', () => {
    const drawing = drawOn(input('B07'));
    expect(codes(drawing)).toEqual(['not_positive', 'not_positive']);
    expect(drawing.apply?.canvas.shapes).toEqual([]);
  });

  test('B15 an id is used once, in later turns too, and the first shape stays', () => {
    const { apply } = drawOn(input('B15'));
    expect(apply?.errors.map(({ code, index }) => [code, index])).toEqual([
      ['duplicate_shape_id', 1],
      ['self_arrow', 2],
    ]);
    expect(apply?.canvas.shapes.map((shape) => shape.text)).toEqual(['one']);
    const later = applyActions([box('a')], { ...START, canvas: apply!.canvas }, { action_set: 'core' });
    expect(later.errors[0]?.code).toBe('duplicate_shape_id');
  });

  test('B15 ids that differ in case or in a trailing space are different ids', () => {
    expect(ids(drawOn(text(box('a'), box('A'), box('a '))).apply?.canvas)).toEqual(['a', 'A', 'a ']);
  });

  test('E01 an empty plan is no canvas and earns nothing', () => {
    const drawing = drawOn(input('E01'));
    expect(codes(drawing)).toEqual(['empty_actions']);
    expect(drawing.apply).toBeNull();
    expect(scoreCompletion(TASK, input('E01'), 'article').result.reward).toBe(0);
    expect(scoreCompletion(TASK, input('E01'), 'graded').result.reward).toBe(0);
  });

  test('G10 control characters are refused in ids and dropped from labels, and the completion is kept as it came', () => {
    const completion = input('G10');
    const drawing = drawOn(completion);
    expect(codes(drawing)).toEqual(['control_character_in_id']);
    expect(drawing.completion).toBe(completion);
    const cleaned = drawOn(text(box('a', { text: 'x\u0000\u001b\u0085y\tz\nw\r \ud800' })));
    expect(cleaned.apply?.canvas.shapes[0]?.text).toBe('xy\tz\nw \ufffd');
  });

  test('H09 labels keep their logical order and lose embeddings, overrides and isolates', () => {
    const { apply } = drawOn(input('H09'));
    expect(apply?.canvas.shapes.map((shape) => shape.text)).toEqual([
      '\u05e9\u05dc\u05d5\u05dd Wi-Fi 7-12',
      'pay 001 EUR',
    ]);
  });

  test('G10 H09 preset article keeps ids and labels as they came', () => {
    const shape = { id: 'a\u0000b', text: 'x\u0000y \u202e001' };
    expect(drawOn(text(box(shape.id, shape)), { preset: 'article' }).apply?.canvas.shapes[0]).toMatchObject(shape);
  });
});
