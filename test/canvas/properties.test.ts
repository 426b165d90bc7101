/** What holds for every completion: no exception, linear time, and inputs that stay as they were. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EDITOR_ACTION_TYPES, SHAPE_KINDS } from '../../schemas/action.ts';
import { PRESETS } from '../../schemas/reward.ts';
import { applyActions } from '../../server/canvas/apply.ts';
import { MAX_CANVAS_ITEMS } from '../../server/canvas/limits.ts';
import { parseCompletion } from '../../server/canvas/parse.ts';
import { box, cpuMs, drawOn, ids, text } from './support.ts';

const SEED = 20260501;
const RUNS = { seed: SEED, numRuns: 500 };

const anyId = fc.constantFrom('a', 'b', 'c', '__proto__', '', 'x\u0000', 7, null);
const anyNumber = fc.oneof(fc.integer({ min: -10, max: 1100 }), fc.constantFrom(NaN, Infinity, 1e308, '1', null));
const anyText = fc.oneof(fc.string(), fc.constantFrom(undefined, null, 3, true, {}));
const anyAction = fc.record(
  {
    type: fc.constantFrom(...EDITOR_ACTION_TYPES, 'toString', 5),
    id: anyId,
    shape: fc.constantFrom(...SHAPE_KINDS, 'star'),
    x: anyNumber,
    y: anyNumber,
    w: anyNumber,
    h: anyNumber,
    from: anyId,
    to: anyId,
    ids: fc.oneof(fc.array(anyId), fc.constant('a')),
    text: anyText,
  },
  { requiredKeys: ['type'] },
);
const anyActions = fc.array(anyAction, { maxLength: 30 });

/** Text in which JSON is hidden, cut, doubled and broken. */
const almostJson = fc
  .array(
    fc.oneof(
      anyActions.map((actions) => JSON.stringify({ actions })),
      fc.json(),
      fc.constantFrom(
        '<think>',
        '</think>',
        '```json\n',
        '{"actions":[',
        ']}',
        '"',
        '\\',
        '\n',
        ',',
        '1e',
        'tru',
        '\ufeff',
      ),
      fc.string(),
    ),
    { maxLength: 6 },
  )
  .chain((parts) => {
    const whole = parts.join('');
    return fc.nat(whole.length).map((end) => whole.slice(0, end));
  });

const anyCompletion = fc.oneof(
  almostJson,
  fc.string({ unit: 'binary' }),
  fc.anything(),
  anyActions,
  fc.record({ actions: anyActions }),
);

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}

describe(`seed ${SEED}`, () => {
  test('drawing never throws, and its counts and texts fit together', () => {
    const property = fc.property(anyCompletion, fc.constantFrom(...PRESETS), (completion, preset) => {
      const { parse, apply } = drawOn(completion, { preset, action_set: 'editor' });
      expect(parse.actions === null).toBe(parse.errors.length === 1);
      if (apply === null) return;
      const { actions, schema_valid, accepted } = apply.counts;
      expect(actions).toBeGreaterThanOrEqual(schema_valid);
      expect(schema_valid).toBeGreaterThanOrEqual(accepted);
      expect([apply.applied.length, apply.rejected.length]).toEqual([accepted, actions - accepted]);
      const known = new Set(ids(apply.canvas));
      expect(known.size).toBe(apply.canvas.shapes.length);
      for (const { from, to } of apply.canvas.arrows)
        expect(known.has(from) && known.has(to) && from !== to).toBe(true);
      for (const id of apply.selected) expect(known.has(id)).toBe(true);
    });
    fc.assert(property, { ...RUNS, numRuns: 1500 });
  });

  test('what JSON.parse accepts is taken as a whole, and what it gives is what runs', () => {
    const property = fc.property(fc.array(anyAction, { minLength: 1, maxLength: 30 }), (actions) => {
      const completion = JSON.stringify({ actions });
      const parse = parseCompletion(completion, { style: 'lenient', max_actions: 40 });
      expect(parse.info).toEqual({ outcome: 'strict', candidates: 1, truncated: false, duplicate_keys: false });
      expect(parse.actions).toEqual((JSON.parse(completion) as { actions: unknown }).actions);
    });
    fc.assert(property, RUNS);
  });

  test('a cut completion gives a prefix of its actions, and all of them in a fence', () => {
    const property = fc.property(fc.array(anyAction, { minLength: 1, maxLength: 9 }), fc.nat(), (actions, cut) => {
      const completion = text(...actions);
      const options = { style: 'lenient', max_actions: 40 } as const;
      const whole = parseCompletion('```\n' + completion + '\n```', options).actions;
      expect(whole).toEqual((JSON.parse(completion) as { actions: unknown }).actions);
      const part = parseCompletion(completion.slice(0, cut % completion.length), options);
      expect(part.info.outcome).not.toBe('strict');
      if (part.actions !== null) expect(part.actions).toEqual(whole?.slice(0, part.actions.length));
    });
    fc.assert(property, RUNS);
  });

  test('applying leaves the actions and the start canvas as they were, and repeats itself', () => {
    const property = fc.property(anyActions, anyActions, (before, actions) => {
      const first = applyActions(
        before,
        { canvas: { shapes: [], arrows: [] }, selected: [] },
        { action_set: 'editor' },
      );
      const start = deepFreeze({ canvas: first.canvas, selected: first.selected });
      const frozen = deepFreeze(actions);
      const once = applyActions(frozen, start, { action_set: 'editor' });
      expect(applyActions(frozen, start, { action_set: 'editor' })).toEqual(once);
    });
    fc.assert(property, RUNS);
  });
});

/** Patterns that make extractors backtrack or start over. */
const ADVERSARIAL: [string, (n: number) => string][] = [
  ['open braces', (n) => '{'.repeat(n)],
  ['empty objects', (n) => '{}'.repeat(n / 2)],
  ['escapes in an open string', (n) => '{"' + '\\k'.repeat(n / 4) + '{'.repeat(n / 2)],
  ['open keys', (n) => '{"'.repeat(n / 2)],
  ['digits', (n) => '{"actions":[' + '1'.repeat(n)],
  ['blanks', (n) => 'x' + ' '.repeat(n) + 'x'],
  ['thinking tags', (n) => '<think>'.repeat(n / 7)],
  ['unfinished literals', (n) => '[tru'.repeat(n / 4)],
  ['short lists', (n) => '[{}]'.repeat(n / 4)],
  ['cut items', (n) => '{"actions":[' + '{},'.repeat(n / 3)],
  ['colons in a label', (n) => '{"actions":[{"text":"' + ':'.repeat(n) + '"}]}'],
];

test.each(ADVERSARIAL)('four times the text takes about four times as long: %s', (_name, build) => {
  const [short, long] = [build(60_000), build(240_000)];
  drawOn(short);
  expect(cpuMs(() => drawOn(long))).toBeLessThan(10 * cpuMs(() => drawOn(short)) + 20);
});

test('a batch of 500 actions on a full canvas takes less than 50 ms', () => {
  const half = MAX_CANVAS_ITEMS / 2;
  const shapes = Array.from({ length: half }, (_, i) => ({ ...box(`s${i}`), id: `s${i}` }));
  const arrows = Array.from({ length: half }, (_, i) => ({ type: 'connect', from: `s${i}`, to: `s${(i + 1) % half}` }));
  const full = applyActions(
    [...shapes, ...arrows],
    { canvas: { shapes: [], arrows: [] }, selected: [] },
    { action_set: 'core' },
  );
  expect(full.counts.accepted).toBe(MAX_CANVAS_ITEMS);
  const deletions = shapes.map(({ id }) => ({ type: 'delete_shape', id }));
  const start = { canvas: full.canvas, selected: shapes.map(({ id }) => id) };
  expect(cpuMs(() => applyActions(deletions, start, { action_set: 'editor' }))).toBeLessThan(50);
});
