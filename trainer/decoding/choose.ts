/**
 * Choosing one token from a distribution: greedy, from all, or from the likeliest alone (top-k, then top-p of what that
 * leaves). What is drawn after a cut comes from the distribution renormalised over the tokens that were kept, and the
 * log-probability given is of that one.
 */
import { createTokenMask, isAllowed, type TokenMask } from '../model/token-mask.ts';

export interface CutSettings {
  /** Draws from the `top_k` likeliest tokens (Fan, Lewis, Dauphin 2018, arXiv 1805.04833); 0 or absent: from all. */
  readonly top_k?: number | undefined;
  /**
   * Draws from the fewest likeliest tokens that together have this probability, in (0, 1] (Holtzman et al. 2020, arXiv
   * 1904.09751); 1 or absent: from all.
   */
  readonly top_p?: number | undefined;
}

/** @throws RangeError for a cut that means nothing */
export function assertCut({ top_k = 0, top_p = 1 }: CutSettings): void {
  if (!Number.isInteger(top_k) || top_k < 0) throw new RangeError(`top_k ${top_k} is no whole number from 0`);
  if (!(top_p > 0 && top_p <= 1)) throw new RangeError(`top_p ${top_p} is not over 0 and at most 1`);
}

/** A distribution over the vocabulary: probabilities p [V] = softmax of logits z [V], of the tokens in `mask`. */
export interface Distribution {
  readonly p: Float32Array;
  readonly z: Float32Array;
  /** Tokens that a grammar allows; p is 0 elsewhere. */
  readonly mask?: TokenMask | undefined;
}

export interface Choice {
  readonly id: number;
  /** Natural log of its probability among the tokens it could be drawn from. */
  readonly logprob: number;
  /** Those tokens; undefined for all. */
  readonly mask: TokenMask | undefined;
}

/** The likeliest token, with its log-probability in the distribution. */
export function chooseGreedily(distribution: Distribution): Choice {
  return toChoice(distribution, argMax(distribution.p));
}

/** Draws by `u` in [0, 1). */
export function chooseAtRandom(distribution: Distribution, u: number, cut: CutSettings): Choice {
  const { p, mask } = distribution;
  const { top_k = 0, top_p = 1 } = cut;
  if (top_p === 1 && (top_k === 0 || top_k >= p.length)) return toChoice(distribution, pickIndex(p, u));
  const kept = keepLikeliest(p, cut, mask);
  const mass = kept.reduce((sum, id) => sum + p[id]!, 0);
  let rest = u * mass;
  const id = kept.find((candidate) => (rest -= p[candidate]!) < 0) ?? kept[0]!; // rounding used all of the sum up
  return toChoice(distribution, id, { kept, mass });
}

function toChoice({ p, z, mask }: Distribution, id: number, cut?: { kept: readonly number[]; mass: number }): Choice {
  const best = argMax(p);
  // The largest probability is 1 / sum(exp(z - max)), so this is z - logsumexp(z) without the log of a small number.
  const logprob = z[id]! - z[best]! + Math.log(p[best]!);
  if (cut === undefined) return { id, logprob: Math.fround(logprob), mask };
  return { id, logprob: Math.fround(logprob - Math.log(cut.mass)), mask: createTokenMask(p.length, cut.kept) };
}

function argMax(values: Float32Array): number {
  let best = 0;
  for (let i = 1; i < values.length; i++) if (values[i]! > values[best]!) best = i;
  return best;
}

/** The index whose cumulative probability passes u in [0, 1). */
export function pickIndex(p: Float32Array, u: number): number {
  let rest = u * p.reduce((sum, value) => sum + value, 0);
  for (let i = 0; i < p.length; i++) {
    rest -= p[i]!;
    if (rest < 0) return i;
  }
  return argMax(p); // rounding used all of the sum up
}

/** Ids that a cut keeps, ascending. Of equally likely tokens at its border it keeps those with lower ids. */
export function keepLikeliest(p: Float32Array, cut: CutSettings, mask?: TokenMask): number[] {
  const sorted = Float32Array.from(p).sort();
  const count = countKept(sorted, cut);
  const least = sorted[p.length - count]!;
  let ties = count - countAbove(sorted, least);
  const kept: number[] = [];
  p.forEach((value, id) => {
    if (value < least || (mask !== undefined && !isAllowed(mask, id))) return;
    if (value > least || ties-- > 0) kept.push(id);
  });
  return kept;
}

/** How many of the probabilities, given in ascending order, are kept; at least one. */
function countKept(sorted: Float32Array, { top_k = 0, top_p = 1 }: CutSettings): number {
  const most = top_k === 0 ? sorted.length : Math.min(top_k, sorted.length);
  if (top_p === 1) return most;
  const from = sorted.length - most;
  const enough = top_p * sorted.subarray(from).reduce((sum, value) => sum + value, 0);
  let mass = 0;
  for (let i = sorted.length - 1; i >= from; i--) if ((mass += sorted[i]!) >= enough) return sorted.length - i;
  return most;
}

function countAbove(sorted: Float32Array, least: number): number {
  return sorted.length - 1 - sorted.lastIndexOf(least);
}
