import { describe, expect, test } from 'vitest';
import { LEVELS, SPLITS, type Task } from '../../schemas/task.ts';
import { generateTask } from '../../server/tasks/generate.ts';
import { SEEN as SEEN_WORDS, UNSEEN, wordsOf } from '../../server/tasks/lexicon.ts';
import { HELD_OUT, SEEN } from '../../server/tasks/prompts/wordings.ts';
import { familiesOf, levelsOf, sizeOf, type GeneratedSplit } from '../../server/tasks/splits.ts';
import { getTask, listTasks, taskAt } from '../../server/tasks/suite.ts';
import { toLabelledGraph, wlHash } from '../../server/tasks/wl-hash.ts';

const GENERATED = SPLITS.filter((split): split is GeneratedSplit => split !== 'test_real');
const graphHash = (task: Task): number => wlHash(toLabelledGraph(task.expect));

/** Training tasks looked at; of every other split all tasks are. */
const TRAIN_TASKS = 4000;

/** `count` tasks of a split at one level, family by family in turn. */
function tasksOf(split: GeneratedSplit, count: number, level = levelsOf(split)[0]!): Task[] {
  const families = familiesOf(split);
  return Array.from({ length: count }, (_, i) =>
    taskAt({ split, family: families[i % families.length]!, level, index: Math.floor(i / families.length) }),
  );
}

/** Training tasks at the lowest level, where graphs are smallest and collide most; every task of the other splits. */
function everyTask(split: GeneratedSplit): Task[] {
  if (split === 'train') return tasksOf(split, TRAIN_TASKS);
  return levelsOf(split).flatMap((level) => tasksOf(split, familiesOf(split).length * sizeOf(split), level));
}

describe('one graph, one split', () => {
  test('12,000 graphs: no two splits share one, and no fixed split repeats one', () => {
    const owners = new Map<number, Task>();
    const clashes: string[] = [];
    let made = 0;
    for (const split of GENERATED) {
      for (const task of everyTask(split)) {
        const hash = graphHash(task);
        const owner = owners.get(hash);
        const mayRepeat = owner === undefined || (split === 'train' && owner.split === 'train');
        if (!mayRepeat) clashes.push(`${owner.task_id} ${task.task_id}`);
        owners.set(hash, task);
        made += 1;
      }
    }
    expect(clashes).toEqual([]);
    expect(made).toBeGreaterThanOrEqual(12_000);
    for (const { task_id } of listTasks({ split: 'test_real', limit: 44, offset: 0 }).tasks) {
      expect(owners.has(graphHash(getTask(task_id)!)), task_id).toBe(false);
    }
  });
});

describe('what is held out', () => {
  test.each(GENERATED)('%s holds its own families and levels alone', (split) => {
    const isHeldOutFamily = split === 'test_family';
    expect(familiesOf(split).some((family) => family === 'timeline' || family === 'comparison')).toBe(isHeldOutFamily);
    expect(familiesOf(split)).toHaveLength(isHeldOutFamily ? 2 : 8);
    expect(levelsOf(split)).toEqual(split === 'test_level' ? [5] : [1, 2, 3, 4]);
  });

  test('no word of test_vocab is in another vocabulary, and none of its labels is given elsewhere', () => {
    const seenWords = new Set(wordsOf(SEEN_WORDS).map((word) => word.toLowerCase()));
    expect(wordsOf(UNSEEN).filter((word) => seenWords.has(word.toLowerCase()))).toEqual([]);
    expect(UNSEEN.scripts.flat().filter((label) => SEEN_WORDS.scripts.flat().includes(label))).toEqual([]);
    const labels = new Set(tasksOf('train', 2000).flatMap((task) => task.expect.nodes.map((node) => node.label)));
    for (const task of tasksOf('test_vocab', 400)) {
      for (const { label } of task.expect.nodes) expect(labels.has(label), label).toBe(false);
    }
  });

  test('no pattern of test_template words another split', () => {
    const patterns = ({ lists, prose }: typeof SEEN): string[] => [
      ...lists.map((list) => list.text),
      ...prose.intros,
      ...prose.boxes,
      ...Object.values(prose.directions),
      ...Object.values(prose.phrases).flatMap(({ active, passive }) => [...active, ...passive]),
      ...[prose.one_shape, prose.many_shapes, prose.labelled, prose.duplicate],
      ...prose.distractors,
    ];
    const seen = new Set(patterns(SEEN));
    expect(patterns(HELD_OUT).filter((pattern) => seen.has(pattern))).toEqual([]);
  });

  test('prompts of test_template differ from those of train in more than the names', () => {
    const frame = ({ prompt, expect: { nodes } }: Task): string =>
      nodes.reduce((text, { label }) => text.replaceAll(label, '#'), prompt).split(/[#,;:.]/)[0]!;
    const frames = new Set(tasksOf('train', 400).map(frame));
    expect(tasksOf('test_template', 400).filter((task) => frames.has(frame(task)))).toEqual([]);
  });
});

describe('every task', () => {
  const cells = GENERATED.flatMap((split) =>
    familiesOf(split).flatMap((family) => levelsOf(split).map((level) => ({ split, family, level }))),
  );

  test('is the same whenever it is made', () => {
    for (const cell of cells) expect(generateTask(cell, 7)).toEqual(generateTask(cell, 7));
  });

  test('names every label and every edge label in its prompt', () => {
    for (const cell of cells) {
      for (const index of [0, 20, 49]) {
        const { prompt, expect: answer, task_id } = taskAt({ ...cell, index });
        for (const { label } of answer.nodes) expect(prompt, task_id).toContain(label);
        for (const { label } of answer.edges) if (label !== undefined) expect(prompt, task_id).toContain(label);
      }
    }
  });

  test('is a simple graph without self-loops whose edges meet its nodes', () => {
    for (const cell of cells) {
      const { expect: answer, task_id } = taskAt({ ...cell, index: 11 });
      const ids = new Set(answer.nodes.map((node) => node.id));
      const pairs = answer.edges.map(({ from, to, directed = true }) => {
        expect([from === to, ids.has(from), ids.has(to)], task_id).toEqual([false, true, true]);
        return directed ? `${from}>${to}` : [from, to].sort().join('-');
      });
      expect(new Set(pairs).size, task_id).toBe(pairs.length);
    }
  });

  test.each(LEVELS)('of level %i has the size, the canvas and the features of the level', (level) => {
    const split = level === 5 ? 'test_level' : 'train';
    const tasks = familiesOf(split).flatMap((family) =>
      Array.from({ length: 24 }, (_, index) => taskAt({ split, family, level, index })),
    );
    const counts = tasks.map((task) => task.expect.nodes.length);
    const range = { 1: [3, 4], 2: [5, 6], 3: [7, 9], 4: [10, 12], 5: [13, 20] }[level];
    expect([Math.min(...counts), Math.max(...counts)]).toEqual(range);
    const share = (has: (task: Task) => boolean): number => tasks.filter(has).length / tasks.length;
    const hasRepeat = ({ expect: { nodes } }: Task) => new Set(nodes.map((node) => node.label)).size < nodes.length;
    expect(share((task) => task.canvas.w === 1200 && task.canvas.h === 800) === 1).toBe(level <= 2);
    expect(share((task) => task.direction !== undefined) > 0).toBe(level >= 3);
    expect(share((task) => task.expect.nodes.some((node) => node.shape !== undefined)) > 0).toBe(level >= 3);
    expect(share((task) => task.expect.edges.some((edge) => edge.label !== undefined))).toBeGreaterThanOrEqual(
      level >= 2 ? 0.9 : 0,
    );
    expect(share(hasRepeat) > 0).toBe(level >= 4);
    expect(share((task) => /[^\x20-\x7e]/.test(task.prompt)) > 0).toBe(level >= 4);
    expect(share((task) => (task.allowed_extras ?? []).length > 0) > 0).toBe(level === 5);
  });

  test('at level 1 has about 85 % labels of one word, from a vocabulary a tiny model can hold', () => {
    const labels = tasksOf('train', 4000).flatMap((task) => task.expect.nodes.map((node) => node.label));
    const share = labels.filter((label) => !label.includes(' ')).length / labels.length;
    expect(share).toBeGreaterThan(0.8);
    expect(share).toBeLessThan(0.9);
    expect(new Set(labels.flatMap((label) => label.split(' '))).size).toBeLessThan(350);
  });
});
