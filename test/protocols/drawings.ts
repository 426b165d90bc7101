/** A task, and answers to it, that the tests of several protocols share. */
import type { Action } from '../../schemas/action.ts';
import { solve } from '../../server/tasks/solver.ts';
import { getTask } from '../../server/tasks/suite.ts';

export const TASK_ID = 'train.pipeline.1.3';
const task = getTask(TASK_ID)!;

export const PROMPT = task.prompt;
export const SOLUTION: readonly Action[] = solve(task);
/** A completion that solves the task. */
export const GOOD = JSON.stringify({ actions: SOLUTION });
/** A completion of its first shape only. */
export const POOR = JSON.stringify({ actions: SOLUTION.slice(0, 1) });
export const PROSE = 'I cannot draw.';

/** An action as the call of a tool. */
export function toCall({ type, ...input }: Action): { name: string; input: Record<string, unknown> } {
  return { name: type, input };
}

/** A task that the request brings with it, and an answer that solves it. */
export const INLINE = {
  prompt: 'Draw boxes called Zebra and Lion, and an arrow from the first to the second.',
  expect: {
    nodes: [
      { id: 'z', label: 'Zebra' },
      { id: 'l', label: 'Lion' },
    ],
    edges: [{ from: 'z', to: 'l' }],
  },
};
export const ZEBRA = JSON.stringify({
  actions: [
    { type: 'create_shape', id: 'z', shape: 'rectangle', x: 120, y: 360, w: 160, h: 80, text: 'Zebra' },
    { type: 'create_shape', id: 'l', shape: 'rectangle', x: 500, y: 360, w: 160, h: 80, text: 'Lion' },
    { type: 'connect', from: 'z', to: 'l' },
  ],
});
