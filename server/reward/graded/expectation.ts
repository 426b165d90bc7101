/** A task's expectation prepared for comparison: labels normalised, node ids resolved to positions. Made once a task. */
import type { Expectation } from '../../../schemas/task.ts';
import { toLabel, type Label } from './similarity.ts';

export interface ExpectedNode {
  /** As the task writes it, for messages. */
  readonly name: string;
  /** The label, then its aliases. */
  readonly labels: readonly Label[];
  /** Only where the task asks for this kind: the two kinds that carry a meaning. */
  readonly kind: 'diamond' | 'ellipse' | undefined;
  /** Whether the task asks for a bare text here, so that one is as good as a box. */
  readonly bare: boolean;
}

export interface ExpectedEdge {
  /** Positions in the list of nodes; never equal. */
  readonly from: number;
  readonly to: number;
  readonly directed: boolean;
  readonly label: Label | undefined;
  readonly labelName: string;
}

/**
 * Loops from a node to itself are left out of the edges: the canvas refuses an arrow from a shape to itself, so no
 * drawing could have them, and an honest one must not lose points for it. An edge to an unknown node is left out too.
 */
export interface ExpectedGraph {
  readonly nodes: readonly ExpectedNode[];
  readonly edges: readonly ExpectedEdge[];
  /** Edges with a label. */
  readonly labelled_edges: number;
  /** Nodes that are expected to be a diamond or an ellipse. */
  readonly kinds: number;
  /** Distinct normalised labels, longest first. */
  readonly texts: readonly string[];
}

const PREPARED = new WeakMap<Expectation, ExpectedGraph>();

/** The prepared graph; remembered as long as the task itself is. */
export function expectedGraph(expect: Expectation): ExpectedGraph {
  let graph = PREPARED.get(expect);
  if (graph === undefined) {
    graph = prepare(expect);
    PREPARED.set(expect, graph);
  }
  return graph;
}

function prepare(expect: Expectation): ExpectedGraph {
  const nodes = expect.nodes.map(({ label, aliases = [], shape }): ExpectedNode => ({
    name: label,
    labels: [label, ...aliases].map(toLabel),
    kind: shape === 'diamond' || shape === 'ellipse' ? shape : undefined,
    bare: shape === 'text',
  }));
  const position = new Map(expect.nodes.map(({ id }, i) => [id, i]));
  const edges = expect.edges.flatMap(({ from, to, label = '', directed = true }): ExpectedEdge[] => {
    const [a, b] = [position.get(from), position.get(to)];
    if (a === undefined || b === undefined || a === b) return [];
    const normal = toLabel(label);
    return [{ from: a, to: b, directed, label: normal.text === '' ? undefined : normal, labelName: label }];
  });
  return {
    nodes,
    edges,
    labelled_edges: edges.filter(({ label }) => label !== undefined).length,
    kinds: nodes.filter(({ kind }) => kind !== undefined).length,
    texts: [...new Set(nodes.map(({ labels }) => labels[0]!.text))].sort((a, b) => b.length - a.length),
  };
}
