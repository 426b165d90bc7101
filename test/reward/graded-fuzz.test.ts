import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Reason } from '../../schemas/reward.ts';
import type { ScoredTask } from '../../schemas/task.ts';
import { scoreCompletion, scoreDrawing } from '../../server/reward/score.ts';
import { draw } from '../../server/reward/draw.ts';
import { PAIR, score } from './drawing.ts';

const SEED = 20260501;
const LABELS = [
  '',
  'Alpha',
  'alpha',
  'Beta',
  'Alpha Beta',
  'Gamma',
  '\u202eAhpla',
  '👩‍👩‍👧',
  '注文',
  'e\u0301'.repeat(40),
  ' ',
];
const IDS = ['a', 'b', 'c', '__proto__', 'Alpha'];

const label = fc.oneof(fc.constantFrom(...LABELS), fc.string({ unit: 'grapheme', maxLength: 30 }));
const id = fc.constantFrom(...IDS);
const place = fc.oneof(fc.integer({ min: -50, max: 1300 }), fc.double({ noNaN: true, noDefaultInfinity: true }));
const side = fc.oneof(fc.integer({ min: 1, max: 1000 }), fc.constantFrom(1e-300, 0.5, 1000));
const kind = fc.constantFrom('rectangle', 'ellipse', 'diamond', 'text');
const shape = fc.record({
  type: fc.constant('create_shape'),
  id,
  shape: kind,
  x: place,
  y: place,
  w: side,
  h: side,
  text: label,
});
const action = fc.oneof(
  { weight: 5, arbitrary: shape },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('connect'), from: id, to: id, text: label }) },
  { weight: 1, arbitrary: fc.dictionary(fc.string(), fc.jsonValue()) },
);

const node = fc.record({ id, label: fc.constantFrom(...LABELS.filter((text) => text !== '')), shape: kind });
const task = fc.record(
  {
    prompt: label,
    canvas: fc.constant({ w: 1200, h: 800 }),
    expect: fc.record({
      nodes: fc.array(node, { maxLength: 8 }),
      edges: fc.array(fc.record({ from: id, to: id, label, directed: fc.boolean() }), { maxLength: 10 }),
    }),
    direction: fc.constantFrom('right', 'left', 'down', 'up'),
    allowed_extras: fc.array(label, { maxLength: 2 }),
  },
  { requiredKeys: ['prompt', 'canvas'] },
);

const KEYS = Object.keys(score(PAIR, []).components);

function assertSound(result: ReturnType<typeof score>): void {
  expect(result.reward).toBeGreaterThanOrEqual(0);
  expect(result.reward).toBeLessThanOrEqual(1);
  expect(Object.keys(result.components)).toEqual(KEYS);
  for (const [name, value] of Object.entries(result.components)) {
    expect(value >= 0 && value <= 1, `${name} is ${value}`).toBe(true);
  }
  expect(result.reasons.length).toBeLessThanOrEqual(12);
  for (const reason of result.reasons) Reason.parse(reason);
}

describe(`any drawing (seed ${SEED})`, () => {
  test('has a reward and components in [0, 1], the same components every time, and at most 12 reasons', () => {
    fc.assert(
      fc.property(task, fc.array(action, { maxLength: 25 }), (given, actions) => {
        assertSound(score(given, actions));
      }),
      { seed: SEED, numRuns: 1500 },
    );
  });

  test('so has any text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.string().map((text) => `{"actions": [${text}]}`),
        ),
        (completion) => {
          assertSound(scoreCompletion(PAIR, completion, 'graded').result);
        },
      ),
      { seed: SEED, numRuns: 500 },
    );
  });

  test('earns the same under other ids', () => {
    fc.assert(
      fc.property(
        task,
        fc.array(shape, { maxLength: 12 }),
        fc.array(fc.tuple(id, id, label)),
        (given, shapes, links) => {
          const drawing = (name: (id: string) => string) => [
            ...shapes.map((each) => ({ ...each, id: name(each.id) })),
            ...links.map(([from, to, text]) => ({ type: 'connect', from: name(from), to: name(to), text })),
          ];
          const plain = score(
            given,
            drawing((each) => each),
          ).reward;
          expect(
            score(
              given as ScoredTask,
              drawing((each) => `x${IDS.indexOf(each)}`),
            ).reward,
          ).toBeCloseTo(plain, 12);
        },
      ),
      { seed: SEED, numRuns: 300 },
    );
  });

  test('even on a canvas with numbers at the end of the range', () => {
    const extreme = fc.constantFrom(-1e308, 1e308, 1.7e308, 5e-324, 0, 100);
    const sized = fc.record({
      id: fc.uuid(),
      shape: kind,
      x: extreme,
      y: extreme,
      w: fc.constantFrom(5e-324, 1, 1e308),
      h: fc.constantFrom(5e-324, 1, 1e308),
      text: label,
    });
    fc.assert(
      fc.property(
        fc.array(sized as fc.Arbitrary<never>, { minLength: 2, maxLength: 6 }),
        (shapes: { id: string }[]) => {
          const arrows = shapes.slice(1).map(({ id: to }, i) => ({ from: shapes[i]!.id, to, text: '' }));
          const start = { canvas: { shapes, arrows } as never, selected: [] };
          const drawing = draw({ actions: [{ type: 'select', ids: [] }] }, start, {
            preset: 'graded',
            action_set: 'editor',
          });
          assertSound(scoreDrawing(PAIR, drawing, 'graded'));
        },
      ),
      { seed: SEED, numRuns: 300 },
    );
  });
});
