/** The structures of the ten families: which nodes and edges a graph of a given size has, before anything is labelled. */
import type { Rng } from '../../schemas/seed.ts';
import type { Family, Level } from '../../schemas/task.ts';
import type { Part } from './labels.ts';

export interface Link {
  from: number;
  to: number;
}

export interface Structure {
  /** The part each node plays, in the order the prompt lists them. */
  parts: Part[];
  links: Link[];
  directed: boolean;
}

/** How many nodes a level asks for. */
export const NODE_RANGE: Readonly<Record<Level, readonly [number, number]>> = {
  1: [3, 4],
  2: [5, 6],
  3: [7, 9],
  4: [10, 12],
  5: [13, 20],
};

const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const chainOf = (nodes: readonly number[]): Link[] => nodes.slice(1).map((to, i) => ({ from: nodes[i]!, to }));
const same = (parts: Part, n: number): Part[] => range(n).map(() => parts);

/** `n` split into `k` sizes of at least 1, at random. */
function splitSizes(rng: Rng, n: number, k: number): number[] {
  const sizes = range(k).map(() => 1);
  for (let left = n - k; left > 0; left--) sizes[rng.int(0, k - 1)]! += 1;
  return sizes;
}

/** Node numbers of each layer, counted through. */
function layersOf(sizes: readonly number[]): number[][] {
  let next = 0;
  return sizes.map((size) => range(size).map(() => next++));
}

/** Every node but those of the first layer has a parent one layer above; every node but those of the last has a child. */
function layeredLinks(rng: Rng, layers: readonly number[][]): Link[] {
  const links: Link[] = [];
  for (const [i, layer] of layers.slice(1).entries()) {
    const above = layers[i]!;
    const parents = layer.map((_, j) => (layer.length >= above.length ? above[j % above.length]! : above[j]!));
    layer.forEach((to, j) => links.push({ from: parents[j]!, to }));
    for (const from of above) if (!parents.includes(from)) links.push({ from, to: rng.pick(layer) });
  }
  return links.sort((a, b) => a.from - b.from || a.to - b.to);
}

function architecture(rng: Rng, n: number): Structure {
  const kinds = rng.pick<Part[]>(
    n === 3
      ? [
          ['client', 'service', 'store'],
          ['client', 'edge', 'service'],
          ['client', 'service'],
        ]
      : [
          ['client', 'edge', 'service', 'store'],
          ['client', 'service', 'store'],
          ['client', 'edge', 'service'],
        ],
  );
  const sizes = splitSizes(rng, n, kinds.length);
  return {
    parts: sizes.flatMap((size, i) => same(kinds[i]!, size)),
    links: layeredLinks(rng, layersOf(sizes)),
    directed: true,
  };
}

/** A chain of steps that may split once; the exits go on side by side. */
function flowchart(rng: Rng, n: number): Structure {
  const split = rng.next() < 0.5 ? rng.int(0, n - 3) : undefined;
  const links = range(n - 1).map((i) => ({ from: split !== undefined && i > split ? i - 1 : i, to: i + 1 }));
  return { parts: same('step', n), links, directed: true };
}

/** A chain, one stage of which may be two steps side by side. */
function pipeline(rng: Rng, n: number): Structure {
  const stages = n >= 4 && rng.next() < 0.5 ? n - 1 : n;
  const sizes = range(stages).map(() => 1);
  if (stages < n) sizes[rng.int(1, stages - 2)] = 2;
  const layers = layersOf(sizes);
  const links = layers.slice(1).flatMap((layer, i) => layers[i]!.flatMap((from) => layer.map((to) => ({ from, to }))));
  return { parts: same('step', n), links, directed: true };
}

/** Nodes in breadth-first order; each takes the next one to four as its reports. */
function orgTree(rng: Rng, n: number): Structure {
  const links: Link[] = [];
  for (let parent = 0, next = 1; next < n; parent++) {
    const children = Math.min(n - next, rng.int(2, 3));
    for (let i = 0; i < children; i++) links.push({ from: parent, to: next++ });
  }
  return { parts: same('role', n), links, directed: true };
}

/** A path of states with one way back. */
function stateMachine(rng: Rng, n: number): Structure {
  const back = { from: n - 1, to: rng.int(0, n - 2) };
  return { parts: same('state', n), links: [...chainOf(range(n)), back], directed: true };
}

function er(rng: Rng, n: number): Structure {
  const links = range(n - 1).map((i) => ({ from: rng.int(Math.max(0, i - 1), i), to: i + 1 }));
  return { parts: same('entity', n), links, directed: false };
}

const NETWORK_SHAPES: Record<string, (n: number) => Link[]> = {
  star: (n) => range(n - 1).map((i) => ({ from: 0, to: i + 1 })),
  line: (n) => chainOf(range(n)),
  ring: (n) => [...chainOf(range(n)), { from: n - 1, to: 0 }],
};

function network(rng: Rng, n: number): Structure {
  const links = rng.pick(Object.values(NETWORK_SHAPES))(n);
  return { parts: same('device', n), links, directed: false };
}

function cycle(_rng: Rng, n: number): Structure {
  return { parts: same('step', n), links: [...chainOf(range(n)), { from: n - 1, to: 0 }], directed: true };
}

function timeline(_rng: Rng, n: number): Structure {
  return { parts: same('step', n), links: chainOf(range(n)), directed: true };
}

/** Columns: a header with an arrow to each of its items. */
function comparison(rng: Rng, n: number): Structure {
  const columns = n < 6 ? 2 : rng.int(2, 3);
  const headers = range(columns);
  const links = range(n - columns).map((i) => ({ from: i % columns, to: columns + i }));
  const parts: Part[] = [...headers.map((): Part => 'service'), ...same('entity', n - columns)];
  return { parts, links, directed: true };
}

const STRUCTURES: Record<Family, (rng: Rng, n: number) => Structure> = {
  architecture,
  flowchart,
  pipeline,
  org_tree: orgTree,
  state_machine: stateMachine,
  er,
  network,
  cycle,
  timeline,
  comparison,
};

export function drawStructure(rng: Rng, family: Family, level: Level): Structure {
  const [low, high] = NODE_RANGE[level];
  return STRUCTURES[family](rng, family === 'comparison' ? Math.max(4, rng.int(low, high)) : rng.int(low, high));
}
