/**
 * Held-out measures on real diagrams and suite tasks: 1 for what is right however it is written, low for damage and hacks,
 * and the graph-edit similarity against the exact distance by trying every assignment.
 */
import { describe, expect, test } from 'vitest';
import type { Action } from '../../schemas/action.ts';
import { EMPTY_CANVAS } from '../../schemas/canvas.ts';
import { HELD_OUT_MEASURES, PRESETS, type HeldOut, type Preset } from '../../schemas/reward.ts';
import { createRng, hash64, type Rng } from '../../schemas/seed.ts';
import type { ScoredTask } from '../../schemas/task.ts';
import { similarity, toLabel } from '../../server/reward/graded/similarity.ts';
import { measureHeldOut } from '../../server/reward/held-out.ts';
import { renamingOf, toFreshWord } from '../../server/reward/held-out/rename.ts';
import { draw, scoreDrawing } from '../../server/reward/score.ts';
import { solve } from '../../server/tasks/solver.ts';
import { sampleTask } from '../../server/tasks/suite.ts';
import { arrowsOf, DAMAGES, shapesOf } from './damage.ts';
import { ALPHA, arrow, ARROW, BETA, box, nodes, PAIR, taskOf } from './drawing.ts';
import { realTasks } from './real.ts';

const sampled = Array.from({ length: 80 }, (_, i) => sampleTask({ seed: `held-out-${i}` }));
const golds = [...realTasks, ...sampled].map((task) => ({
  ...{ task, gold: solve(task), name: 'task_id' in task ? task.task_id : task.id },
}));

const drawn = (actions: readonly unknown[], preset: Preset = 'graded') =>
  draw({ actions }, { canvas: EMPTY_CANVAS, selected: [] }, { preset, action_set: 'core' });
const measure = (task: ScoredTask, actions: readonly unknown[], preset: Preset = 'graded'): HeldOut =>
  measureHeldOut(task, drawn(actions, preset), preset)!;
const rewardOf = (task: ScoredTask, actions: readonly unknown[], preset: Preset = 'graded'): number =>
  scoreDrawing(task, drawn(actions, preset), preset).reward;

describe('what is right', () => {
  test('both graph measures of every gold drawing are 1', () => {
    for (const { task, gold, name } of golds) {
      const { path_f1, graph_edit_similarity } = measure(task, gold);
      expect([path_f1, graph_edit_similarity], name).toEqual([1, expect.closeTo(1, 9)]);
    }
  });

  test('other ids, another order and another place change nothing', () => {
    for (const { task, gold } of golds) {
      const rng = createRng(hash64('held-out', task.prompt));
      const names = new Map(shapesOf(gold).map(({ id }, i) => [id, `s${(i * 31) % 97}`]));
      const changed: Action[] = [
        ...rng.shuffle(shapesOf(gold).map((shape) => ({ ...shape, id: names.get(shape.id)!, x: shape.x + 1 }))),
        ...rng.shuffle(
          arrowsOf(gold).map((link) => ({ ...link, from: names.get(link.from)!, to: names.get(link.to)! })),
        ),
      ];
      const { path_f1, graph_edit_similarity } = measure(task, changed);
      expect([path_f1, graph_edit_similarity]).toEqual([1, expect.closeTo(1, 9)]);
    }
  });

  test.each(PRESETS)('renaming task and drawing changes no %s reward of a gold drawing', (preset) => {
    for (const { task, gold, name } of golds) {
      const change = measure(task, gold, preset).renamed_reward - rewardOf(task, gold, preset);
      expect(Math.abs(change), name).toBeLessThan(0.02);
    }
  });
});

describe('damage and hacks', () => {
  test('the lower graph measure of each kind of damage is as low as it should be on average', () => {
    const most: Readonly<Record<string, number>> = {
      ...{ thirdMissing: 0.75, noArrows: 0.6, reversedArrows: 0.35, permutedLabels: 0.5, entitiesTwice: 0.01 },
      ...{
        allPairs: 0.2,
        decoys: 0.01,
        onePixel: 0,
        offCanvas: 0,
        stacked: 0.12,
        twoStuffedBoxes: 0.01,
        giantBox: 0.01,
      },
      ...{ judgeInstruction: 0, promptAsLabel: 0, emptyLabels: 0, nothing: 0, oneMissing: 0.9, oneExtra: 0.95 },
    };
    const some = golds.filter((_, i) => i % 3 === 0);
    for (const [name, damage] of Object.entries(DAMAGES)) {
      const measured = some.map(({ task, gold }) => measure(task, damage(gold, task)));
      const lowest = measured.map(({ path_f1, graph_edit_similarity }) => Math.min(path_f1, graph_edit_similarity));
      const mean = lowest.reduce((sum, value) => sum + value, 0) / lowest.length;
      expect(mean, name).toBeLessThanOrEqual(most[name] ?? 1);
      for (const values of measured) {
        for (const key of HELD_OUT_MEASURES) {
          expect(values[key]).toBeGreaterThanOrEqual(0);
          expect(values[key]).toBeLessThanOrEqual(1);
        }
      }
    }
  });

  test('dropping or turning the only arrow of a path lowers the path F1', () => {
    const chain = taskOf({
      nodes: nodes('A', 'B', 'C'),
      edges: [
        { from: 'A', to: 'B' },
        { from: 'B', to: 'C' },
      ],
    });
    const boxes = [box('A', 0, 0), box('B', 200, 0), box('C', 400, 0)];
    const pathF1 = (...arrows: Action[]): number => measure(chain, [...boxes, ...arrows]).path_f1;
    expect(pathF1(arrow('A', 'B'), arrow('B', 'C'))).toBe(1);
    expect(pathF1(arrow('A', 'B'))).toBeCloseTo((2 * 1) / (3 + 1)); // of AB, BC, AC only AB is left
    expect(pathF1(arrow('A', 'B'), arrow('C', 'B'))).toBeCloseTo((2 * 1) / (3 + 2));
    expect(pathF1(arrow('B', 'A'), arrow('C', 'B'))).toBe(0);
    expect(pathF1(arrow('A', 'C'), arrow('C', 'B'))).toBeCloseTo((2 * 2) / (3 + 3)); // AC, CB, AB
  });

  test('lines without direction lead both ways, and a path may lead through a box nobody asked for', () => {
    const line = taskOf({ nodes: nodes('A', 'B'), edges: [{ from: 'A', to: 'B', directed: false }] });
    const boxes = [box('A', 0, 0), box('B', 400, 0)];
    expect(measure(line, [...boxes, arrow('B', 'A')]).path_f1).toBe(1);
    const detour = [...boxes, box('X', 200, 0), arrow('A', 'X'), arrow('X', 'B')];
    expect(measure(line, detour).path_f1).toBe(1);
    expect(measure(line, detour).graph_edit_similarity).toBe(0); // one edge missing, one box and two arrows too many
  });

  test('a label that only resembles the right one earns nothing after renaming', () => {
    const task = taskOf({
      nodes: nodes('Payment', 'Shipping'),
      edges: [{ from: 'Payment', to: 'Shipping' }],
    });
    const misspelt = [box('a', 0, 0, { text: 'Payments' }), box('b', 200, 0, { text: 'Shiping' }), arrow('a', 'b')];
    expect(rewardOf(task, misspelt)).toBeGreaterThan(0.9);
    expect(measure(task, misspelt).renamed_reward).toBeLessThan(0.3);
  });

  test('nothing to compare with is null, an unreadable answer 0', () => {
    expect(measureHeldOut(taskOf(undefined), drawn([ALPHA]), 'graded')).toBeNull();
    expect(measureHeldOut(taskOf({ nodes: [], edges: [] }), drawn([ALPHA]), 'graded')).toBeNull();
    const start = { canvas: EMPTY_CANVAS, selected: [] };
    const unreadable = draw('I cannot draw.', start, { preset: 'graded', action_set: 'core' });
    const nothing = { path_f1: 0, graph_edit_similarity: 0, renamed_reward: 0 };
    expect(measureHeldOut(PAIR, unreadable, 'graded')).toEqual(nothing);
    expect(measure(PAIR, [ALPHA, BETA, ARROW]).path_f1).toBe(1);
  });
});

describe('renaming', () => {
  test('every word of a label becomes another of the same length and case, the same one everywhere', () => {
    for (const { task } of golds) {
      const { task: renamed } = renamingOf(task);
      const texts = task.expect.nodes.map(({ label }) => label);
      const fresh = renamed.expect!.nodes.map(({ label }) => label);
      expect(fresh.map((text) => Array.from(text).length)).toEqual(texts.map((text) => Array.from(text).length));
      expect(new Set(fresh.map((text) => text.toLowerCase())).size).toBe(
        new Set(texts.map((text) => text.toLowerCase())).size,
      );
      expect(renamingOf(task)).toBe(renamingOf(task));
    }
  });

  test.each([
    ['Payment', 1],
    ['在庫確認', 1],
    ['Склад', 1],
    ['주문', 1],
    ['v2', 1],
  ])('%s has nothing in common with its fresh word', (word, way) => {
    const fresh = toFreshWord(word, way);
    expect(fresh).toHaveLength(word.length);
    expect(similarity(toLabel(word), toLabel(fresh))).toBe(0);
    expect(toFreshWord(word.toLowerCase(), way)).toBe(fresh.toLowerCase());
  });
});

/** Exact graph edit distance with the same costs, by trying every assignment of up to four nodes. */
function exactSimilarity(task: ScoredTask, actions: readonly Action[]): number {
  const { nodes: asked, edges } = task.expect!;
  const [shapes, arrows] = [shapesOf(actions), arrowsOf(actions)];
  let least = Infinity;
  const tryFrom = (node: number, shapeOf: readonly number[]): void => {
    if (node < asked.length) {
      tryFrom(node + 1, [...shapeOf, -1]);
      shapes.forEach((_, shape) => {
        if (!shapeOf.includes(shape)) tryFrom(node + 1, [...shapeOf, shape]);
      });
      return;
    }
    least = Math.min(least, costOf(shapeOf));
  };
  const costOf = (shapeOf: readonly number[]): number => {
    let cost = shapes.length - shapeOf.filter((shape) => shape >= 0).length;
    asked.forEach(({ label }, node) => {
      const shape = shapeOf[node]!;
      const sim = shape < 0 ? 0 : similarity(toLabel(label), toLabel(shapes[shape]!.text ?? ''));
      cost += shape < 0 ? 1 : sim === 0 ? Infinity : 1 - sim; // unlike labels never stand for each other
    });
    const idOf = (id: string): string | undefined => shapes[shapeOf[asked.findIndex((node) => node.id === id)]!]?.id;
    const left = [...arrows];
    for (const { from, to } of edges) {
      const place = left.findIndex((link) => link.from === idOf(from) && link.to === idOf(to));
      if (place < 0) cost += 1;
      else left.splice(place, 1);
    }
    return cost + left.length;
  };
  tryFrom(0, []);
  return Math.max(0, 1 - least / (asked.length + edges.length));
}

/** A small task and a drawing of it with random faults: labels changed, boxes and arrows dropped, added and turned. */
function randomCase(rng: Rng): { task: ScoredTask; actions: Action[] } {
  const words = ['Payment', 'Payments', 'Shipping', 'Shopping', 'Order'];
  const names = rng.shuffle(words).slice(0, rng.int(2, 4));
  const pairs = names.flatMap((from) => names.filter((to) => to !== from).map((to) => ({ from, to })));
  const task = taskOf({ nodes: nodes(...names), edges: rng.shuffle(pairs).slice(0, rng.int(1, 4)) });
  const kept = names.filter(() => rng.next() < 0.85);
  const boxes = kept.map((id, i) => box(id, 300 * i, 0, { text: rng.next() < 0.3 ? rng.pick(words) : id }));
  const arrows = pairs.filter(({ from, to }) => {
    const isAsked = task.expect!.edges.some((edge) => edge.from === from && edge.to === to);
    return kept.includes(from) && kept.includes(to) && rng.next() < (isAsked ? 0.8 : 0.15);
  });
  return { task, actions: [...boxes, ...arrows.map(({ from, to }) => arrow(from, to))] };
}

test('graph-edit similarity is never above the exact one, and nearly always equal', () => {
  const rng = createRng(hash64('held-out', 'exact'));
  let equal = 0;
  for (let i = 0; i < 400; i++) {
    const { task, actions } = randomCase(rng);
    const [bound, exact] = [measure(task, actions).graph_edit_similarity, exactSimilarity(task, actions)];
    expect(bound).toBeLessThanOrEqual(exact + 1e-9);
    if (Math.abs(bound - exact) < 1e-9) equal += 1;
  }
  expect.soft(equal / 400).toBeGreaterThan(0.9);
});

test('500 actions are measured in under 50 ms', () => {
  const names = Array.from({ length: 100 }, (_, i) => `Service number ${i}`);
  const edges = names.slice(1).map((to, i) => ({ from: names[i]!, to }));
  const task = taskOf({ nodes: nodes(...names), edges });
  const boxes = names.map((name, i) => box(name, 110 * (i % 10), 70 * Math.floor(i / 10), { w: 90, h: 50 }));
  const arrows = Array.from({ length: 400 }, (_, i) => arrow(names[i % 100]!, names[(i * 7 + 1) % 100]!));
  const drawing = drawn([...boxes, ...arrows]);
  const times = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    measureHeldOut(task, drawing, 'graded');
    return process.cpuUsage(before).user / 1000;
  });
  expect(Math.min(...times)).toBeLessThan(50);
});
