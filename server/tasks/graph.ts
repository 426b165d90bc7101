/** A graph with labels, shapes and direction, ready to be put into words and into an expectation. */
import type { Direction, Expectation, Family, Level } from '../../schemas/task.ts';
import type { Rng } from '../../schemas/seed.ts';
import type { Link, Structure } from './families.ts';
import type { AskedShape } from './shapes.ts';

export interface TaskNode {
  label: string;
  shape: AskedShape;
}

export interface TaskGraph {
  family: Family;
  level: Level;
  /** In the order the prompt lists them. */
  nodes: TaskNode[];
  links: Link[];
  directed: boolean;
  direction: Direction | undefined;
}

/** The structure with its nodes and links in random order: what is read first says nothing about the layout. */
export function shuffleStructure(structure: Structure, rng: Rng): Structure & { order: number[] } {
  const order = rng.shuffle(structure.parts.map((_, i) => i));
  const moved = (node: number): number => order.indexOf(node);
  const links = rng.shuffle(structure.links.map((link) => ({ ...link, from: moved(link.from), to: moved(link.to) })));
  return { ...structure, parts: order.map((node) => structure.parts[node]!), links, order };
}

export function toExpectation({ nodes, links, directed }: TaskGraph): Expectation {
  const id = (position: number): string => `n${position + 1}`;
  return {
    nodes: nodes.map(({ label, shape }, i) => ({ id: id(i), label, ...(shape ? { shape } : {}) })),
    edges: links.map(({ from, to, label }) => ({
      from: id(from),
      to: id(to),
      ...(label === undefined ? {} : { label }),
      ...(directed ? {} : { directed: false }),
    })),
  };
}
