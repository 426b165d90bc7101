/**
 * Weisfeiler-Lehman hash of a labelled graph: equal for isomorphic graphs whose labels agree, whatever the node ids and
 * the order of nodes and edges. Labels are compared as the reward compares them (NFKC, case fold, trim). Shapes and the
 * reading direction are left out, so that two tasks which differ only there count as duplicates.
 * Source: Shervashidze et al., "Weisfeiler-Lehman Graph Kernels", JMLR 12 (2011).
 */
import type { Expectation } from '../../schemas/task.ts';

/** A graph before it has ids: nodes by position, `label` undefined or "" for a bare edge. */
export interface LabelledGraph {
  labels: readonly string[];
  edges: readonly { from: number; to: number; label?: string | undefined; directed: boolean }[];
}

/** Rounds of refinement; labels tell nearly all nodes apart already, so that two would do without duplicate labels. */
const ROUNDS = 4;
const OUT = 0x51ed270b;
const IN = 0x2545f491;
const BOTH = 0x7feb352d;

/** murmur3's 32-bit finaliser (Appleby 2011). */
function mix32(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

const combine = (a: number, b: number): number => mix32(Math.imul(a, 0x9e3779b1) ^ (b + 0x165667b1));

const isAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

export function normalizeLabel(label: string): string {
  return (isAscii(label) ? label : label.normalize('NFKC')).toLowerCase().trim();
}

/** 32-bit FNV-1a over UTF-16 units of the normalised label, then mixed. */
export function hashLabel(label: string): number {
  const text = normalizeLabel(label);
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return mix32(hash);
}

/** One round: each colour takes in the multiset of (edge label, kind of end, colour of neighbour). */
function refine(
  colours: readonly number[],
  edges: readonly { from: number; to: number; tag: number; directed: boolean }[],
) {
  const sums = new Array<number>(colours.length).fill(0);
  const add = (at: number, kind: number, tag: number, neighbour: number): void => {
    sums[at] = (sums[at]! + combine(combine(kind, tag), neighbour)) >>> 0;
  };
  for (const { from, to, tag, directed } of edges) {
    add(from, directed ? OUT : BOTH, tag, colours[to]!);
    add(to, directed ? IN : BOTH, tag, colours[from]!);
  }
  return colours.map((colour, i) => combine(colour, sums[i]!));
}

/** 53-bit integer. */
export function wlHash(graph: LabelledGraph): number {
  const edges = graph.edges.map((edge) => ({ ...edge, tag: hashLabel(edge.label ?? '') }));
  let colours = graph.labels.map(hashLabel);
  for (let round = 0; round < ROUNDS; round++) colours = refine(colours, edges);
  let high = mix32(graph.labels.length);
  let low = mix32(edges.length + 0x10000);
  for (const colour of colours) {
    high = (high + mix32(colour ^ 0x3c6ef372)) >>> 0;
    low = (low + mix32(colour ^ 0x1b873593)) >>> 0;
  }
  return (mix32(high) & 0x1fffff) * 2 ** 32 + mix32(low);
}

export function toLabelledGraph(expect: Expectation): LabelledGraph {
  const position = new Map(expect.nodes.map((node, i) => [node.id, i]));
  return {
    labels: expect.nodes.map((node) => node.label),
    edges: expect.edges.map(({ from, to, label, directed }) => ({
      from: position.get(from)!,
      to: position.get(to)!,
      label,
      directed: directed ?? true,
    })),
  };
}
