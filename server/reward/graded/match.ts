/**
 * Which shape stands for which expected node: the one-to-one assignment with the largest sum of sim * vis.
 *
 * Where labels repeat, several assignments are equally good; then the one whose arrows agree more with the expected
 * edges is taken, so that a right drawing is never read the wrong way round.
 */
import type { Arrow } from '../../../schemas/canvas.ts';
import type { ExpectedGraph, ExpectedNode } from './expectation.ts';
import { arrowSegment, type Segment, segmentLength } from './geometry.ts';
import { assign, type Candidate } from './hungarian.ts';
import { normalizeLabel, similarity } from './similarity.ts';
import type { SeenShape } from './visibility.ts';

/** A bare text has no box that an arrow could start at. */
const BARE_TEXT = 0.6;
const TIE = 1e-9;
const MOST_PASSES = 4;

export interface Match {
  /** Shape of each expected node, -1 for none. */
  readonly shapeOf: Int32Array;
  /** Expected node of each shape, -1 for none. */
  readonly nodeOf: Int32Array;
  /** sim * vis of each expected node's shape, 0 for none. */
  readonly value: Float64Array;
  /** sim alone. */
  readonly sim: Float64Array;
}

/** An arrow between positions in the list of shapes. */
export interface Link {
  readonly from: number;
  readonly to: number;
  readonly text: string;
  /** What is to be seen of it; undefined where its shapes touch or overlap. */
  readonly segment: Segment | undefined;
  /** Whether a reader can make out that it is an arrow. */
  readonly visible: boolean;
}

/** An arrow shorter than its head tells nobody where it leads. */
const LEAST_ARROW_PX = 8;

/** Arrows with their shapes resolved, in the order drawn. */
export function toLinks(arrows: readonly Arrow[], shapes: readonly SeenShape[]): Link[] {
  const position = new Map(shapes.map(({ id, index }) => [id, index]));
  return arrows.flatMap(({ from, to, text }) => {
    const [a, b] = [position.get(from), position.get(to)];
    if (a === undefined || b === undefined) return [];
    const segment = arrowSegment(shapes[a]!.box, shapes[b]!.box);
    const visible = segment !== undefined && segmentLength(segment) >= LEAST_ARROW_PX;
    return [{ from: a, to: b, text, segment, visible }];
  });
}

/** The best of a label and its aliases. */
export function nodeSimilarity(node: ExpectedNode, shape: SeenShape): number {
  let best = 0;
  for (const label of node.labels) best = Math.max(best, similarity(label, shape.label));
  return best;
}

export function matchShapes(graph: ExpectedGraph, shapes: readonly SeenShape[], links: readonly Link[]): Match {
  const candidates = findCandidates(graph, shapes);
  const shapeOf = assign(graph.nodes.length, candidates);
  const width = shapes.length;
  const pairs = new Map(candidates.map((pair) => [pair.row * width + pair.column, pair]));
  if (candidates.length > graph.nodes.length) {
    const valueOf = (row: number, column: number): number =>
      row < 0 || column < 0 ? 0 : (pairs.get(row * width + column)?.value ?? 0);
    settleTies({ candidates, valueOf, compare: () => agreementWith(graph, shapes, links) }, shapeOf);
  }
  return toMatch(shapeOf, width, pairs);
}

interface Pair extends Candidate {
  readonly sim: number;
}

function findCandidates(graph: ExpectedGraph, shapes: readonly SeenShape[]): Pair[] {
  const candidates: Pair[] = [];
  graph.nodes.forEach((node, row) => {
    for (const shape of shapes) {
      const sim = shape.vis === 0 ? 0 : nodeSimilarity(node, shape);
      if (sim === 0) continue;
      const weight = shape.box.kind === 'text' && !node.bare ? BARE_TEXT : 1;
      candidates.push({ row, column: shape.index, value: sim * shape.vis * weight, sim });
    }
  });
  return candidates;
}

function toMatch(shapeOf: Int32Array, width: number, pairs: ReadonlyMap<number, Pair>): Match {
  const nodeOf = new Int32Array(width).fill(-1);
  const value = new Float64Array(shapeOf.length);
  const sim = new Float64Array(shapeOf.length);
  shapeOf.forEach((column, row) => {
    if (column < 0) return;
    nodeOf[column] = row;
    const pair = pairs.get(row * width + column);
    value[row] = pair?.value ?? 0;
    sim[row] = pair?.sim ?? 0;
  });
  return { shapeOf, nodeOf, value, sim };
}

interface Ties {
  readonly candidates: readonly Pair[];
  /** Value of a pair; 0 for none. */
  readonly valueOf: (row: number, column: number) => number;
  /** Prepares a measure of how well an assignment agrees with the arrows; called only where there is a tie. */
  readonly compare: () => (shapeOf: Int32Array) => number;
}

/**
 * Hill climbing over exchanges that keep the sum of values: a node takes another shape, and the node that had it, if
 * any, takes its old one.
 */
function settleTies({ candidates, valueOf, compare }: Ties, shapeOf: Int32Array): void {
  const isTied = ({ row, column }: Pair): boolean => {
    const [old, other] = [shapeOf[row]!, shapeOf.indexOf(column)];
    const change = valueOf(row, column) - valueOf(row, old) + valueOf(other, old) - valueOf(other, column);
    return old !== column && Math.abs(change) < TIE;
  };
  if (!candidates.some(isTied)) return;
  const agreement = compare();
  let best = agreement(shapeOf);
  for (let pass = 0, improved = true; improved && pass < MOST_PASSES; pass++) {
    improved = false;
    for (const pair of candidates) {
      if (!isTied(pair)) continue;
      const trial = exchange(shapeOf, pair);
      const now = agreement(trial);
      if (now <= best) continue;
      shapeOf.set(trial);
      [best, improved] = [now, true];
    }
  }
}

function exchange(shapeOf: Int32Array, { row, column }: Pair): Int32Array {
  const trial = shapeOf.slice();
  const other = trial.indexOf(column);
  if (other >= 0) trial[other] = trial[row]!;
  trial[row] = column;
  return trial;
}

/**
 * How well an assignment agrees with the arrows: the number of expected edges that have one. Where this cannot tell, the
 * labels of arrows decide, and those of neighbours, as when a node and its neighbour both have a label twice.
 */
function agreementWith(
  graph: ExpectedGraph,
  shapes: readonly SeenShape[],
  links: readonly Link[],
): (shapeOf: Int32Array) => number {
  const width = shapes.length;
  const drawn = new Map<number, Set<string>>();
  for (const { from, to, text } of links) {
    const labels = drawn.get(from * width + to) ?? new Set();
    drawn.set(from * width + to, labels.add(normalizeLabel(text)));
  }
  const wanted = neighbourLabels(graph.nodes.length, graph.edges, (node) => graph.nodes[node]!.labels[0]!.text);
  const found = neighbourLabels(width, links, (shape) => shapes[shape]!.label.text);
  return (shapeOf) => {
    let [edges, hints] = [0, 0];
    for (const { from, to, directed, label } of graph.edges) {
      const [a, b] = [shapeOf[from]!, shapeOf[to]!];
      if (a < 0 || b < 0) continue;
      const labels = drawn.get(a * width + b) ?? (directed ? undefined : drawn.get(b * width + a));
      if (labels === undefined) continue;
      edges++;
      if (label !== undefined && labels.has(label.text)) hints++;
    }
    shapeOf.forEach((column, row) => {
      if (column >= 0) for (const label of wanted[row]!) if (found[column]!.has(label)) hints++;
    });
    return edges + hints * HINT;
  };
}

/** So little that all hints together weigh less than one edge. */
const HINT = 1e-6;

/** For each node the labels around it, with the way the edge goes; both ways for an edge without direction. */
function neighbourLabels(
  count: number,
  edges: readonly { readonly from: number; readonly to: number; readonly directed?: boolean }[],
  labelOf: (node: number) => string,
): Set<string>[] {
  const around = Array.from({ length: count }, () => new Set<string>());
  for (const { from, to, directed = true } of edges) {
    around[from]!.add(`> ${labelOf(to)}`);
    around[to]!.add(`< ${labelOf(from)}`);
    if (directed) continue;
    around[from]!.add(`< ${labelOf(to)}`);
    around[to]!.add(`> ${labelOf(from)}`);
  }
  return around;
}
