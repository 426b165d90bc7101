/**
 * Path alignment: does a reader who follows the arrows get from the same boxes to the same boxes as the task says?
 *
 *   path_f1 = 2 |P and Q| / (|P| + |Q|)
 *   P = ordered pairs (u, v), u != v, of expected nodes where the expected graph leads from u to v
 *   Q = the same of matched nodes, where the drawn arrows lead from u's shape to v's shape, through whatever shapes
 *
 * P counts the pairs of nodes that were not drawn too, so that leaving a node out is no gain. An arrow leads both ways
 * where it stands for an undirected edge, and every arrow does where the task has no directed edge. Only arrows that can
 * be seen lead anywhere. 1 where neither graph has a pair.
 *
 * Not seen by this measure: turning all arrows round in a graph whose every node leads to every other (a ring), and
 * arrows that only repeat a path; the edge term of the reward and the graph-edit similarity see those.
 */
import type { ExpectedGraph } from '../graded/expectation.ts';
import type { Link } from '../graded/match.ts';
import type { Structure } from '../graded/structure.ts';

interface Way {
  readonly from: number;
  readonly to: number;
  readonly both: boolean;
}

/** In [0, 1]. */
export function pathF1(graph: ExpectedGraph, links: readonly Link[], structure: Structure): number {
  const { shapeOf, nodeOf } = structure.match;
  const asked = graph.edges.map(({ from, to, directed }): Way => ({ from, to, both: !directed }));
  const everyNode = graph.nodes.map((_, node) => node);
  const wanted = reachFrom(graph.nodes.length, asked);
  const expected = countPairs(everyNode, wanted, () => true);

  const isUndirected = graph.edges.length > 0 && graph.edges.every(({ directed }) => !directed);
  const lines = new Set(structure.linkOf.filter((_, e) => !graph.edges[e]!.directed));
  const drawn = links.flatMap(({ from, to, visible }, l): Way[] =>
    visible ? [{ from, to, both: isUndirected || lines.has(l) }] : [],
  );
  const reach = reachFrom(nodeOf.length, drawn);
  const matched = everyNode.filter((node) => shapeOf[node]! >= 0);
  const found = countPairs(
    matched.map((node) => shapeOf[node]!),
    reach,
    (shape) => nodeOf[shape]! >= 0,
  );
  if (expected === 0 && found === 0) return 1;

  let common = 0;
  for (const node of matched) {
    const drawnReach = reach(shapeOf[node]!);
    for (const other of wanted(node)) {
      if (other !== node && shapeOf[other]! >= 0 && drawnReach.has(shapeOf[other]!)) common++;
    }
  }
  return (2 * common) / (expected + found);
}

/** Ordered pairs of different members, of which the first leads to the second. */
function countPairs(
  starts: readonly number[],
  reach: (start: number) => ReadonlySet<number>,
  counts: (end: number) => boolean,
): number {
  let pairs = 0;
  for (const start of starts) for (const end of reach(start)) if (end !== start && counts(end)) pairs++;
  return pairs;
}

/** What a node leads to, by breadth-first search: O(nodes + edges) for each start; the start itself where a cycle does. */
function reachFrom(size: number, ways: readonly Way[]): (start: number) => ReadonlySet<number> {
  const next = Array.from({ length: size }, () => new Set<number>());
  for (const { from, to, both } of ways) {
    next[from]!.add(to);
    if (both) next[to]!.add(from);
  }
  const known = new Map<number, ReadonlySet<number>>();
  return (start) => {
    const before = known.get(start);
    if (before !== undefined) return before;
    const reached = new Set(next[start]);
    for (const node of reached) for (const further of next[node]!) reached.add(further);
    known.set(start, reached);
    return reached;
  };
}
