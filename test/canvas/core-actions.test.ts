/** The article's decisions for values that languages treat differently, and the order of its checks. */
import { describe, expect, test } from 'vitest';
import { box, codes, drawOn, text } from './support.ts';

const COUNTS = { actions: 2, schema_valid: 2, accepted: 2 };

describe.each(['article', 'graded'] as const)('preset %s', (preset) => {
  test.each([
    ['a boolean is not a number', box('b', { x: true }), 'not_a_finite_number'],
    [
      '1e400 is not finite',
      `{"actions": [${JSON.stringify(box('b')).replace('"x":0', '"x":1e400')}]}`,
      'not_a_finite_number',
    ],
    ['a boolean is not a text', box('b', { text: true }), 'text_not_a_string'],
    ['a list is not a text', box('b', { text: [] }), 'text_not_a_string'],
    ['an empty type', box('b', { type: '' }), 'not_a_name'],
    ['a type in capitals', box('b', { type: 'CREATE_SHAPE' }), 'unknown_action_type'],
    ['a shape in capitals', box('b', { shape: 'Rectangle' }), 'unknown_shape_type'],
    ['id before shape', box('', { shape: 7 }), 'not_a_name'],
    ['shape before duplicate id', box('a', { shape: 'star' }), 'unknown_shape_type'],
    ['duplicate id before numbers', box('a', { x: null }), 'duplicate_shape_id'],
    ['numbers before sizes', box('b', { w: -1, h: null }), 'not_a_finite_number'],
    ['positive before too large', box('b', { w: 2000, h: 0 }), 'not_positive'],
    ['size before text', box('b', { w: 2000, text: {} }), 'too_large'],
    ['source before target', { type: 'connect', from: 'y', to: 'z' }, 'unknown_source'],
    ['target before self', { type: 'connect', from: 'a', to: 'z' }, 'unknown_target'],
    ['self before text', { type: 'connect', from: 'a', to: 'a', text: {} }, 'self_arrow'],
  ])('%s', (_name, action, code) => {
    const completion = typeof action === 'string' ? action : text(box('a'), action);
    expect(codes(drawOn(completion, { preset }))).toEqual([code]);
  });

  test.each([
    ['null', null, ''],
    ['absent', undefined, ''],
    ['7', 7, '7'],
    ['0.5', 0.5, '0.5'],
    ['blank', ' ', ' '],
  ])('text that is %s', (_name, value, label) => {
    const apply = drawOn(text(box('a', { text: value }), box('b', { x: 1000, w: 1000 })), { preset }).apply;
    expect(apply?.canvas.shapes[0]?.text).toBe(label);
    expect(apply?.counts).toEqual(COUNTS);
  });

  test('ids such as __proto__ and constructor are ids like others', () => {
    const arrow = { type: 'connect', from: '__proto__', to: 'constructor' };
    const { apply } = drawOn(text(box('__proto__'), box('constructor'), arrow, arrow), { preset });
    expect(apply?.errors).toEqual([]);
    expect(apply?.canvas.arrows).toHaveLength(2);
  });
});

test('a fault that only the canvas sees leaves the action valid by its schema', () => {
  const drawing = drawOn(
    text(
      box('a'),
      box('a'),
      box('a', { x: null }),
      { type: 'connect', from: 'a', to: 'z' },
      { type: 'connect', from: 'a', to: 'z', text: {} },
      box('b', { w: -1 }),
    ),
  );
  expect(drawing.apply?.counts).toEqual({ actions: 6, schema_valid: 3, accepted: 1 });
});

test('only preset article has no limit on coordinates', () => {
  const far = text(box('a', { x: -1e9, y: 1e300 }));
  expect(codes(drawOn(far, { preset: 'article' }))).toEqual([]);
  expect(codes(drawOn(far))).toEqual(['out_of_range']);
});
