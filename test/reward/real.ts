/** The real diagrams of test/data as scored tasks. */
import diagrams from '../data/real_diagrams.json' with { type: 'json' };
import type { Direction, ScoredTask } from '../../schemas/task.ts';
import { DEFAULT_CANVAS_SIZE, type Expectation } from '../../schemas/task.ts';

const DIRECTIONS: Readonly<Record<string, Direction>> = { TD: 'down', LR: 'right' };

export type RealTask = ScoredTask & { readonly id: string; readonly expect: Expectation };

/** Every real diagram, with its own direction, on a canvas of the usual size. */
export const realTasks: readonly RealTask[] = diagrams.map((diagram) => ({
  id: diagram.id,
  prompt: diagram.nodes.map(({ label }) => label).join(', '),
  canvas: DEFAULT_CANVAS_SIZE,
  direction: DIRECTIONS[diagram.direction],
  expect: {
    nodes: diagram.nodes.map(({ id, label, shape }) => ({
      id,
      label,
      ...(shape === 'diamond' || shape === 'ellipse' ? { shape } : {}),
    })),
    edges: diagram.edges.map((edge) => ({
      from: edge.from,
      to: edge.to,
      ...(edge.label === '' ? {} : { label: edge.label }),
      directed: !('undirected' in edge && edge.undirected),
    })),
  },
}));
