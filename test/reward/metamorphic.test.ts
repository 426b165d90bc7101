import { describe, expect, test } from 'vitest';
import type { Action } from '../../schemas/action.ts';
import { createRng, hash64 } from '../../schemas/seed.ts';
import type { Task } from '../../schemas/task.ts';
import { scoreCompletion } from '../../server/reward/score.ts';
import { solve } from '../../server/tasks/solver.ts';
import { sampleTask } from '../../server/tasks/suite.ts';
import { arrowsOf, shapesOf } from './damage.ts';
import { type RealTask, realTasks } from './real.ts';

const SEED = 'metamorphic';
const SAMPLED = 120;

const sampled = Array.from({ length: SAMPLED }, (_, i) => sampleTask({ seed: `${SEED}-${i}` }));
const tasks: readonly (Task | RealTask)[] = [...realTasks, ...sampled];
const golds = tasks.map((task) => ({ task, gold: solve(task), name: 'task_id' in task ? task.task_id : task.id }));

type Change = (gold: readonly Action[], task: Task | RealTask) => Action[][];
type Shape = ReturnType<typeof shapesOf>[number];

const reward = (task: Task | RealTask, actions: readonly Action[]): number =>
  scoreCompletion(task, { actions }, 'graded').result.reward;

const shapeChange = (gold: readonly Action[], change: (shape: Shape) => Shape): Action[] =>
  gold.map((action) => (action.type === 'create_shape' ? change(action) : action));

const INVARIANT: Readonly<Record<string, Change>> = {
  'renaming ids': (gold) => {
    const names = new Map(shapesOf(gold).map(({ id }, i) => [id, `shape ${(i * 7) % 97} of the drawing`]));
    const renamed = (id: string): string => names.get(id)!;
    return [
      gold.map((action): Action => {
        if (action.type === 'create_shape') return { ...action, id: renamed(action.id) };
        if (action.type === 'connect') return { ...action, from: renamed(action.from), to: renamed(action.to) };
        return action;
      }),
    ];
  },
  'permuting independent actions': (gold, { prompt }) => {
    const rng = createRng(hash64(SEED, 'permute', prompt));
    return [1, 2].map(() => [...rng.shuffle(shapesOf(gold)), ...rng.shuffle(arrowsOf(gold))]);
  },
  'moving the whole drawing': (gold) => {
    const left = Math.min(...shapesOf(gold).map(({ x }) => x));
    const top = Math.min(...shapesOf(gold).map(({ y }) => y));
    return [0.3, 1].map((share) =>
      shapeChange(gold, (shape) => ({ ...shape, x: shape.x - share * left, y: shape.y - share * top })),
    );
  },
  'adding a title where there is room': (gold, { canvas }) => {
    const top = Math.min(...shapesOf(gold).map(({ y }) => y));
    const title = { type: 'create_shape', id: 'title', shape: 'text', text: 'The whole picture' } as const;
    return top < 36 ? [] : [[...gold, { ...title, x: canvas.w / 2 - 150, y: 4, w: 300, h: 30 }]];
  },
};

const NEVER_UP: Readonly<Record<string, Change>> = {
  'dropping a shape with its arrows': (gold) =>
    shapesOf(gold).map(({ id }) =>
      gold.filter(
        (a) => !(a.type === 'create_shape' && a.id === id) && !(a.type === 'connect' && (a.from === id || a.to === id)),
      ),
    ),
  'dropping an arrow': (gold) => arrowsOf(gold).map((arrow) => gold.filter((action) => action !== arrow)),
  'turning an arrow round': (gold) =>
    arrowsOf(gold).map((arrow) =>
      gold.map((action) => (action === arrow ? { ...arrow, from: arrow.to, to: arrow.from } : action)),
    ),
  'adding a shape that nothing asks for': (gold, { canvas }) =>
    [
      [5, 5],
      [canvas.w - 125, canvas.h - 45],
      [canvas.w / 2, canvas.h / 2],
    ].map(([x = 0, y = 0]) => [
      ...gold,
      { type: 'create_shape', id: 'decoy', shape: 'rectangle', x, y, w: 120, h: 40, text: 'Decoy thing' },
    ]),
  'moving a shape onto another': (gold) => {
    const shapes = shapesOf(gold);
    return shapes.map((shape, i) => {
      const { x, y } = shapes[(i + 1) % shapes.length]!;
      return gold.map((action) => (action === shape ? { ...shape, x: x + 10, y: y + 10 } : action));
    });
  },
};

describe(`on ${golds.length} golds (sample seed ${SEED})`, () => {
  test.each(Object.entries(INVARIANT))('%s changes the reward by less than .01', (_, change) => {
    let tried = 0;
    for (const { task, gold, name } of golds) {
      const before = reward(task, gold);
      for (const changed of change(gold, task)) {
        expect(Math.abs(reward(task, changed) - before), name).toBeLessThan(0.01);
        tried++;
      }
    }
    expect(tried).toBeGreaterThan(0.9 * golds.length);
  });

  test.each(Object.entries(NEVER_UP))('%s never raises the reward', (_, change) => {
    let tried = 0;
    for (const { task, gold, name } of golds) {
      const before = reward(task, gold);
      for (const changed of change(gold, task)) {
        expect(reward(task, changed), name).toBeLessThanOrEqual(before + 1e-9);
        tried++;
      }
    }
    expect(tried).toBeGreaterThan(2 * golds.length);
  });
});

/** Two correct boxes and, where one is expected between them, their arrow. */
function minimalHonest({ expect: { nodes, edges } }: Task | RealTask): Action[] {
  const edge = edges.find(({ from, to }) => from !== to);
  const ids = edge === undefined ? nodes.slice(0, 2).map(({ id }) => id) : [edge.from, edge.to];
  const boxes = ids.map((id, i): Action => {
    const { label = '' } = nodes.find((node) => node.id === id) ?? {};
    return { type: 'create_shape', id, shape: 'rectangle', x: 20 + i * 420, y: 20, w: 360, h: 200, text: label };
  });
  return edge === undefined
    ? boxes
    : [...boxes, { type: 'connect', from: edge.from, to: edge.to, text: edge.label ?? '' }];
}

/** Collected case E01: what a policy finds first where a reward can be had without drawing. */
const HACKS: Readonly<Record<string, (task: Task | RealTask) => Action[]>> = {
  'an empty plan': () => [],
  'empty labels only': (task) => shapeChange(solve(task), (shape) => ({ ...shape, text: '' })),
  'one shape labelled with every keyword': ({ expect: { nodes } }) => [
    wholeCanvas(nodes.map(({ label }) => label).join(', ')),
  ],
  'the prompt pasted as a label': ({ prompt }) => [wholeCanvas(prompt)],
};

const wholeCanvas = (text: string): Action => ({
  ...{ type: 'create_shape', id: 'all', shape: 'rectangle', x: 0, y: 0, w: 1000, h: 800, text },
});

describe('E01', () => {
  test.each(Object.entries(HACKS))('%s earns less than two honest boxes, on every task', (_, hack) => {
    for (const { task, name } of golds) {
      expect(reward(task, hack(task)), name).toBeLessThan(reward(task, minimalHonest(task)) - 0.03);
    }
  });
});
