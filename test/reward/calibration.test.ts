import { describe, expect, test } from 'vitest';
import type { Action } from '../../schemas/action.ts';
import { MAX_ACTIONS } from '../../server/canvas/limits.ts';
import { scoreCompletion } from '../../server/reward/score.ts';
import { solve } from '../../server/tasks/solver.ts';
import * as damage from './damage.ts';
import { type RealTask, realTasks } from './real.ts';

const reward = (task: RealTask, actions: readonly Action[], preset: 'article' | 'stronger' | 'graded'): number =>
  scoreCompletion(task, { actions }, preset).result.reward;

const golds = realTasks.map((task) => ({ task, gold: solve(task), best: reward(task, solve(task), 'graded') }));
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Whether every expected edge leads one way only, so that turning it round is a fault. */
const isOneWay = ({ expect: { edges } }: RealTask): boolean =>
  edges.every(({ directed, from, to }) => directed && !edges.some((other) => other.from === to && other.to === from));

interface Row {
  damage: damage.Damage;
  /** Bounds of the mean over all diagrams. The two older presets are there to show what they do not see. */
  article: readonly [number, number];
  stronger: readonly [number, number];
  graded: readonly [number, number];
  /** Bounds of each single diagram, and which diagrams they hold for. */
  each: readonly [number, number];
  where?: (task: RealTask) => boolean;
}

const GOLD: Row = {
  damage: (gold) => [...gold],
  article: [0.95, 1],
  stronger: [1, 1],
  graded: [0.98, 1],
  each: [0.94, 1],
};

/** The calibration table; each damage against the gold of the same diagram. */
const ROWS: Readonly<Record<string, Row>> = {
  'a third of the nodes missing': {
    damage: damage.thirdMissing,
    article: [0.85, 0.95],
    stronger: [0.87, 0.95],
    graded: [0.72, 0.84],
    each: [0.5, 0.9],
  },
  'nodes, no arrows': {
    damage: damage.noArrows,
    article: [0.95, 1],
    stronger: [0.89, 0.91],
    graded: [0.47, 0.55],
    each: [0.45, 0.6],
  },
  'all arrows reversed': {
    damage: damage.reversedArrows,
    article: [0.95, 1],
    stronger: [0.89, 0.93],
    graded: [0.3, 0.5],
    each: [0.3, 0.5],
    where: isOneWay,
  },
  'labels permuted': {
    damage: damage.permutedLabels,
    article: [0.95, 1],
    stronger: [0.9, 0.94],
    graded: [0.3, 0.5],
    each: [0.3, 0.8],
  },
  'every entity twice': {
    damage: damage.entitiesTwice,
    article: [0.95, 1],
    stronger: [1, 1],
    graded: [0.3, 0.4],
    each: [0.3, 0.4],
  },
  'all-pairs arrows': {
    damage: damage.allPairs,
    article: [0.95, 1],
    stronger: [1, 1],
    graded: [0.25, 0.4],
    each: [0.25, 0.7],
  },
  'gold and 30 decoys': {
    damage: damage.decoys,
    article: [0.95, 1],
    stronger: [1, 1],
    graded: [0.1, 0.3],
    each: [0.1, 0.3],
  },
  '1x1 px': hack(damage.onePixel),
  'off canvas': hack(damage.offCanvas),
  'stacked at one point': hack(damage.stacked),
  'two stuffed boxes': hack(damage.twoStuffedBoxes),
  'one giant box': hack(damage.giantBox),
  'judge-instruction label': hack(damage.judgeInstruction),
  'prompt pasted as a label': hack(damage.promptAsLabel),
  'empty labels': hack(damage.emptyLabels),
};

function hack(of: damage.Damage): Row {
  return { damage: of, article: [0.7, 1], stronger: [0.75, 1], graded: [0.09, 0.12], each: [0.09, 0.15] };
}

function expectWithin(value: number, [low, high]: readonly [number, number]): void {
  expect(value).toBeGreaterThanOrEqual(low);
  expect(value).toBeLessThanOrEqual(high);
}

describe('calibration on 44 real diagrams', () => {
  test.each(Object.entries({ gold: GOLD, ...ROWS }))('%s: mean and each diagram within bounds', (_, row) => {
    const outputs = golds.map(({ task, gold }) => ({ task, actions: row.damage(gold, task) }));
    const short = outputs.filter(({ actions }) => actions.length <= MAX_ACTIONS.article);
    for (const preset of ['article', 'stronger'] as const) {
      if (short.length > 0)
        expectWithin(mean(short.map(({ task, actions }) => reward(task, actions, preset))), row[preset]);
    }
    expectWithin(mean(outputs.map(({ task, actions }) => reward(task, actions, 'graded'))), row.graded);
    for (const { task, actions } of outputs.filter(({ task }) => row.where?.(task) ?? true)) {
      expectWithin(reward(task, actions, 'graded'), row.each);
    }
  });

  test('an empty list earns nothing, nor does a canvas that was emptied again', () => {
    for (const { task } of golds.slice(0, 5)) {
      expect(reward(task, [], 'graded')).toBe(0);
      const undone: Action[] = [
        { type: 'create_shape', id: 'a', shape: 'rectangle', x: 0, y: 0, w: 200, h: 100, text: 'A' },
        { type: 'delete_shape', id: 'a' },
      ];
      expect(scoreCompletion(task, { actions: undone }, 'graded', { action_set: 'editor' }).result.reward).toBe(0);
    }
  });

  test.each(Object.entries(damage.DAMAGES))('gold beats %s on every diagram that it changes', (_, spoil) => {
    const spoilt = golds.map(({ task, gold, best }) => ({ task, gold, best, actions: spoil(gold, task) }));
    const changed = spoilt.filter(
      ({ task, gold, actions }) => describeDrawing(task, gold) !== describeDrawing(task, actions),
    );
    expect(changed.length).toBeGreaterThan(25);
    for (const { task, best, actions } of changed) {
      expect(reward(task, actions, 'graded'), task.id).toBeLessThan(best - 0.005);
    }
  });
});

/** What a drawing says, so that a damage without effect is told from one that changes something. */
function describeDrawing({ expect: { edges } }: RealTask, actions: readonly Action[]): string {
  const undirected = edges.every(({ directed }) => directed === false);
  const arrows = damage.arrowsOf(actions).map(({ from, to, text = '' }) => {
    const ends = undirected && from > to ? [to, from] : [from, to];
    return JSON.stringify([...ends, text]);
  });
  return JSON.stringify([damage.shapesOf(actions), arrows.sort()]);
}
