import { expect, test } from 'vitest';
import { scoreCompletion } from '../../server/reward/score.ts';
import { DEFAULT_CANVAS_SIZE, type ScoredTask } from '../../schemas/task.ts';
import type { RewardResult } from '../../schemas/reward.ts';
import { box, text } from '../canvas/support.ts';

const TASK: ScoredTask = {
  prompt: 'Draw the gateway, the user database and the cache',
  canvas: DEFAULT_CANVAS_SIZE,
  expect: {
    nodes: [
      { id: 'g', label: 'API Gateway' },
      { id: 'd', label: 'User DB', aliases: ['Datenbank'] },
      { id: 'c', label: 'Cache' },
    ],
    edges: [
      { from: 'g', to: 'd' },
      { from: 'd', to: 'c', directed: false },
      { from: 'c', to: 'c', label: 'refresh' },
    ],
  },
};
const FREE: ScoredTask = { prompt: 'gateway and cache', canvas: DEFAULT_CANVAS_SIZE };

const STUFFED = 'API Gateway, User DB, Cache';
const arrow = (from: string, to: string): Record<string, unknown> => ({ type: 'connect', from, to });
const nodes = [box('API Gateway'), box('User DB', { x: 300 }), box('Cache', { x: 600 })];
const GOLD = text(...nodes, arrow('API Gateway', 'User DB'), arrow('User DB', 'Cache'));

function stronger(completion: string, task = TASK): RewardResult {
  return scoreCompletion(task, completion, 'stronger').result;
}

/** Components in the order of the formula. */
function values(result: RewardResult): number[] {
  const { parses_as_json, schema_valid, renderer_accepts, ...content } = result.components;
  return [parses_as_json!, schema_valid!, renderer_accepts!, ...Object.values(content)];
}

test.each([
  ['gold', GOLD, 1, [1, 1, 1, 1, 1, 1]],
  ['an empty list, read literally', '{"actions": []}', 0.75, [1, 1, 1, 0, 0, 1]],
  [
    'two boxes that hold every label, joined both ways',
    text(box('l', { text: STUFFED }), box('r', { text: STUFFED, x: 300 }), arrow('l', 'r'), arrow('r', 'l')),
    1,
    [1, 1, 1, 1, 1, 1],
  ],
  ['no JSON', 'no', 0, [0, 0, 0, 0, 0, 0]],
  ['JSON without actions', '{"a": 1}', 0.25, [1, 0, 0, 0, 0, 0]],
  ['nodes without arrows', text(...nodes), 0.9, [1, 1, 1, 1, 0, 1]],
  ['cut behind the nodes', text(...nodes).slice(0, -2), 0.775, [0.5, 1, 1, 1, 0, 1]],
  [
    'reversed arrows',
    text(...nodes, arrow('User DB', 'API Gateway'), arrow('Cache', 'User DB')),
    0.95,
    [1, 1, 1, 1, 0.5, 1],
  ],
  ['an alias, another case', text(box('DATENBANK'), box('cache', { x: 300 })), 0.85, [1, 1, 1, 2 / 3, 0, 1]],
  ['two shapes that touch', text(box('a'), box('b', { x: 100 })), 0.735, [1, 1, 1, 0, 0, 0.85]],
  ['one of two actions refused by the canvas', text(box('Cache'), box('Cache')), 0.7, [1, 1, 0.5, 1 / 3, 0, 1]],
  ['one of two actions with a wrong field', text(box('Cache'), box('b', { w: 'x' })), 0.7, [1, 0.5, 1, 1 / 3, 0, 1]],
  ['no valid action', text({ type: 'draw' }), 0.35, [1, 0, 0, 0, 0, 1]],
] as const)('%s', (_name, completion, reward, components) => {
  const result = stronger(completion);
  expect(result.reward).toBeCloseTo(reward, 12);
  for (const [index, value] of values(result).entries()) expect(value).toBeCloseTo(components[index]!, 12);
  expect(result.expectation).toBe('task');
});

test.each([
  ['both words, joined', text(box('gateway'), box('cache', { x: 300 }), arrow('gateway', 'cache')), [1, 1]],
  ['one word', text(box('cache')), [0.5, 0]],
  [
    'an arrow to a shape the prompt does not name',
    text(box('cache'), box('x', { x: 300 }), arrow('x', 'cache')),
    [0.5, 0],
  ],
] as const)('without an expectation the words of the prompt count: %s', (_name, completion, [entities, arrows]) => {
  const result = stronger(completion, FREE);
  expect(result.components).toMatchObject({
    requested_entities_present: entities,
    arrows_connect_expected_entities: arrows,
  });
  expect(result.expectation).toBe('none');
});

test('a prompt without important words leaves both at a half', () => {
  const { components } = stronger(text(box('S3')), { ...FREE, prompt: 'S3' });
  expect([components['requested_entities_present'], components['arrows_connect_expected_entities']]).toEqual([
    0.5, 0.5,
  ]);
});

test('reasons name what is missing, largest loss first, and add up to what is lost', () => {
  const { reward, reasons } = stronger(text(box('x'), box('x')));
  expect(reasons.map(({ component, code }) => [component, code])).toEqual([
    ['requested_entities_present', 'entities_missing'],
    ['renderer_accepts', 'duplicate_shape_id'],
    ['arrows_connect_expected_entities', 'arrows_missing'],
  ]);
  expect(reasons[0]?.message).toContain('API Gateway, User DB, Cache');
  expect(reasons[1]?.message).toBe('action 1: duplicate shape id: x');
  expect(reasons[2]?.message).toContain('API Gateway to User DB, User DB to Cache');
  expect(reasons.reduce((sum, reason) => sum + reason.lost, reward)).toBeCloseTo(1, 12);
});

test.each([
  ['prose and JSON', `Here: ${GOLD}`, 1],
  ['two objects (the article takes the first { to the last })', `${GOLD} ${GOLD}`, 0],
  ['any JSON', '42', 1],
  ['prose', 'no', 0],
] as const)('preset weak pays for JSON alone: %s', (_name, completion, reward) => {
  const { result } = scoreCompletion(TASK, completion, 'weak');
  expect([result.reward, result.components, result.reasons.length]).toEqual([
    reward,
    { parses_as_json: reward },
    1 - reward,
  ]);
});

test('the answer carries preset, version, errors and counts', () => {
  const { result, canvas } = scoreCompletion(TASK, text(box('a'), box('a')), 'stronger');
  expect(result).toMatchObject({ preset: { name: 'stronger', version: 1 }, applied: 1, rejected: 1 });
  expect(result.errors).toEqual([{ code: 'duplicate_shape_id', message: 'action 1: duplicate shape id: a', index: 1 }]);
  expect(canvas.shapes).toHaveLength(1);
});
