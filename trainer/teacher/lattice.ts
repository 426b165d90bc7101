/**
 * A place for every node on a coarse lattice: its rank along the reading direction and its half-rows across it. dagre
 * decides both; they are rounded, so that a drawing has few distinct coordinates and a tiny model can learn them.
 */
import * as dagre from '@dagrejs/dagre';
import type { Graph } from './graph.ts';

export interface Place {
  rank: number;
  /** Half-rows from the first row; two nodes of a rank are at least 2 apart. */
  half_row: number;
}

/** The part of dagre used here (its own declarations do not resolve under NodeNext). */
interface DagreGraph {
  setGraph(options: { rankdir: 'LR'; nodesep: number; ranksep: number; edgesep: number }): void;
  setNode(id: string, size: { width: number; height: number }): void;
  setEdge(from: string, to: string, size: { width: number; height: number; labelpos: 'c' }, name: string): void;
  node(id: string): { x: number; y: number };
}
const { Graph: DagreGraph, layout } = dagre as unknown as {
  Graph: new (options: { multigraph: boolean }) => DagreGraph;
  layout: (graph: DagreGraph) => void;
};

/** dagre takes 0 for "not given", so the gaps are tiny instead; a node is two half-rows wide, a passing edge one. */
const TINY = 0.001;

function layOut(graph: Graph): { x: number; y: number }[] {
  const g = new DagreGraph({ multigraph: true });
  g.setGraph({ rankdir: 'LR', nodesep: TINY, ranksep: TINY, edgesep: 1 });
  graph.nodes.forEach((_, i) => {
    g.setNode(String(i), { width: 2, height: 2 });
  });
  graph.edges.forEach(({ from, to }, i) => {
    g.setEdge(String(from), String(to), { width: 0, height: 0, labelpos: 'c' }, String(i));
  });
  layout(g);
  return graph.nodes.map((_, i) => g.node(String(i)));
}

/** Positions of the values among the distinct values, smallest first; values closer than half a unit are one. */
function toRanks(values: readonly number[]): number[] {
  const steps = [...new Set(values.map((value) => Math.round(value * 2)))].sort((a, b) => a - b);
  return values.map((value) => steps.indexOf(Math.round(value * 2)));
}

/** Rounds to half-rows and moves nodes of one rank apart where rounding brought them closer than a row. */
function toHalfRows(ranks: readonly number[], ys: readonly number[]): number[] {
  const top = Math.min(...ys);
  const rows = ys.map((y) => Math.round(y - top));
  for (const rank of new Set(ranks)) {
    const members = ranks.flatMap((r, i) => (r === rank ? [i] : [])).sort((a, b) => ys[a]! - ys[b]!);
    for (let k = 1; k < members.length; k++) {
      rows[members[k]!] = Math.max(rows[members[k]!]!, rows[members[k - 1]!]! + 2);
    }
  }
  return rows;
}

/** Mirrors the rows when more neighbours of a rank stand against the prompt's order than with it. */
function inPromptOrder(ranks: readonly number[], rows: readonly number[]): number[] {
  let balance = 0;
  for (let i = 0; i < rows.length; i++) {
    for (let j = i + 1; j < rows.length; j++) if (ranks[i] === ranks[j]) balance += Math.sign(rows[j]! - rows[i]!);
  }
  const bottom = Math.max(...rows);
  return balance < 0 ? rows.map((row) => bottom - row) : [...rows];
}

const CACHE_LIMIT = 1000;
const cache = new Map<string, readonly Place[]>();

/** Places depend on the structure alone, and small structures recur, so the last thousand are kept. */
export function placeNodes(graph: Graph): readonly Place[] {
  const key = `${graph.nodes.length}:${graph.edges.map(({ from, to }) => `${from}-${to}`).join()}`;
  const known = cache.get(key);
  if (known) return known;
  const points = layOut(graph);
  const ranks = toRanks(points.map((point) => point.x));
  const rows = inPromptOrder(
    ranks,
    toHalfRows(
      ranks,
      points.map((point) => point.y),
    ),
  );
  const places = ranks.map((rank, i) => ({ rank, half_row: rows[i]! }));
  if (cache.size >= CACHE_LIMIT) cache.delete(cache.keys().next().value!);
  cache.set(key, places);
  return places;
}
