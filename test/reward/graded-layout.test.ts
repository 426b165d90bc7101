import { describe, expect, test } from 'vitest';
import type { Action } from '../../schemas/action.ts';
import type { ScoredTask } from '../../schemas/task.ts';
import { layoutLabel } from '../../server/reward/text.ts';
import { arrow, box, nodes, score, taskOf } from './drawing.ts';

describe('layout terms computed by hand', () => {
  const spread = taskOf({ nodes: nodes('A', 'B', 'C', 'D'), edges: [] });
  const square = [box('A', 0, 0), box('B', 300, 0), box('C', 0, 200), box('D', 300, 200)];

  test.each<[string, ScoredTask, readonly Action[], Record<string, number>]>([
    // both diagonals: c = 1, c_max = 1
    ['crossings', spread, [...square, arrow('A', 'D'), arrow('B', 'C')], { crossings: 0, edge_through_node: 1 }],
    // a third arrow that shares an end with each: c_max = 3 - 2 = 1
    [
      'crossings, not of neighbours',
      spread,
      [...square, arrow('A', 'D'), arrow('B', 'C'), arrow('A', 'B')],
      { crossings: 0 },
    ],
    // gaps are 140 px in rows; A-B 200 px: nearest 140 for all
    ['spacing', spread, square, { spacing: 1, align: 1, aspect: 1, occupancy: 1 }],
    // gaps 10, 10, 400: two of three too near, one too far; mean 140, sd 183.8
    ['spacing, uneven', spread, [box('A', 0, 0), box('B', 110, 0), box('C', 610, 0)], { spacing: 0 }],
    // no two centres within 6 px
    ['align', spread, [box('A', 0, 0), box('B', 150, 90), box('C', 7, 300)], { align: 0 }],
    ['align, just within', spread, [box('A', 0, 0), box('B', 150, 90), box('C', 6, 300)], { align: 2 / 3 }],
    // 1100 x 60: 60/1100/.2; three boxes of 100 fill 3/11
    [
      'aspect',
      spread,
      [box('A', 0, 0), box('B', 500, 0), box('C', 1000, 0)],
      { aspect: 60 / 1100 / 0.2, occupancy: 1 },
    ],
    ['flow of a chain', spread, [...square, arrow('A', 'B'), arrow('A', 'C'), arrow('C', 'D')], { flow: 2 / 3 }],
    [
      'flow of a ring',
      spread,
      [...square, arrow('A', 'B'), arrow('B', 'D'), arrow('D', 'C'), arrow('C', 'A')],
      { flow: 1 },
    ],
    [
      'flow, other direction asked for',
      { ...spread, direction: 'down' },
      [...square, arrow('A', 'B'), arrow('A', 'C')],
      { flow: 1 / 2 },
    ],
  ])('%s', (_, task, actions, expected) => {
    const { components } = score(task, actions);
    for (const [term, value] of Object.entries(expected)) expect(components[term], term).toBeCloseTo(value, 12);
  });

  test('B14: a label too large for a diamond, and an arrow through a third box', () => {
    const task = taskOf({
      nodes: [{ id: 'd', label: 'Is the customer already verified?', shape: 'diamond' }, ...nodes('mid', 'end')],
      edges: [{ from: 'd', to: 'end', label: 'yes' }],
    });
    const { components, reasons } = score(task, [
      {
        type: 'create_shape',
        id: 'd',
        shape: 'diamond',
        x: 0,
        y: 0,
        w: 120,
        h: 80,
        text: 'Is the customer already verified?',
      },
      { type: 'create_shape', id: 'm', shape: 'rectangle', x: 170, y: 10, w: 60, h: 60, text: 'mid' },
      { type: 'create_shape', id: 'e', shape: 'rectangle', x: 300, y: 10, w: 100, h: 60, text: 'end' },
      arrow('d', 'e', 'yes'),
    ]);
    // Inner box 60 x 40 px, two lines; the label needs 7 there. One arrow through one shape.
    expect(components['text_fit']).toBeCloseTo(2 / 3, 12);
    expect(components['edge_through_node']).toBeCloseTo(Math.exp(-1.5), 12);
    expect(components['node']).toBeCloseTo((0.7 + 1 + 1) / 3, 12);
    const advice = new Map(reasons.map(({ code, message }) => [code, message]));
    expect(advice.get('arrow_crosses_shape')).toContain('"d" -> "e" through "m"');
    const [, w = 0, h = 0] = /"d" at least (\d+) x (\d+) px/.exec(advice.get('text_overflow') ?? '')?.map(Number) ?? [];
    const shape = { shape: 'diamond', text: 'Is the customer already verified?' } as const;
    expect(layoutLabel({ ...shape, w, h }).fits).toBe(true);
    expect(layoutLabel({ ...shape, w: w - 10, h }).fits).toBe(false);
  });

  test.each<[string, Partial<Extract<Action, { type: 'create_shape' }>>, number]>([
    // the arrow runs along y = 30 from x = 100 to 500
    ['4 px into a box', { x: 250, y: 26, h: 60 }, 1],
    ['5 px into a box', { x: 250, y: 25, h: 60 }, Math.exp(-1.5)],
    ['past the corner of a diamond', { shape: 'diamond', x: 250, y: 27, w: 100, h: 60 }, 1],
    ['under the tip of a diamond', { shape: 'diamond', x: 250, y: 20, w: 100, h: 60 }, Math.exp(-1.5)],
    ['over an ellipse', { shape: 'ellipse', x: 250, y: 27, w: 100, h: 60 }, 1],
    ['through an ellipse', { shape: 'ellipse', x: 250, y: 25, w: 100, h: 60 }, Math.exp(-1.5)],
  ])('an arrow %s', (_, shape, expected) => {
    const task = taskOf({ nodes: nodes('A', 'B', 'C'), edges: [] });
    const { components } = score(task, [box('A', 0, 0), box('B', 500, 0), arrow('A', 'B'), box('C', 250, 30, shape)]);
    expect(components['edge_through_node']).toBeCloseTo(expected, 12);
  });
});
