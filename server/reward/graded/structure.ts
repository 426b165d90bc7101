/**
 * What the drawing says, compared with what was asked for: nodes, edges, edge labels and shape kinds, with all the
 * facts that the reasons name.
 */
import type { ExpectedGraph } from './expectation.ts';
import { assign, type Candidate } from './hungarian.ts';
import { matchShapes, type Link, type Match } from './match.ts';
import { similarity, toLabel, type Label } from './similarity.ts';
import type { SeenShape } from './visibility.ts';

export interface Structure {
  readonly match: Match;
  readonly node: number;
  readonly edge: number;
  readonly edge_label: number;
  readonly shape_kind: number;
  /** Arrow of each expected edge, -1 for none. */
  readonly linkOf: Int32Array;
  /** Similarity of each expected edge's label; 0 for a missing edge, 1 where none is expected. */
  readonly labelSims: Float64Array;
  /** Shapes that stand for no expected node and are not free. */
  readonly extraShapes: readonly number[];
  /** Arrows that stand for no expected edge and do not end at an allowed extra. */
  readonly extraLinks: readonly number[];
  /** The free title, -1 for none. */
  readonly title: number;
}

export function compareStructure(
  graph: ExpectedGraph,
  shapes: readonly SeenShape[],
  links: readonly Link[],
  allowedExtras: readonly string[],
): Structure {
  const match = matchShapes(graph, shapes, links);
  const { title, allowed } = findFree(shapes, links, match, allowedExtras);
  const isFree = (shape: number): boolean => shape === title || allowed.has(shape);
  const linkOf = matchEdges(graph, links, match);
  const used = new Set(linkOf);
  const labelSims = Float64Array.from(graph.edges, ({ label }, e) =>
    label === undefined ? 1 : labelSimilarity(label, links[linkOf[e]!]),
  );
  return {
    match,
    node: nodeScore(graph, shapes, match, isFree),
    edge: edgeScore(graph, links, match, linkOf),
    edge_label: labelScore(graph, labelSims),
    shape_kind: kindScore(graph, shapes, match, isFree),
    linkOf,
    labelSims,
    extraShapes: shapes.flatMap(({ index }) => (match.nodeOf[index]! < 0 && !isFree(index) ? [index] : [])),
    extraLinks: links.flatMap(({ from, to }, l) => (used.has(l) || allowed.has(from) || allowed.has(to) ? [] : [l])),
    title,
  };
}

/**
 * Shapes that cost nothing although nothing asks for them: one for each allowed extra, and one title, which is the
 * topmost visible bare text without an arrow.
 */
function findFree(
  shapes: readonly SeenShape[],
  links: readonly Link[],
  { nodeOf }: Match,
  allowedExtras: readonly string[],
): { title: number; allowed: ReadonlySet<number> } {
  const spare = shapes.filter(({ index, labelled }) => labelled && nodeOf[index]! < 0);
  const allowed = new Set<number>();
  for (const text of allowedExtras) {
    const label = toLabel(text);
    const found = spare.find((shape) => !allowed.has(shape.index) && shape.label.text === label.text);
    if (found !== undefined) allowed.add(found.index);
  }
  const title = freeTitle(
    spare.filter(({ index }) => !allowed.has(index)),
    links,
  );
  return { title, allowed };
}

/** Topmost visible bare text of some shapes that no arrow ends at; -1 for none. */
export function freeTitle(shapes: readonly SeenShape[], links: readonly Link[]): number {
  const bare = shapes.filter(({ box, vis }) => vis > 0 && box.kind === 'text');
  if (bare.length === 0) return -1;
  const tied = new Set(links.flatMap(({ from, to }) => [from, to]));
  const titles = bare.filter(({ index }) => !tied.has(index)).sort((a, b) => a.box.top - b.box.top);
  return titles[0]?.index ?? -1;
}

type IsFree = (shape: number) => boolean;

/** Harmonic mean of precision tp / found and recall tp / wanted. */
const f1 = (tp: number, found: number, wanted: number): number => (tp === 0 ? 0 : (2 * tp) / (found + wanted));

/** F1 with precision tp / (labelled + 0.5 unlabelled) and recall tp / n; tp is the sum of matched values. */
function nodeScore(graph: ExpectedGraph, shapes: readonly SeenShape[], match: Match, isFree: IsFree): number {
  let found = 0;
  for (const { index, labelled } of shapes) found += isFree(index) ? 0 : labelled ? 1 : 0.5;
  const tp = match.value.reduce((sum, value) => sum + value, 0);
  return f1(tp, found, graph.nodes.length);
}

/**
 * One visible arrow for each expected edge, as many as possible, and among those the best labels. An undirected edge takes an
 * arrow of either direction. Several edges between the same two nodes take several arrows.
 */
function matchEdges(graph: ExpectedGraph, links: readonly Link[], { shapeOf, nodeOf }: Match): Int32Array {
  const between = new Map<number, number[]>();
  links.forEach(({ from, to, visible }, l) => {
    if (!visible) return;
    const key = from * nodeOf.length + to;
    const list = between.get(key);
    if (list === undefined) between.set(key, [l]);
    else list.push(l);
  });
  const candidates: Candidate[] = [];
  graph.edges.forEach(({ from, to, directed, label }, row) => {
    const [a, b] = [shapeOf[from]!, shapeOf[to]!];
    if (a < 0 || b < 0) return;
    const keys = directed ? [a * nodeOf.length + b] : [a * nodeOf.length + b, b * nodeOf.length + a];
    const drawn = keys.flatMap((key) => between.get(key) ?? []);
    for (const column of drawn) {
      const sim = label === undefined || drawn.length === 1 ? 0 : labelSimilarity(label, links[column]);
      candidates.push({ row, column, value: ONE_MORE_EDGE + sim });
    }
  });
  return assign(graph.edges.length, candidates);
}

/** Worth of an edge beside its label's similarity, so large that labels never decide against an edge. */
const ONE_MORE_EDGE = 1000;

function labelSimilarity(expected: Label, link: Link | undefined): number {
  return link === undefined ? 0 : similarity(expected, toLabel(link.text));
}

/** F1 over the visible arrows whose both ends are matched shapes. 1 where no edge is expected. */
function edgeScore(graph: ExpectedGraph, links: readonly Link[], { nodeOf }: Match, linkOf: Int32Array): number {
  if (graph.edges.length === 0) return 1;
  const joined = links.filter(({ from, to, visible }) => visible && nodeOf[from]! >= 0 && nodeOf[to]! >= 0).length;
  const tp = linkOf.filter((link) => link >= 0).length;
  return f1(tp, joined, graph.edges.length);
}

/** Mean similarity over the edges whose label is expected. 1 where none is. */
function labelScore(graph: ExpectedGraph, labelSims: Float64Array): number {
  if (graph.labelled_edges === 0) return 1;
  let sum = 0;
  graph.edges.forEach(({ label }, e) => (sum += label === undefined ? 0 : labelSims[e]!));
  return sum / graph.labelled_edges;
}

/** Recall of expected diamonds and ellipses, times 1 - share of all other shapes drawn so. 1 where none is expected. */
function kindScore(graph: ExpectedGraph, shapes: readonly SeenShape[], match: Match, isFree: IsFree): number {
  if (graph.kinds === 0) return 1;
  let [right, others, othersDrawnSo] = [0, 0, 0];
  for (const { index, box } of shapes) {
    const node = match.nodeOf[index]!;
    const expected = node < 0 ? undefined : graph.nodes[node]!.kind;
    if (expected !== undefined) right += box.kind === expected ? 1 : 0;
    else if (!isFree(index)) {
      others++;
      if (box.kind === 'diamond' || box.kind === 'ellipse') othersDrawnSo++;
    }
  }
  return (right / graph.kinds) * (others === 0 ? 1 : 1 - othersDrawnSo / others);
}
