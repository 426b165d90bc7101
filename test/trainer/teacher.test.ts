import { describe, expect, test } from 'vitest';
import { createRng } from '../../schemas/seed.ts';
import { CoreAction } from '../../schemas/action.ts';
import type { Task } from '../../schemas/task.ts';
import { sampleTask } from '../../server/tasks/suite.ts';
import type { Graph } from '../../trainer/teacher/graph.ts';
import { readPrompt } from '../../trainer/teacher/read-prompt.ts';
import { createScriptedTeacher } from '../../trainer/teacher/scripted.ts';

/** The expected answer in the teacher's terms. */
function toGraph({ expect: { nodes, edges } }: Task): Graph {
  const position = (id: string) => nodes.findIndex((node) => node.id === id);
  return {
    nodes: nodes.map(({ label, shape }) => ({
      label,
      shape: shape === 'ellipse' || shape === 'diamond' ? shape : 'rectangle',
    })),
    edges: edges.map((edge) => ({ from: position(edge.from), to: position(edge.to), label: edge.label ?? '' })),
  };
}

describe('reading prompts', () => {
  test.each([1] as const)('500 train tasks of level %i give back their exact graph', (level) => {
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
    const teacher = createScriptedTeacher(createRng(6n));
    for (let i = 0; i < 200; i++) {
      const task = sampleTask({ seed: `format-${i}`, level: 1 });
      for (const text of teacher.propose({ prompt: task.prompt, canvas_size: task.canvas }, 4)) {
        const { actions } = JSON.parse(text) as { actions: Record<string, unknown>[] };
        expect(JSON.stringify({ actions })).toBe(text);
        for (const action of actions) {
          expect(CoreAction.safeParse(action).success).toBe(true);
          if (action['type'] !== 'create_shape') continue;
          expect(Object.keys(action)).toEqual(['type', 'id', 'shape', 'x', 'y', 'w', 'h', 'text']);
          expect(action['id']).toBe(action['text']);
          expect([Number(action['x']) % 20, Number(action['y']) % 20]).toEqual([0, 0]);
          expect([40, 160, 200]).toContain(action['w']);
        }
      }
    }
  });
});
