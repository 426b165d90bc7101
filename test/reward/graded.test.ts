import { describe, expect, test } from 'vitest';
import { EMPTY_CANVAS } from '../../schemas/canvas.ts';
import type { ScoredTask } from '../../schemas/task.ts';
import { applyActions } from '../../server/canvas/apply.ts';
import { parseCompletion } from '../../server/canvas/parse.ts';
import { scoreCompletion, scoreDrawing } from '../../server/reward/score.ts';
import { ALPHA, ARROW, BETA, CANVAS, PAIR, arrow, box, nodes, score, taskOf } from './drawing.ts';

describe('rewards computed by hand, Alpha -> Beta', () => {
  test.each<[string, readonly unknown[], number]>([
    ['drawn well', [ALPHA, BETA, ARROW], 1],
    // S = .4/.8, L = 1
    ['without its arrow', [ALPHA, BETA], 0.1 + 0.6 * 0.5 + 0.3 * 0.5],
    // and H = 1 - .5 * 1/2
    ['with its arrow turned round', [ALPHA, BETA, arrow('Beta', 'Alpha')], 0.1 + 0.75 * 0.9 * 0.5],
    // one extra arrow: edge = 2/3, H = .75
    ['with its arrow drawn twice', [ALPHA, BETA, ARROW, ARROW], 0.1 + 0.75 * 0.9 * ((0.4 + 0.4 * (2 / 3)) / 0.8)],
    // node = (1 + 5/6) / 2
    [
      'with a typing error',
      [box('Alpha', 0, 0, { text: 'Alphas' }), BETA, ARROW],
      0.1 + 0.9 * ((0.4 * (11 / 12) + 0.4) / 0.8),
    ],
    // node = (1 + .6) / 2
    [
      'with a bare text for a box',
      [box('Alpha', 0, 0, { shape: 'text' }), BETA, ARROW],
      0.1 + 0.9 * ((0.4 * 0.8 + 0.4) / 0.8),
    ],
    // Alpha is matched to nothing: node = .5, edge = 0, xs = 1, xa = 1, and L = 0 as one shape alone can be seen
    [
      'with a box too small to see',
      [box('Alpha', 0, 0, { w: 20, h: 10 }), BETA, ARROW],
      0.1 + (2 / 3) * 0.75 * 0.6 * 0.25,
    ],
    ['with a box outside the canvas', [box('Alpha', -90, 0), BETA, ARROW], 0.1 + (2 / 3) * 0.75 * 0.6 * 0.25],
    [
      'with a blank label',
      [box('Alpha', 0, 0, { text: '\u200b \u202e' }), BETA, ARROW],
      0.1 + (2 / 3) * 0.75 * 0.6 * ((0.4 * (2 / 3.5)) / 0.8),
    ],
    // boxes overlap by 40 x 60 px of 100 x 60: overlap = 1 - .8/2; no gap; no arrow to be seen; bounding box full
    [
      'with boxes that overlap',
      [box('Alpha', 0, 0), box('Beta', 60, 0), ARROW],
      0.1 + 0.75 * (0.6 + 0.3 * (0.22 * 0.6 + 0.15 + 0.15 + 0.12 + 0.1 + 0.08 + 0.04)) * 0.5,
    ],
    // an extra box: node = 2 * 2 / (3 + 2), H = 1 - 1/3; in line, same gap; covers 3/5 of the bounding box
    [
      'with a box too many',
      [ALPHA, BETA, ARROW, box('Gamma', 400, 0)],
      0.1 + (2 / 3) * (0.6 + 0.3 * (1 - 0.04 * 0.4)) * ((0.4 * 0.8 + 0.4) / 0.8),
    ],
    ['with one action malformed', [ALPHA, BETA, ARROW, { type: 'create_shape', id: 'x' }], 0.75],
    ['with one action refused', [ALPHA, BETA, ARROW, ALPHA], 0.75],
  ])('%s', (_, actions, reward) => {
    expect(score(PAIR, actions).reward).toBeCloseTo(reward, 12);
  });

  test.each<[string, string, number]>([
    ['strict JSON', '%', 1],
    ['a fence', '```json\n%\n```', 0.9],
    ['prose around it', 'Here it is: %', 0.9],
    ['no JSON', 'I cannot draw', 0],
  ])('format: %s', (_, frame, reward) => {
    const text = frame.replace('%', JSON.stringify({ actions: [ALPHA, BETA, ARROW] }));
    expect(scoreCompletion(PAIR, text, 'graded').result.reward).toBeCloseTo(reward, 12);
  });

  test('twice as many actions as the budget 4 (n + m) + 10 = 22 halve all but the format', () => {
    const moves = Array.from({ length: 41 }, () => ({ type: 'move_shape', id: 'Alpha', x: 0, y: 0 }));
    expect(score(PAIR, [ALPHA, BETA, ARROW, ...moves], 'editor').reward).toBeCloseTo(0.1 + 0.5 * 0.9, 12);
  });

  test('a last turn that only says done keeps the format factors at 1', () => {
    expect(score(PAIR, [ALPHA, BETA, ARROW, { type: 'done' }], 'editor').components).toMatchObject({
      schema: 1,
      render: 1,
    });
  });
});

describe('without an expectation', () => {
  const task: ScoredTask = { prompt: 'browser server database', canvas: CANVAS };

  test('node and edge come from the words of the prompt', () => {
    const result = score(task, [
      box('a', 0, 0, { text: 'Browser' }),
      box('b', 150, 0, { text: 'Server' }),
      box('c', 300, 0, { text: 'Cache' }),
      arrow('a', 'b'),
      arrow('b', 'c'),
    ]);
    expect(result.expectation).toBe('none');
    expect(result.components).toMatchObject({ node: 2 / 3, edge: 0.5, edge_label: 1, shape_kind: 1, hack_factor: 1 });
  });

  test('one label with all words is stuffed, and repeated labels are extras', () => {
    const longer = { ...task, prompt: 'browser server database queue' };
    const pasted = score(longer, [box('a', 0, 0, { w: 400, h: 200, text: longer.prompt })]);
    expect(pasted.components).toMatchObject({ node: 1, edge: 0, stuffing: 0.5 });
    const twice = score(task, [box('a', 0, 0, { text: 'Server' }), box('b', 150, 0, { text: 'server' })]);
    expect(twice.components['extra_shapes']).toBeCloseTo(0.5, 12);
  });
});

test('500 actions are scored in under 50 ms of processor time', () => {
  const labels = Array.from({ length: 20 }, (_, i) => `Service number ${i}`);
  const shapes = Array.from({ length: 100 }, (_, i) =>
    box(`s${i}`, (i * 37) % 1100, (i * 53) % 740, { text: labels[i % 20]! }),
  );
  const arrows = Array.from({ length: 400 }, (_, i) => arrow(`s${i % 100}`, `s${(i * 7 + 3) % 100}`, 'calls'));
  const actions = [...shapes, ...arrows];
  const edges = labels.map((from, i) => ({ from, to: labels[(i * 3 + 1) % 20]!, label: 'calls' }));
  const task = taskOf({ nodes: nodes(...labels), edges });
  const parse = parseCompletion({ actions }, { style: 'lenient', max_actions: 500 });
  const apply = applyActions(actions, { canvas: EMPTY_CANVAS, selected: [] }, { action_set: 'core' });
  const took = Array.from({ length: 10 }, () => {
    const start = process.cpuUsage();
    scoreDrawing(task, { completion: actions, parse, apply }, 'graded');
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  });
  expect(Math.min(...took)).toBeLessThan(50);
});
