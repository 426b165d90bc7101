/** Which boxes a task asks to draw as a diamond or an ellipse (level 3 and up), by family. */
import type { Rng } from '../../schemas/seed.ts';
import type { Family } from '../../schemas/task.ts';
import type { Structure } from './families.ts';

export type AskedShape = 'diamond' | 'ellipse' | undefined;

/** Chance that start, end or store boxes are asked for as ellipses. */
const ELLIPSE_SHARE = 0.5;

const isEnd = ({ links }: Structure, node: number): boolean => links.every(({ from }) => from !== node);

const RULES: Partial<Record<Family, (structure: Structure, node: number, ellipses: boolean) => AskedShape>> = {
  architecture: ({ parts }, node, ellipses) => (ellipses && parts[node] === 'store' ? 'ellipse' : undefined),
  flowchart: (structure, node, ellipses) => {
    if (structure.parts[node] === 'decision') return 'diamond';
    return ellipses && (node === 0 || isEnd(structure, node)) ? 'ellipse' : undefined;
  },
  state_machine: ({ parts }, node, ellipses) =>
    ellipses && (node === 0 || node === parts.length - 1) ? 'ellipse' : undefined,
};

/** One entry for each node, in reading order. */
export function drawShapes(rng: Rng, family: Family, structure: Structure): AskedShape[] {
  const ellipses = rng.next() < ELLIPSE_SHARE;
  return structure.parts.map((_, node) => RULES[family]?.(structure, node, ellipses));
}
