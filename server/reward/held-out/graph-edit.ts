/**
 * Graph-edit similarity: how much would have to be changed to make the expected graph of what was drawn?
 *
 *   graph_edit_similarity = max(0, 1 - cost / (n + m))       n, m = expected nodes and edges
 *   cost = sum over matched nodes of (1 - sim) + sum over found edges of .5 (1 - sim of the label)
 *        + missing nodes + missing edges + extra shapes + extra arrows
 *
 * The cost is that of the edit path which a node assignment induces (Riesen and Bunke, "Approximate graph edit distance
 * computation by means of bipartite graph matching", 2009); the assignment is the reward's. It is never below the exact
 * graph edit distance with these costs, so the similarity is a lower bound; labels make it the exact one nearly always
 * (a test compares both on small graphs). It is linear once the match is known, which the exact distance is not.
 *
 * Unlike the reward it gives nothing for layout, shape kinds or format, and takes the same for every extra shape, so that
 * decoys cannot pay. A free title and the task's allowed extras cost nothing, nor does a label on an edge that needs none.
 */
import type { ExpectedGraph } from '../graded/expectation.ts';
import type { Structure } from '../graded/structure.ts';

/** An arrow without its label is worth more than no arrow. */
const RELABEL_EDGE = 0.5;

/** In [0, 1]: 1 for the expected graph, 0 for an empty canvas and for one that is more work to correct than to begin anew. */
export function graphEditSimilarity(graph: ExpectedGraph, structure: Structure): number {
  const { match, linkOf, labelSims, extraShapes, extraLinks } = structure;
  let cost = extraShapes.length + extraLinks.length;
  match.shapeOf.forEach((shape, node) => (cost += shape < 0 ? 1 : 1 - match.sim[node]!));
  linkOf.forEach((link, edge) => (cost += link < 0 ? 1 : RELABEL_EDGE * (1 - labelSims[edge]!)));
  return Math.max(0, 1 - cost / (graph.nodes.length + graph.edges.length));
}
