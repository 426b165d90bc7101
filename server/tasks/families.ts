/**
 * The structures of the ten families: the nodes and links of a graph before it is labelled, by level. Nodes come in
 * reading order: a link from a later node to an earlier one closes a cycle.
 * Left out: self-loops, which `connect` refuses to draw.
 */
import type { Rng } from '../../schemas/seed.ts';
import type { Family, Level } from '../../schemas/task.ts';
import type { Part } from './labels.ts';

export interface Link {
  from: number;
  to: number;
  label?: string;
}

export interface Structure {
  /** The part each node plays, in reading order. */
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
const times = (part: Part, n: number): Part[] => range(n).map(() => part);
const hasLink = (links: readonly Link[], a: number, b: number): boolean =>
  links.some(({ from, to }) => (from === a && to === b) || (from === b && to === a));

/** `n` split into `k` sizes of 1 to `limit`, at random. */
function splitSizes(rng: Rng, n: number, k: number, limit: number): number[] {
  const sizes = range(k).map(() => 1);
  for (let left = n - k; left > 0; left--) {
    const open = range(k).filter((i) => sizes[i]! < limit);
    sizes[rng.pick(open)]! += 1;
  }
  return sizes;
}

/** Node numbers of each layer, counted through. */
function layersOf(sizes: readonly number[]): number[][] {
  let next = 0;
  return sizes.map((size) => range(size).map(() => next++));
}

/** Every node but those of the first layer has a parent one layer above; every node but those of the last has a child. */
function layeredLinks(layers: readonly number[][]): Link[] {
  const links: Link[] = [];
  for (const [i, layer] of layers.slice(1).entries()) {
    const above = layers[i]!;
    const wider = Math.max(layer.length, above.length);
    const spread = (row: readonly number[], k: number): number => row[Math.floor((k * row.length) / wider)]!;
    for (const k of range(wider)) links.push({ from: spread(above, k), to: spread(layer, k) });
  }
  return links;
}

/** Links between neighbouring members of neighbouring layers that are not there yet, at most `count`. */
function extraLayerLinks(rng: Rng, layers: readonly number[][], links: readonly Link[], count: number): Link[] {
  const candidates = layers
    .slice(1)
    .flatMap((layer, i) =>
      layers[i]!.flatMap((from, a) =>
        layer.flatMap((to, b) => (Math.abs(a - b) <= 1 && !hasLink(links, from, to) ? [{ from, to }] : [])),
      ),
    );
  return rng.shuffle(candidates).slice(0, count);
}

const SMALL_LAYERS: readonly (readonly Part[])[] = [
  ['client', 'edge', 'service', 'store'],
  ['client', 'service', 'store'],
  ['client', 'edge', 'service'],
];

function architecture(rng: Rng, n: number, level: Level): Structure {
  const options = n === 3 ? [...SMALL_LAYERS.slice(1), ['client', 'service'] as const] : SMALL_LAYERS;
  const kinds = level <= 2 ? rng.pick(options) : SMALL_LAYERS[0]!;
  const sizes = splitSizes(rng, n, kinds.length, Math.max(3, Math.ceil(n / 3)));
  const layers = layersOf(sizes);
  const links = layeredLinks(layers);
  const extra = level >= 3 ? extraLayerLinks(rng, layers, links, rng.int(0, 2)) : [];
  return {
    parts: sizes.flatMap((size, i) => times(kinds[i]!, size)),
    links: [...links, ...extra].sort((a, b) => a.from - b.from || a.to - b.to),
    directed: true,
  };
}

/** Three or four steps, a chain or with one split. */
function shortFlow(rng: Rng, n: number): Structure {
  const split = rng.next() < 0.5 ? rng.int(0, n - 3) : undefined;
  const links = range(n - 1).map((i) => ({ from: split !== undefined && i > split ? i - 1 : i, to: i + 1 }));
  return { parts: times('step', n), links, directed: true };
}

/** Steps with decisions; both exits are labelled and meet again, or, from level 4 on, the second leads back to a retry. */
function flowchart(rng: Rng, n: number, level: Level): Structure {
  if (level === 1) return shortFlow(rng, n);
  const decisionPart: Part = level === 2 ? 'step' : 'decision';
  const parts: Part[] = ['step'];
  const links: Link[] = [];
  let open: { from: number; label?: string }[] = [{ from: 0 }];
  const add = (part: Part, ends: readonly { from: number; label?: string }[]): number => {
    const to = parts.push(part) - 1;
    for (const end of ends) links.push({ ...end, to });
    return to;
  };
  let decisions = level === 2 ? 1 : level === 3 ? rng.int(1, 2) : rng.int(2, 3);
  while (parts.length < n) {
    const left = n - parts.length;
    if (decisions === 0 || left < 3 || rng.next() > (3.5 * decisions) / left) {
      open = [{ from: add('step', open) }];
      continue;
    }
    decisions -= 1;
    const decision = add(decisionPart, open);
    const yes = add('step', [{ from: decision, label: 'Yes' }]);
    if (level >= 4 && decision >= 2 && rng.next() < 0.5) {
      links.push({ from: decision, to: decision - 1, label: 'No' });
      open = [{ from: yes }];
    } else {
      open = [{ from: yes }, { from: add('step', [{ from: decision, label: 'No' }]) }];
    }
  }
  return { parts, links, directed: true };
}

/** A chain of stages, some of them two or three steps side by side; from level 4 on the result may be fed back. */
function pipeline(rng: Rng, n: number, level: Level): Structure {
  const wide = level === 1 ? (n >= 4 && rng.next() < 0.5 ? 1 : 0) : level === 2 ? 1 : rng.int(1, 2);
  const width = level <= 2 ? 2 : rng.int(2, 3);
  const stages = n - wide * (width - 1);
  const sizes = range(stages).map(() => 1);
  const first = rng.int(1, stages - 2 * wide);
  for (const i of range(wide)) sizes[first + 2 * i] = width;
  const layers = layersOf(sizes);
  const links = layers.slice(1).flatMap((layer, i) => layers[i]!.flatMap((from) => layer.map((to) => ({ from, to }))));
  if (level >= 4 && rng.next() < 0.5) links.push({ from: n - 1, to: 0 });
  return { parts: times('step', n), links, directed: true };
}

/** Nodes in breadth-first order; each takes the next two to four as its reports. */
function orgTree(rng: Rng, n: number, level: Level): Structure {
  const links: Link[] = [];
  for (let parent = 0, next = 1; next < n; parent++) {
    const children = Math.min(n - next, rng.int(2, level <= 2 ? 3 : 4));
    for (let i = 0; i < children; i++) links.push({ from: parent, to: next++ });
  }
  return { parts: times('role', n), links, directed: true };
}

/** A path of states and ways back over at most three states, which at two neighbours make a two-way pair. */
function stateMachine(rng: Rng, n: number, level: Level): Structure {
  const links = chainOf(range(n));
  const backs = level === 1 ? 1 : level === 2 ? rng.int(1, 2) : rng.int(2, 3);
  const ends = new Set([n - 1, ...rng.shuffle(range(n - 1).slice(1)).slice(0, backs - 1)]);
  for (const from of [...ends].sort((a, b) => a - b))
    links.push({ from, to: rng.int(Math.max(0, from - 3), from - 1) });
  return { parts: times('state', n), links, directed: true };
}

/** A tree of entities, from level 3 on with one or two relations more. */
function er(rng: Rng, n: number, level: Level): Structure {
  const links: Link[] = range(n - 1).map((i) => ({ from: rng.int(Math.max(0, i - 2), i), to: i + 1 }));
  if (level >= 3) {
    const candidates = range(n - 2).map((i) => ({ from: i, to: i + 2 }));
    const free = candidates.filter(({ from, to }) => !hasLink(links, from, to));
    links.push(...rng.shuffle(free).slice(0, rng.int(1, 2)));
  }
  return { parts: times('entity', n), links, directed: false };
}

const star = (hub: number, leaves: readonly number[]): Link[] => leaves.map((to) => ({ from: hub, to }));

/** Two linked hubs that share the other nodes between them. */
function twoHubs(n: number): Link[] {
  const leaves = range(n).slice(2);
  const half = Math.ceil(leaves.length / 2);
  return [{ from: 0, to: 1 }, ...star(0, leaves.slice(0, half)), ...star(1, leaves.slice(half))];
}

/** Four nodes all linked to each other, each of which carries its share of the rest. */
function mesh(n: number): Link[] {
  const core = range(4).flatMap((a) => range(a).map((b) => ({ from: b, to: a })));
  return [
    ...core,
    ...range(n)
      .slice(4)
      .map((to) => ({ from: to % 4, to })),
  ];
}

function network(rng: Rng, n: number, level: Level): Structure {
  const simple: ((size: number) => Link[])[] = [
    (size) => star(0, range(size).slice(1)),
    (size) => chainOf(range(size)),
    (size) => [...chainOf(range(size)), { from: size - 1, to: 0 }],
  ];
  const links = rng.pick(level <= 2 ? simple : [...simple, twoHubs, mesh])(n);
  return { parts: times('device', n), links, directed: false };
}

/** One ring; from level 2 on, spurs lead away from it. */
function cycle(rng: Rng, n: number, level: Level): Structure {
  const spurs = level === 1 ? 0 : level === 2 ? rng.int(0, 1) : rng.int(1, 3);
  const ring = n - spurs;
  const links: Link[] = [...chainOf(range(ring)), { from: ring - 1, to: 0 }];
  const bases = rng.shuffle(range(ring)).slice(0, spurs);
  bases.forEach((from, i) => links.push({ from, to: ring + i }));
  return { parts: times('step', n), links, directed: true };
}

function timeline(_rng: Rng, n: number): Structure {
  return { parts: times('step', n), links: chainOf(range(n)), directed: true };
}

/** Columns: a header with an arrow to each of its items. */
function comparison(rng: Rng, n: number): Structure {
  const columns = n < 6 ? 2 : rng.int(2, 3);
  const links = range(n - columns).map((i) => ({ from: i % columns, to: columns + i }));
  return { parts: [...times('service', columns), ...times('entity', n - columns)], links, directed: true };
}

const STRUCTURES: Record<Family, (rng: Rng, n: number, level: Level) => Structure> = {
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

/** What a link of a family may be labelled; the exits of a decision bring their own labels. */
const LINK_WORDS: Readonly<Record<Family, readonly string[]>> = {
  architecture: ['reads', 'writes', 'calls', 'notifies'],
  flowchart: [],
  pipeline: ['raw', 'clean', 'daily', 'errors'],
  org_tree: ['hires', 'trains', 'leads', 'advises'],
  state_machine: ['start', 'stop', 'retry', 'timeout', 'cancel', 'resume'],
  er: ['has', 'owns', 'uses', 'contains'],
  network: ['fiber', 'wifi', 'copper', 'radio'],
  cycle: ['weekly', 'next', 'again', 'done'],
  timeline: ['daily', 'weekly', 'next', 'done'],
  comparison: ['has', 'uses', 'owns', 'contains'],
};
const LABELLED_SHARE = 0.4;

/** Labels some links, at least one. */
function labelLinks(rng: Rng, family: Family, links: readonly Link[]): Link[] {
  const words = LINK_WORDS[family];
  if (words.length === 0) return [...links];
  const certain = rng.int(0, links.length - 1);
  return links.map((link, i) =>
    i === certain || rng.next() < LABELLED_SHARE ? { ...link, label: rng.pick(words) } : link,
  );
}

export function drawStructure(rng: Rng, family: Family, level: Level): Structure {
  const [low, high] = NODE_RANGE[level];
  const n = family === 'comparison' ? Math.max(4, rng.int(low, high)) : rng.int(low, high);
  const structure = STRUCTURES[family](rng, n, level);
  return level === 1 ? structure : { ...structure, links: labelLinks(rng, family, structure.links) };
}
