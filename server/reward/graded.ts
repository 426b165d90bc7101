/**
 * Preset `graded`, what the trainer uses: only what a reader of the picture could see counts, and format multiplies
 * instead of adding.
 *
 *   R = .10 F + F H (.60 S + .30 S L)
 *   F = parse * schema * render, how well-formed the answer is
 *   S = (.40 node + .40 edge + .12 edge_label + .08 shape_kind) / sum of the weights present, graded/structure.ts
 *   L = weighted mean of nine terms, whether it can be read, graded/layout.ts
 *   H = stuffing * extra_shapes * extra_arrows * action_budget, graded/hacks.ts
 *
 * parse   1 the answer is JSON and nothing else | .9 it had to be taken out of a fence, prose or <think> |
 *         .5 repaired | 0 none, and then R = 0
 * schema  valid actions / actions
 * render  actions the canvas accepted / valid actions
 *
 * Every component is in [0, 1] and always present. One whose weight is absent (no edge label is expected) is 1 and does
 * not count. Without an expectation node and edge come from the prompt's words, graded/prompt-words.ts.
 *
 * Decided where the definition leaves it open:
 * - A canvas without any shape has render 0, so an empty drawing earns nothing however it came about.
 * - An expected loop from a node to itself does not count, as no action can draw it.
 * - An arrow of which less than 8 px is to be seen, since its shapes touch or overlap, is not an edge but an extra.
 * - A hidden shape is matched to nothing, so it also is an extra one.
 */
import type { ParseInfo } from '../../schemas/reward.ts';
import type { ScoredTask } from '../../schemas/task.ts';
import type { ApplyResult } from '../canvas/types.ts';
import { type ExpectedGraph, expectedGraph } from './graded/expectation.ts';
import {
  type FormatFactors,
  formatFactor,
  type GradedParts,
  gradedReward,
  hackFactor,
  layoutScore,
  structureScore,
} from './graded/formula.ts';
import { actionBudget, hackFactors, stuffedShapes } from './graded/hacks.ts';
import { computeLayout, LAYOUT_TERMS, type LayoutTerms } from './graded/layout.ts';
import { type Link, toLinks } from './graded/match.ts';
import { comparePrompt } from './graded/prompt-words.ts';
import type { Findings } from './graded/causes.ts';
import { expectedReasons, promptReasons, unreadableReason } from './graded/reasons.ts';
import { compareStructure } from './graded/structure.ts';
import { type SeenShape, seeShapes } from './graded/visibility.ts';
import type { PresetScore, ScorePreset } from './types.ts';

const PARSE_FACTORS: Readonly<Record<ParseInfo['outcome'], number>> = {
  strict: 1,
  extracted: 0.9,
  repaired: 0.5,
  none: 0,
};
/** Actions that are enough where nothing says how large the drawing should be: the article's limit. */
const FREE_BUDGET = 40;

/** Scores a drawing in [0, 1]. Never throws; finite for every canvas. */
export const scoreGraded: ScorePreset = (task, { parse, apply }) => {
  const graph = task.expect && task.expect.nodes.length > 0 ? expectedGraph(task.expect) : undefined;
  const expectation = graph === undefined ? 'none' : 'task';
  if (apply === null) return { ...NOTHING, reasons: [unreadableReason(parse.errors)], expectation };
  const format = formatFactors(parse.info, apply);
  const shapes = seeShapes(apply.canvas, task.canvas);
  const drawn = { task, apply, format, shapes, links: toLinks(apply.canvas.arrows, shapes) };
  return graph === undefined ? scoreByPrompt(drawn) : scoreByGraph(drawn, graph);
};

interface Drawn {
  readonly task: ScoredTask;
  readonly apply: ApplyResult;
  readonly format: FormatFactors;
  readonly shapes: readonly SeenShape[];
  readonly links: readonly Link[];
}

function formatFactors({ outcome }: ParseInfo, { canvas, counts }: ApplyResult): FormatFactors {
  const { actions, schema_valid, accepted } = counts;
  return {
    parse: PARSE_FACTORS[outcome],
    schema: actions === 0 ? 1 : schema_valid / actions,
    render: canvas.shapes.length === 0 ? 0 : actions === 0 ? 1 : accepted / Math.max(1, schema_valid),
  };
}

function scoreByGraph(drawn: Drawn, graph: ExpectedGraph): PresetScore {
  const { task, apply, format, shapes, links } = drawn;
  const structure = compareStructure(graph, shapes, links, task.allowed_extras ?? []);
  const undirected = new Set(structure.linkOf.filter((_, e) => !graph.edges[e]!.directed));
  const layout = computeLayout(shapes, links, structure.title, (link) => undirected.has(link), task.direction);
  const stuffed = stuffedShapes(graph, shapes);
  const [nodes, edges] = [graph.nodes.length, graph.edges.length];
  const hacks = hackFactors(stuffed.length > 0, {
    nodes,
    edges,
    extraShapes: structure.extraShapes.length,
    extraArrows: structure.extraLinks.length,
    actions: apply.counts.actions,
    budget: actionBudget(nodes, edges),
  });
  const { node, edge, edge_label, shape_kind } = structure;
  const parts: GradedParts = {
    format,
    structure: { node, edge, edge_label, shape_kind },
    asked: [
      'node',
      ...(edges > 0 ? (['edge'] as const) : []),
      ...(graph.labelled_edges > 0 ? (['edge_label'] as const) : []),
      ...(graph.kinds > 0 ? (['shape_kind'] as const) : []),
    ],
    layout: layout.terms,
    hacks,
  };
  const findings: Findings = { parts, apply, shapes, links, layout, stuffed };
  return { ...toScore(parts), reasons: expectedReasons(findings, graph, structure), expectation: 'task' };
}

function scoreByPrompt({ task, apply, format, shapes, links }: Drawn): PresetScore {
  const found = comparePrompt(task.prompt, shapes, links);
  const layout = computeLayout(shapes, links, found.title, () => false, task.direction);
  const hacks = hackFactors(found.stuffed.length > 0, {
    nodes: found.labels,
    edges: links.length,
    extraShapes: found.repeated.length,
    extraArrows: 0,
    actions: apply.counts.actions,
    budget: FREE_BUDGET,
  });
  const structure = { node: found.node, edge: found.edge, edge_label: 1, shape_kind: 1 };
  const parts: GradedParts = { format, structure, asked: ['node', 'edge'], layout: layout.terms, hacks };
  const findings: Findings = { parts, apply, shapes, links, layout, stuffed: found.stuffed };
  return { ...toScore(parts), reasons: promptReasons(findings, found), expectation: 'none' };
}

function toScore(parts: GradedParts): Pick<PresetScore, 'reward' | 'components'> {
  const { format, structure, asked, layout, hacks } = parts;
  const components = {
    format: formatFactor(format),
    ...format,
    structure: structureScore(structure, asked),
    ...structure,
    layout: layoutScore(layout),
    ...layout,
    hack_factor: hackFactor(hacks),
    ...hacks,
  };
  return { reward: gradedReward(parts), components };
}

const NO_LAYOUT = Object.fromEntries(LAYOUT_TERMS.map((term) => [term, 0])) as LayoutTerms;

/** The score where there is no canvas. */
const NOTHING = toScore({
  format: { parse: 0, schema: 0, render: 0 },
  structure: { node: 0, edge: 0, edge_label: 0, shape_kind: 0 },
  asked: ['node', 'edge', 'edge_label', 'shape_kind'],
  layout: NO_LAYOUT,
  hacks: { stuffing: 1, extra_shapes: 1, extra_arrows: 1, action_budget: 1 },
});
