/** What made each component of a graded reward less than perfect, and the advice that goes with it. */
import type { ApplyResult } from '../../canvas/types.ts';
import { innerBox, layoutLabel, LINE_HEIGHT_PX, outerBox } from '../text.ts';
import type { ExpectedGraph, ExpectedNode } from './expectation.ts';
import type { GradedParts } from './formula.ts';
import { WIDEST_ASPECT, type Layout, type LayoutTerm } from './layout.ts';
import { type Link, type Match, nodeSimilarity } from './match.ts';
import type { Structure } from './structure.ts';
import type { Fault, SeenShape } from './visibility.ts';

/** A cause of a component's loss; `weight` is its share against the other causes of that component. */
export interface Cause {
  /** Stable, for programs. */
  readonly code: string;
  readonly weight: number;
  /** Written only for the reasons that are kept. */
  readonly message: () => string;
}

/** What was found in a drawing, besides its structure. */
export interface Findings {
  readonly parts: GradedParts;
  readonly apply: ApplyResult;
  readonly shapes: readonly SeenShape[];
  readonly links: readonly Link[];
  readonly layout: Layout;
  readonly stuffed: readonly SeenShape[];
}

const MOST_NAME_LENGTH = 40;
const MOST_NAMED = 5;

/** The first few items, and how many more there are. */
function firstFew(items: readonly string[]): string {
  const more = items.length - MOST_NAMED;
  return items.slice(0, MOST_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** A name as it stands in a message. */
function quoted(name: string): string {
  const plain = name.replaceAll(/\s+/g, ' ').trim();
  return `"${plain.length > MOST_NAME_LENGTH ? `${plain.slice(0, MOST_NAME_LENGTH)}...` : plain}"`;
}

export const idsOf = (shapes: readonly SeenShape[], indices: readonly number[]): string =>
  firstFew(indices.map((index) => quoted(shapes[index]!.id)));

const cause = (code: string, weight: number, message: () => string): Cause => ({ code, weight, message });

// ---- Format

export function formatCauses({ apply, parts }: Findings, component: 'parse' | 'schema' | 'render'): Cause[] {
  if (parts.format[component] === 1) return [];
  if (component === 'parse') {
    return [cause('not_only_json', 1, () => 'answer with the JSON object alone: no prose, no code fence, no comment')];
  }
  if (component === 'render' && apply.canvas.shapes.length === 0) {
    return [cause('empty_canvas', 1, () => 'the canvas is empty: create shapes')];
  }
  const { errors, counts } = apply;
  const refused = (): string => `${errors.length} of ${counts.actions} actions were refused: `;
  return [
    cause(
      'refused_actions',
      1,
      () =>
        refused() +
        errors
          .slice(0, 3)
          .map(({ message }) => message)
          .join('; '),
    ),
  ];
}

// ---- Nodes

const HIDDEN: Readonly<Record<Fault, string>> = {
  unlabelled: 'give it a label',
  too_small: 'make it at least 24 x 16 px',
  outside_canvas: 'move it inside the canvas',
  covered: 'another shape covers it: move them apart',
  text_overflow: 'its label does not fit',
};

export function nodeCauses({ parts, shapes }: Findings, graph: ExpectedGraph, structure: Structure): Cause[] {
  if (parts.structure.node === 1) return [];
  const { shapeOf, value, sim } = structure.match;
  const missing: string[] = [];
  const hidden: string[] = [];
  const differing: string[] = [];
  const bare: string[] = [];
  const overflowing: SeenShape[] = [];
  let [differs, overflows, bares] = [0, 0, 0];
  graph.nodes.forEach((node, i) => {
    const shape = shapes[shapeOf[i]!];
    if (shape === undefined) {
      const unseen = closestHidden(node, shapes);
      if (unseen?.fault === undefined) missing.push(quoted(node.name));
      else hidden.push(`${quoted(unseen.id)} (${HIDDEN[unseen.fault]})`);
      return;
    }
    if (sim[i]! < 1) {
      differs += 1 - sim[i]!;
      differing.push(`${quoted(shape.text)} should be ${quoted(node.name)}`);
    }
    if (shape.vis < 1) {
      overflows += sim[i]! * (1 - shape.vis);
      overflowing.push(shape);
    }
    const bareLoss = sim[i]! * shape.vis - value[i]!;
    if (bareLoss > 1e-9) {
      bares += bareLoss;
      bare.push(quoted(shape.id));
    }
  });
  return [
    cause('missing_shape', missing.length, () => `these are missing; create a shape for each: ${firstFew(missing)}`),
    cause('hidden_shape', hidden.length, () => `these shapes cannot be seen: ${firstFew(hidden)}`),
    cause('label_differs', differs, () => `label ${firstFew(differing)}`),
    cause('text_overflow', overflows, () => overflowMessage(overflowing)),
    cause('bare_text', bares, () => `draw these as boxes, not as bare text: ${firstFew(bare)}`),
    ...extraShapeCauses(shapes, structure.extraShapes),
  ];
}

/** The hidden shape whose label is most like a node's. */
function closestHidden(node: ExpectedNode, shapes: readonly SeenShape[]): SeenShape | undefined {
  let [best, found]: [number, SeenShape | undefined] = [0, undefined];
  for (const shape of shapes) {
    const sim = shape.vis === 0 ? nodeSimilarity(node, shape) : 0;
    if (sim > best) [best, found] = [sim, shape];
  }
  return found;
}

export function extraShapeCauses(shapes: readonly SeenShape[], extra: readonly number[]): Cause[] {
  // A hidden shape that stands for an expected node is told to be shown, not to be removed.
  const seen = extra.filter((index) => shapes[index]!.vis > 0 || !shapes[index]!.labelled);
  const named = seen.length > 0 ? seen : extra;
  const message = (): string => `nothing asks for these shapes; remove them: ${idsOf(shapes, named)}`;
  return [cause('extra_shape', named.length, message)];
}

const withArticle = (kind: 'diamond' | 'ellipse'): string => (kind === 'ellipse' ? 'an ellipse' : 'a diamond');

export function kindCauses({ parts, shapes }: Findings, graph: ExpectedGraph, structure: Structure): Cause[] {
  if (parts.structure.shape_kind === 1) return [];
  const { nodeOf } = structure.match;
  const wrong: string[] = [];
  for (const { index, id, box } of shapes) {
    const expected = graph.nodes[nodeOf[index]!]?.kind;
    if (expected !== undefined && box.kind !== expected) wrong.push(`${quoted(id)} should be ${withArticle(expected)}`);
    const isSpecial = box.kind === 'diamond' || box.kind === 'ellipse';
    if (expected === undefined && isSpecial) wrong.push(`${quoted(id)} should be a rectangle`);
  }
  const missing = graph.nodes.flatMap(({ name, kind }, i) =>
    kind !== undefined && structure.match.shapeOf[i]! < 0 ? [`${quoted(name)} should be ${withArticle(kind)}`] : [],
  );
  return [cause('wrong_shape_kind', 1, () => `shape kinds: ${firstFew([...wrong, ...missing])}`)];
}

// ---- Arrows

interface ArrowCauses {
  readonly edge: Cause[];
  readonly edge_label: Cause[];
  readonly extra: Cause[];
}

/** Expected edges without their arrow, for one reason. */
interface Absence {
  readonly code: string;
  readonly advice: string;
  readonly names: string[];
  /** How many of them have an expected label. */
  labels: number;
}

const absence = (code: string, advice: string): Absence => ({ code, advice, names: [], labels: 0 });

export function arrowCauses(findings: Findings, graph: ExpectedGraph, structure: Structure): ArrowCauses {
  const { match, linkOf, labelSims, extraLinks } = structure;
  const missing = absence('missing_arrow', 'these arrows are missing; connect');
  const hidden = absence('hidden_arrow', 'leave room for these arrows between their shapes:');
  const reversed = absence('reversed_arrow', 'turn these arrows round; they should be');
  const wrongLabels: string[] = [];
  let labelLoss = 0;
  const spare = new Set(extraLinks);
  const take = (from: number, to: number): boolean => {
    const link = [...spare].find((l) => findings.links[l]!.from === from && findings.links[l]!.to === to);
    return link !== undefined && spare.delete(link);
  };
  graph.edges.forEach(({ from, to, label, labelName }, e) => {
    const name = `${quoted(graph.nodes[from]!.name)} -> ${quoted(graph.nodes[to]!.name)}`;
    if (linkOf[e]! >= 0) {
      if (labelSims[e]! < 1) wrongLabels.push(`${name} should be labelled ${quoted(labelName)}`);
      labelLoss += 1 - labelSims[e]!;
      return;
    }
    const [a, b] = [match.shapeOf[from]!, match.shapeOf[to]!];
    const why = take(a, b) ? hidden : take(b, a) ? reversed : missing;
    why.names.push(name);
    if (label !== undefined) why.labels++;
  });
  const extra = [...spare];
  const joined = extra.filter((l) => isJoined(findings.links[l]!, match)).length;
  const toCause = ({ code, advice, names }: Absence, weight: number): Cause =>
    cause(code, weight, () => `${advice} ${firstFew(names)}`);
  const isExtra = (weight: number): Cause =>
    cause('extra_arrow', weight, () => {
      return `nothing asks for these arrows; remove them: ${firstFew(extra.map((link) => arrowName(findings, link)))}`;
    });
  const absences = [missing, hidden, reversed];
  return {
    edge: [...absences.map((why) => toCause(why, why.names.length)), isExtra(joined)],
    edge_label: [
      ...absences.map((why) => toCause(why, why.labels)),
      cause('arrow_label_differs', labelLoss, () => `arrow ${firstFew(wrongLabels)}`),
    ],
    extra: [toCause(hidden, hidden.names.length), toCause(reversed, reversed.names.length), isExtra(extra.length)],
  };
}

const isJoined = ({ from, to, visible }: Link, { nodeOf }: Match): boolean =>
  visible && nodeOf[from]! >= 0 && nodeOf[to]! >= 0;

// ---- Hacks

export function hackCauses({ stuffed, apply }: Findings, factor: 'stuffing' | 'action_budget'): Cause[] {
  if (factor === 'stuffing') {
    const named = (): string => firstFew(stuffed.map(({ id }) => quoted(id)));
    return [cause('stuffed_label', stuffed.length, () => `one label must name one thing; split up ${named()}`)];
  }
  return [cause('too_many_actions', 1, () => `${apply.counts.actions} actions are far more than this drawing needs`)];
}

// ---- Layout

interface Advice {
  readonly code: string;
  readonly message: (findings: Findings) => string;
}

/** What to change for each layout term; `layout` where too little is visible to have one. */
const LAYOUT_ADVICE: Readonly<Record<LayoutTerm | 'layout', Advice>> = {
  layout: {
    code: 'too_few_visible',
    message: () => 'fewer than two shapes can be seen: draw labelled shapes inside the canvas',
  },
  overlap: {
    code: 'shapes_overlap',
    message: ({ shapes, layout }) => {
      const pairs = layout.overlapping.map(([a, b]) => `${quoted(shapes[a]!.id)} and ${quoted(shapes[b]!.id)}`);
      return `these shapes overlap: ${firstFew(pairs)}; move them apart`;
    },
  },
  text_fit: {
    code: 'text_overflow',
    message: ({ shapes }) => overflowMessage(shapes.filter(({ labelled, fits }) => labelled && !fits)),
  },
  edge_through_node: {
    code: 'arrow_crosses_shape',
    message: (findings) => {
      const { shapes, layout } = findings;
      const pairs = layout.through.map(([l, s]) => `${arrowName(findings, l)} through ${quoted(shapes[s]!.id)}`);
      return `these arrows run through shapes: ${firstFew(pairs)}; move shapes so that arrows pass between them`;
    },
  },
  crossings: {
    code: 'arrows_cross',
    message: (findings) => {
      const pairs = findings.layout.crossing.map(([a, b]) => `${arrowName(findings, a)} and ${arrowName(findings, b)}`);
      return `these arrows cross: ${firstFew(pairs)}; reorder the shapes`;
    },
  },
  align: {
    code: 'not_aligned',
    message: ({ shapes, layout }) => `line up the centres of ${idsOf(shapes, layout.unaligned)} with other shapes`,
  },
  spacing: {
    code: 'uneven_spacing',
    message: ({ shapes, layout: { badGaps } }) =>
      badGaps.length > 0
        ? `leave 20 to 300 px between neighbours; too near or too far: ${idsOf(shapes, badGaps)}`
        : 'make the gaps between neighbouring shapes equal',
  },
  flow: {
    code: 'against_flow',
    message: (findings) => {
      const { flowDirection, against } = findings.layout;
      const arrows = against.map((link) => arrowName(findings, link));
      return `arrows should lead ${flowDirection}; these do not: ${firstFew(arrows)}`;
    },
  },
  aspect: {
    code: 'too_elongated',
    message: ({ layout }) => elongatedMessage(layout.extent),
  },
  occupancy: {
    code: 'badly_filled',
    message: ({ layout }) => filledMessage(layout.extent),
  },
};

export function layoutCause(findings: Findings, term: LayoutTerm | 'layout'): Cause {
  const { code, message } = LAYOUT_ADVICE[term];
  return cause(code, 1, () => message(findings));
}

function arrowName({ shapes, links }: Findings, link: number): string {
  const { from, to } = links[link]!;
  return `${quoted(shapes[from]!.id)} -> ${quoted(shapes[to]!.id)}`;
}

/** How wide or high a strip would have to be, and the three ways there. */
function elongatedMessage({ w, h }: Layout['extent']): string {
  const [side, line] = w > h ? ['high', 'rows'] : ['wide', 'columns'];
  const least = Math.ceil(WIDEST_ASPECT * Math.max(w, h));
  const size = `${Math.round(w)} x ${Math.round(h)} px`;
  return `the drawing is ${size}; make it at least ${least} px ${side}: enlarge shapes, move them closer or use two ${line}`;
}

function filledMessage({ share }: Layout['extent']): string {
  const percent = Math.round(100 * share) || 0; // areas of absurd sizes have no share
  return percent > 50
    ? `shapes fill ${percent} % of the area they span; leave more room between them, so that it is at most 85 %`
    : `shapes fill ${percent} % of the area they span; enlarge them or move them closer, so that it is at least 4 %`;
}

function overflowMessage(overflowing: readonly SeenShape[]): string {
  const named = overflowing.slice(0, 3).map((shape) => `${quoted(shape.id)} at least ${neededSize(shape)} px`);
  const more = overflowing.length > named.length ? ` and enlarge ${overflowing.length - named.length} more` : '';
  return `labels do not fit: make ${named.join(', ')}${more}`;
}

const SIZE_STEP_PX = 10;
const WIDEST_PX = 1000;

/** The smallest width, in steps of 10 px, at which the label fits: at the shape's height, or at that of one line. */
function neededSize({ box, text }: SeenShape): string {
  const kind = box.kind;
  const height = 2 * box.ry;
  const isLow = innerBox({ shape: kind, w: 2 * box.rx, h: height }).h < LINE_HEIGHT_PX;
  const h = isLow ? Math.ceil(outerBox(kind, { w: 0, h: LINE_HEIGHT_PX }).h) : height;
  let w = Math.ceil((2 * box.rx) / SIZE_STEP_PX) * SIZE_STEP_PX;
  while (w < WIDEST_PX && !layoutLabel({ shape: kind, w, h, text }).fits) w += SIZE_STEP_PX;
  return `${w} x ${Math.ceil(h)}`;
}
