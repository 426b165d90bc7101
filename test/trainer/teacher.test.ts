import { describe, expect, test } from 'vitest';
import { createRng } from '../../schemas/seed.ts';
import { CreateShape, type Action } from '../../schemas/action.ts';
import type { Task } from '../../schemas/task.ts';
import { scoreCompletion } from '../../server/reward/score.ts';
import { sampleTask } from '../../server/tasks/suite.ts';
import type { Graph } from '../../trainer/teacher/graph.ts';
import { readPrompt } from '../../trainer/teacher/read-prompt.ts';
import { createScriptedTeacher } from '../../trainer/teacher/scripted.ts';

/** The expected answer in the teacher's terms. */
function toGraph({ expect: { nodes, edges }, direction }: Task): Graph {
  const position = (id: string) => nodes.findIndex((node) => node.id === id);
  return {
    nodes: nodes.map(({ label, shape }) => ({
      label,
      shape: shape === 'ellipse' || shape === 'diamond' ? shape : 'rectangle',
    })),
    edges: edges.map((edge) => ({ from: position(edge.from), to: position(edge.to), label: edge.label ?? '' })),
    ...(direction ? { direction } : {}),
  };
}

describe('reading prompts', () => {
  test.each([1, 2, 3, 4] as const)('500 train tasks of level %i give back their exact graph', (level) => {
    for (let i = 0; i < 500; i++) {
      const task = sampleTask({ seed: `read-${i}`, level });
      expect(readPrompt(task.prompt), task.prompt).toEqual(toGraph(task));
    }
  });

  test.each([
    ['an unknown wording', 'Please paint me a cat'],
    ['a connection to a box that is not listed', 'Draw a pipeline with boxes: A, B. Arrows: A to C.'],
    ['boxes without connections', 'Draw a pipeline with boxes: A, B.'],
  ])('%s is not guessed at', (_name, prompt) => {
    expect(readPrompt(prompt)).toBeUndefined();
  });
});

describe('proposals', () => {
  const sizes = { prompt: sampleTask({ seed: '1', level: 1 }).prompt, canvas_size: { w: 1200, h: 800 } };

  test('equal streams propose equal completions', () => {
    const [a, b] = [1, 2].map(() => createScriptedTeacher(createRng(5n)).propose(sizes, 8));
    expect(a).toEqual(b);
  });

  test('a prompt it cannot read gets none', () => {
    expect(createScriptedTeacher(createRng(5n)).propose({ ...sizes, prompt: 'Paint a cat' }, 8)).toEqual([]);
  });

  test('the format is the one a tiny model can learn', () => {
    const teacher = createScriptedTeacher(createRng(6n), { flaw_rate: 0 });
    const coordinates = new Set<number>();
    for (let i = 0; i < 200; i++) {
      const task = sampleTask({ seed: `format-${i}`, level: 1 });
      const labels = task.expect.nodes.map((node) => node.label);
      for (const text of teacher.propose({ prompt: task.prompt, canvas_size: task.canvas }, 4)) {
        const { actions } = JSON.parse(text) as { actions: Action[] };
        expect(JSON.stringify({ actions })).toBe(text);
        const boxes = actions.slice(0, labels.length).map((action) => CreateShape.parse(action));
        expect(boxes.map((box) => [Object.keys(box).join(), box.id, box.text, box.h])).toEqual(
          labels.map((label) => ['type,id,shape,x,y,w,h,text', label, label, 80]),
        );
        for (const { x, y, w } of boxes) {
          coordinates.add(x).add(y);
          expect([160, 200]).toContain(w);
        }
        expect(actions.slice(labels.length)).toEqual(
          toGraph(task).edges.map(({ from, to }) => ({ type: 'connect', from: labels[from], to: labels[to] })),
        );
      }
    }
    expect([...coordinates].filter((value) => value % 20 !== 0 || value < 40)).toEqual([]);
    expect(coordinates.size).toBeLessThanOrEqual(16);
  });

  test.each([
    [1, 0.95],
    [2, 0.95],
    [3, 0.93],
    [4, 0.93],
  ] as const)('level %i: the best of four scores >= %f on average, one alone 0.8 to 0.92', (level, least) => {
    const teacher = createScriptedTeacher(createRng(9n));
    const rewards = Array.from({ length: 200 }, (_, i) => {
      const task = sampleTask({ seed: `score-${i}`, split: 'test_iid', level });
      const completions = teacher.propose({ prompt: task.prompt, canvas_size: task.canvas }, 4);
      return completions.map((text) => scoreCompletion(task, text, 'graded').result.reward);
    });
    const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
    const answered = rewards.filter((group) => group.length === 4);
    expect(answered.length).toBeGreaterThanOrEqual(level <= 3 ? 200 : 190);
    expect(mean(answered.map((group) => Math.max(...group)))).toBeGreaterThanOrEqual(least);
    expect(mean(rewards.flat())).toBeGreaterThan(0.8);
    expect(mean(rewards.flat())).toBeLessThan(0.92);
  });
});
