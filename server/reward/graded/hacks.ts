/**
 * What a drawing does that no honest one needs: labels stuffed with several names, more shapes and arrows than asked
 * for, more actions than needed. `H` of the graded reward, the product of four factors.
 */
import type { ExpectedGraph } from './expectation.ts';
import { nodeSimilarity } from './match.ts';
import type { SeenShape } from './visibility.ts';

const STUFFED = 0.5;
const STUFFED_LABELS = 2;
const EXEMPT_SIMILARITY = 0.85;
const ARROW_SHARE = 0.5;
const ACTIONS_PER_ITEM = 4;
const SPARE_ACTIONS = 10;

export interface HackFactors {
  /** 0.5 if a label is stuffed, else 1. */
  readonly stuffing: number;
  /** 1 - xs / (n + xs) */
  readonly extra_shapes: number;
  /** 1 - 0.5 xa / (m + xa) */
  readonly extra_arrows: number;
  /** min(1, budget / actions) */
  readonly action_budget: number;
}

export interface Counts {
  /** Expected shapes and arrows: n, m. */
  readonly nodes: number;
  readonly edges: number;
  /** Drawn ones that nothing asks for: xs, xa. */
  readonly extraShapes: number;
  readonly extraArrows: number;
  /** Actions of the last batch, and how many are enough. */
  readonly actions: number;
  readonly budget: number;
}

export function hackFactors(isStuffed: boolean, counts: Counts): HackFactors {
  const { nodes, edges, extraShapes, extraArrows, actions, budget } = counts;
  return {
    stuffing: isStuffed ? STUFFED : 1,
    extra_shapes: extraShapes === 0 ? 1 : 1 - extraShapes / (nodes + extraShapes),
    extra_arrows: extraArrows === 0 ? 1 : 1 - (ARROW_SHARE * extraArrows) / (edges + extraArrows),
    action_budget: actions <= budget ? 1 : budget / actions,
  };
}

/** 4 (n + m) + 10 */
export const actionBudget = (nodes: number, edges: number): number =>
  ACTIONS_PER_ITEM * (nodes + edges) + SPARE_ACTIONS;

/** Shapes, hidden or not, whose label holds two or more expected labels and is like none of them. */
export function stuffedShapes(graph: ExpectedGraph, shapes: readonly SeenShape[]): SeenShape[] {
  const known = new Set(graph.texts);
  return shapes.filter(
    (shape) =>
      !known.has(shape.label.text) &&
      holdsSeveral(shape.label.text, graph.texts) &&
      graph.nodes.every((node) => nodeSimilarity(node, shape) < EXEMPT_SIMILARITY),
  );
}

/** Longest first, each found one is taken out, so that "User" inside "User Service" is not a second one. */
function holdsSeveral(label: string, texts: readonly string[]): boolean {
  let rest = label;
  let found = 0;
  for (const text of texts) {
    const at = indexOfWhole(rest, text);
    if (at < 0) continue;
    if (++found >= STUFFED_LABELS) return true;
    rest = `${rest.slice(0, at)}\n${rest.slice(at + text.length)}`;
  }
  return false;
}

/** Letters and digits of scripts that put spaces between words. */
const WORD_CHARACTER =
  /[^\P{L}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]|\p{N}|\p{M}/u;

/** Position of a text in a label where it is not part of a longer word; -1 for none. */
function indexOfWhole(label: string, text: string): number {
  if (text === '') return -1;
  for (let at = label.indexOf(text); at >= 0; at = label.indexOf(text, at + 1)) {
    const end = at + text.length;
    if (!joins(label.charAt(at - 1), text.charAt(0)) && !joins(text.charAt(text.length - 1), label.charAt(end)))
      return at;
  }
  return -1;
}

const joins = (before: string, after: string): boolean => WORD_CHARACTER.test(before) && WORD_CHARACTER.test(after);
