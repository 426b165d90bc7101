import { describe, expect, test } from 'vitest';
import type { Action } from '../../schemas/action.ts';
import type { ScoredTask } from '../../schemas/task.ts';
import { arrow, box, nodes, score, taskOf } from './drawing.ts';

describe('what counts as the expected graph', () => {
  const row = (...labels: string[]): Action[] => labels.map((label, i) => box(label, 150 * i, 0));

  test.each<[string, ScoredTask, readonly Action[], Record<string, number>]>([
    [
      'an alias equals the label',
      taskOf({ nodes: [{ id: 'a', label: 'Database', aliases: ['DB'] }, ...nodes('Web')], edges: [] }),
      row('DB', 'Web'),
      { node: 1, extra_shapes: 1 },
    ],
    [
      'case, width, line breaks and bidi controls do not count (H09)',
      taskOf({ nodes: nodes('Load Balancer', 'straße'), edges: [] }),
      [box('a', 0, 0, { text: '\u202aLOAD\nＢalancer \u202c' }), box('b', 300, 0, { text: 'STRASSE' })],
      { node: 1 },
    ],
    [
      'an undirected edge may be drawn either way',
      taskOf({
        nodes: nodes('A', 'B', 'C'),
        edges: [
          { from: 'A', to: 'B', directed: false },
          { from: 'B', to: 'C' },
        ],
      }),
      [...row('A', 'B', 'C'), arrow('B', 'A'), arrow('C', 'B')],
      { edge: 0.5, extra_arrows: 1 - 0.5 / 3 },
    ],
    [
      'a loop to itself is not asked for, as nobody can draw it',
      taskOf({
        nodes: nodes('A', 'B'),
        edges: [
          { from: 'A', to: 'A', label: 'retry' },
          { from: 'A', to: 'B' },
        ],
      }),
      [...row('A', 'B'), arrow('A', 'B')],
      { edge: 1, edge_label: 1, structure: 1 },
    ],
    [
      'two arrows between the same shapes take the two labels, whatever their order',
      taskOf({
        nodes: nodes('A', 'B'),
        edges: [
          { from: 'A', to: 'B', label: 'open' },
          { from: 'A', to: 'B', label: 'close' },
        ],
      }),
      [...row('A', 'B'), arrow('A', 'B', 'close'), arrow('A', 'B', 'open')],
      { edge: 1, edge_label: 1 },
    ],
    [
      'the label of a missing arrow is missing too',
      taskOf({
        nodes: nodes('A', 'B', 'C'),
        edges: [
          { from: 'A', to: 'B', label: 'yes' },
          { from: 'B', to: 'C', label: 'no' },
        ],
      }),
      [...row('A', 'B', 'C'), arrow('A', 'B', 'yes')],
      { edge: 2 / 3, edge_label: 0.5 },
    ],
    [
      'equal labels are told apart by their arrows',
      taskOf({
        nodes: [{ id: '1', label: 'API' }, { id: '2', label: 'API' }, ...nodes('Web', 'Disk')],
        edges: [
          { from: 'Web', to: '1' },
          { from: '2', to: 'Disk' },
        ],
      }),
      [
        ...row('Web', 'Disk'),
        box('x', 400, 0, { text: 'API' }),
        box('y', 600, 0, { text: 'API' }),
        arrow('Web', 'y'),
        arrow('x', 'Disk'),
      ],
      { node: 1, edge: 1 },
    ],
    [
      'one of two diamonds drawn so, and one of two others',
      taskOf({
        nodes: [
          { id: 'a', label: 'A', shape: 'diamond' },
          { id: 'b', label: 'B', shape: 'diamond' },
          ...nodes('C', 'D'),
        ],
        edges: [],
      }),
      [
        box('A', 0, 0, { shape: 'diamond' }),
        box('B', 150, 0),
        box('C', 300, 0, { shape: 'ellipse' }),
        box('D', 450, 0),
      ],
      { shape_kind: 0.5 * 0.5, node: 1 },
    ],
    [
      'an allowed extra is free once',
      taskOf({ nodes: nodes('A', 'B'), edges: [] }, { allowed_extras: ['Legend'] }),
      [...row('A', 'B'), box('l', 300, 0, { text: 'legend' }), arrow('l', 'A')],
      { node: 1, extra_shapes: 1, extra_arrows: 1 },
    ],
    [
      'a second copy of it is not',
      taskOf({ nodes: nodes('A', 'B'), edges: [] }, { allowed_extras: ['Legend'] }),
      [...row('A', 'B'), box('l', 300, 0, { text: 'legend' }), box('m', 450, 0, { text: 'legend' })],
      { node: 0.8, extra_shapes: 2 / 3 },
    ],
    [
      'a second title is not free',
      taskOf({ nodes: nodes('A', 'B'), edges: [] }),
      [
        ...row('A', 'B'),
        box('t', 0, 300, { shape: 'text', text: 'Title' }),
        box('u', 0, 400, { shape: 'text', text: 'More' }),
      ],
      { node: 0.8, extra_shapes: 2 / 3 },
    ],
    [
      'two names in one label are stuffing',
      taskOf({ nodes: nodes('Order', 'Payment', 'Stock'), edges: [] }),
      [...row('Order', 'Payment'), box('s', 400, 0, { text: 'Stock, Order' })],
      { stuffing: 0.5 },
    ],
    [
      'a name inside another name is none',
      taskOf({ nodes: nodes('User', 'User Service', 'Cat'), edges: [] }),
      [
        box('u', 0, 0, { text: 'Users' }),
        box('s', 150, 0, { text: 'User Service (main)' }),
        box('c', 400, 0, { text: 'Catalogue' }),
      ],
      { stuffing: 1 },
    ],
    [
      'a label like one entity is none',
      taskOf({ nodes: nodes('Order', 'Stock', 'Order of Stock'), edges: [] }),
      [...row('Order', 'Stock'), box('s', 400, 0, { text: 'Order of Stocks' })],
      { stuffing: 1 },
    ],
    [
      'names in CJK need no spaces to be found',
      taskOf({ nodes: nodes('注文', '在庫', '支払い'), edges: [] }),
      [box('s', 0, 0, { text: '注文と在庫' })],
      { stuffing: 0.5 },
    ],
  ])('%s', (_, task, actions, expected) => {
    const { components } = score(task, actions);
    for (const [name, value] of Object.entries(expected)) expect(components[name], name).toBeCloseTo(value, 12);
  });

  test.each<[string, Action[], string]>([
    ['half covered', [box('A', 0, 0, { w: 200 }), box('B', 100, 0, { w: 120 })], 'both'],
    ['more than half covered', [box('A', 0, 0, { w: 200 }), box('B', 95, 0, { w: 120 })], 'B'],
    ['covered by two shapes together', [box('A', 0, 0, { w: 200 }), box('B', 130, 0), box('C', -30, 0)], 'B'],
    ['text covered, shape not', [box('A', 0, 0, { w: 400, h: 300 }), box('B', 150, 120)], 'B'],
    ['on top of the other', [box('B', 150, 120), box('A', 0, 0, { w: 400, h: 300, text: 'A' })], 'A'],
  ])('%s', (_, actions, seen) => {
    const { components } = score(taskOf({ nodes: nodes('A', 'B'), edges: [] }), actions);
    const found = seen === 'both' ? 2 : 1;
    const drawn = actions.length;
    expect(components['node']).toBeCloseTo((2 * found) / (drawn + 2), 12);
  });
});
