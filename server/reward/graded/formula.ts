/** The formula of the graded reward over its parts. Each part, factor and result is in [0, 1]. */
import type { HackFactors } from './hacks.ts';
import { LAYOUT_TERMS, LAYOUT_WEIGHTS, type LayoutTerms } from './layout.ts';

export const STRUCTURE_WEIGHTS = { node: 0.4, edge: 0.4, edge_label: 0.12, shape_kind: 0.08 } as const;
export type StructureTerm = keyof typeof STRUCTURE_WEIGHTS;
export type StructureTerms = Readonly<Record<StructureTerm, number>>;

const FORMAT_WEIGHT = 0.1;
const STRUCTURE_WEIGHT = 0.6;
const LAYOUT_WEIGHT = 0.3;

export interface FormatFactors {
  readonly parse: number;
  readonly schema: number;
  readonly render: number;
}

export interface GradedParts {
  readonly format: FormatFactors;
  readonly structure: StructureTerms;
  /** Structure terms that the task asks for; the others do not count. */
  readonly asked: readonly StructureTerm[];
  readonly layout: LayoutTerms;
  readonly hacks: HackFactors;
}

/** F = parse * schema * render */
export const formatFactor = ({ parse, schema, render }: FormatFactors): number => parse * schema * render;

/** S = (.40 node + .40 edge + .12 edge_label + .08 shape_kind) / sum of the weights present */
export function structureScore(terms: StructureTerms, asked: readonly StructureTerm[]): number {
  let [sum, weights] = [0, 0];
  for (const term of asked) {
    sum += STRUCTURE_WEIGHTS[term] * terms[term];
    weights += STRUCTURE_WEIGHTS[term];
  }
  return weights === 0 ? 0 : sum / weights;
}

/** L, the sum of the nine terms by their weights, which add up to 1. */
export function layoutScore(terms: LayoutTerms): number {
  let sum = 0;
  for (const term of LAYOUT_TERMS) sum += LAYOUT_WEIGHTS[term] * terms[term];
  return Math.min(1, sum);
}

/** H = stuffing * extra_shapes * extra_arrows * action_budget */
export const hackFactor = (factors: HackFactors): number =>
  factors.stuffing * factors.extra_shapes * factors.extra_arrows * factors.action_budget;

/** R = .10 F + F H (.60 S + .30 S L) */
export function gradedReward({ format, structure, asked, layout, hacks }: GradedParts): number {
  const S = structureScore(structure, asked);
  const worth = S * (STRUCTURE_WEIGHT + LAYOUT_WEIGHT * layoutScore(layout));
  return Math.min(1, formatFactor(format) * (FORMAT_WEIGHT + hackFactor(hacks) * worth));
}
