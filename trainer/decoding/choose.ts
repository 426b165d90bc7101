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

/** Ids that a cut keeps, likeliest first, the lower id first among equals. */
export function keepLikeliest(p: Float32Array, { top_k = 0, top_p = 1 }: CutSettings, mask?: TokenMask): number[] {
  const least = leastKept(p, top_k, top_p);
  const candidates: number[] = [];
  p.forEach((value, id) => {
    if (value >= least && (mask === undefined || isAllowed(mask, id))) candidates.push(id);
  });
  candidates.sort((a, b) => p[b]! - p[a]! || a - b);
  const likeliest = top_k === 0 ? candidates : candidates.slice(0, top_k);
  if (top_p === 1) return likeliest;
  const whole = top_k === 0 ? 1 : likeliest.reduce((sum, id) => sum + p[id]!, 0);
  let mass = 0;
  const last = likeliest.findIndex((id) => (mass += p[id]!) >= top_p * whole);
  return last < 0 ? likeliest : likeliest.slice(0, last + 1);
}

/** A probability below which no token is kept, so that few have to be sorted. */
function leastKept(p: Float32Array, topK: number, topP: number): number {
  if (topK > 0 && topK < p.length) return Float32Array.from(p).sort()[p.length - topK]!;
  return (1 - topP) / (2 * p.length); // all that are less likely together do not have 1 - topP
}
