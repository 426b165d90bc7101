/**
 * Why points were lost, as advice to a model: what to change, and which shapes and arrows are meant.
 *
 * `lost` is the reward that would be gained if the component were perfect and all else stayed. Where a component has
 * several causes (one shape is missing, another hidden) they share its loss by weight; a cause that costs points in two
 * components (a label that does not fit) gives one reason with both losses. Small losses, and all but the 12 largest
 * reasons, are left out.
 */
import type { ActionError, Reason } from '../../../schemas/reward.ts';
import { firstFew } from '../reasons.ts';
import {
  arrowCauses,
  type Cause,
  extraShapeCauses,
  type Findings,
  formatCauses,
  hackCauses,
  idsOf,
  kindCauses,
  layoutCause,
  nodeCauses,
} from './causes.ts';
import type { ExpectedGraph } from './expectation.ts';
import { type GradedParts, gradedReward, type StructureTerm } from './formula.ts';
import type { HackFactors } from './hacks.ts';
import { LAYOUT_TERMS, type LayoutTerms } from './layout.ts';
import type { PromptMatch } from './prompt-words.ts';
import type { Structure } from './structure.ts';

const MOST_REASONS = 12;
/** Losses below this are noise of rounding and of nearly even gaps. */
const LEAST_LOSS = 0.0005;

/** The one reason where the answer holds nothing to draw: everything is lost to it. */
export function unreadableReason(errors: readonly ActionError[]): Reason {
  const { code, message } = errors[0] ?? { code: 'no_canvas', message: 'nothing could be drawn' };
  return { component: 'parse', code, message, lost: 1 };
}

export function expectedReasons(findings: Findings, graph: ExpectedGraph, structure: Structure): Reason[] {
  const { parts } = findings;
  const arrows = arrowCauses(findings, graph, structure);
  const ledger = new Ledger(parts);
  ledger.add('node', withStructure(parts, 'node'), nodeCauses(findings, graph, structure));
  ledger.add('edge', withStructure(parts, 'edge'), arrows.edge);
  ledger.add('edge_label', withStructure(parts, 'edge_label'), arrows.edge_label);
  ledger.add('shape_kind', withStructure(parts, 'shape_kind'), kindCauses(findings, graph, structure));
  ledger.add('extra_shapes', withHack(parts, 'extra_shapes'), extraShapeCauses(findings.shapes, structure.extraShapes));
  ledger.add('extra_arrows', withHack(parts, 'extra_arrows'), arrows.extra);
  addCommon(ledger, findings);
  return ledger.reasons();
}

export function promptReasons(findings: Findings, found: PromptMatch): Reason[] {
  const { parts, shapes } = findings;
  const ledger = new Ledger(parts);
  const cause = (code: string, message: () => string): Cause[] => [{ code, weight: 1, message }];
  const missing = (): string => `no label holds these words of the prompt: ${firstFew(found.missing)}`;
  const advice = (): string => 'join the shapes that the prompt names with arrows';
  const repeated = (): string => `these shapes repeat a label or have none: ${idsOf(shapes, found.repeated)}`;
  const wordless = cause('prompt_without_words', () => WORDLESS);
  const isWordless = found.node < 1 && found.missing.length === 0;
  ledger.add('node', withStructure(parts, 'node'), isWordless ? wordless : cause('missing_words', missing));
  ledger.add('edge', withStructure(parts, 'edge'), isWordless ? wordless : cause('missing_arrow', advice));
  ledger.add('extra_shapes', withHack(parts, 'extra_shapes'), cause('extra_shape', repeated));
  addCommon(ledger, findings);
  return ledger.reasons();
}

const WORDLESS = 'the prompt has no word of 4 or more letters, so nothing in the drawing can change this part';

/** Losses that do not depend on where the expectation comes from. */
function addCommon(ledger: Ledger, findings: Findings): void {
  const { parts, layout } = findings;
  for (const component of ['parse', 'schema', 'render'] as const) {
    if (parts.format[component] === 1) continue;
    const perfect = { ...parts.format, [component]: 1 };
    // Without a well-formed action there was nothing the canvas could accept, so both are gained together.
    if (component === 'schema' && parts.format.schema === 0) perfect.render = 1;
    ledger.add(component, { ...parts, format: perfect }, formatCauses(findings, component));
  }
  ledger.add('stuffing', withHack(parts, 'stuffing'), hackCauses(findings, 'stuffing'));
  ledger.add('action_budget', withHack(parts, 'action_budget'), hackCauses(findings, 'action_budget'));
  if (layout.visible < 2) {
    ledger.add('layout', { ...parts, layout: FULL_LAYOUT }, [layoutCause(findings, 'layout')]);
    return;
  }
  for (const term of LAYOUT_TERMS) {
    if (parts.layout[term] === 1) continue;
    ledger.add(term, { ...parts, layout: { ...parts.layout, [term]: 1 } }, [layoutCause(findings, term)]);
  }
}

const FULL_LAYOUT = Object.fromEntries(LAYOUT_TERMS.map((term) => [term, 1])) as LayoutTerms;

const withStructure = (parts: GradedParts, term: StructureTerm): GradedParts =>
  parts.structure[term] === 1 ? parts : { ...parts, structure: { ...parts.structure, [term]: 1 } };

const withHack = (parts: GradedParts, factor: keyof HackFactors): GradedParts =>
  parts.hacks[factor] === 1 ? parts : { ...parts, hacks: { ...parts.hacks, [factor]: 1 } };

/** Adds up losses by the code of their cause. */
class Ledger {
  private readonly entries = new Map<string, { component: string; lost: number; message: () => string }>();
  private readonly parts: GradedParts;
  private readonly reward: number;

  constructor(parts: GradedParts) {
    this.parts = parts;
    this.reward = gradedReward(parts);
  }

  /** Shares what a component costs, against `perfect` in which it costs nothing, among its causes. */
  add(component: string, perfect: GradedParts, causes: readonly Cause[]): void {
    if (perfect === this.parts) return;
    const loss = gradedReward(perfect) - this.reward;
    const total = causes.reduce((sum, { weight }) => sum + weight, 0);
    if (loss <= 0 || total <= 0) return;
    for (const { code, weight, message } of causes) {
      if (weight <= 0) continue;
      const lost = (loss * weight) / total;
      const entry = this.entries.get(code);
      if (entry === undefined) this.entries.set(code, { component, lost, message });
      else entry.lost = Math.min(1, entry.lost + lost);
    }
  }

  /** The reasons, largest loss first; only now their messages are written. */
  reasons(): Reason[] {
    return [...this.entries]
      .filter(([, { lost }]) => lost >= LEAST_LOSS)
      .sort(([, a], [, b]) => b.lost - a.lost)
      .slice(0, MOST_REASONS)
      .map(([code, { component, lost, message }]) => ({ component, code, message: message(), lost }));
  }
}
