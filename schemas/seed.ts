/**
 * Seeds and random streams. A seed is mixed by a hash from everything that names the item, never added up, so that
 * neighbouring seeds share nothing (reasoning-gym's `Random(seed + index)` overlaps in 499 of 499 neighbours).
 */
import { xoroshiro128plusFromState } from 'pure-rand/generator/xoroshiro128plus';

const MASK = (1n << 64n) - 1n;

/** splitmix64's finaliser (Steele, Lea, Flood 2014): a bijection of 64-bit integers. */
function mix64(value: bigint): bigint {
  let z = value & MASK;
  z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
  z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK;
  return z ^ (z >> 31n);
}

/** 64-bit hash of named parts, in order: FNV-1a over their UTF-8 text with lengths, then splitmix64. */
export function hash64(...parts: readonly (string | number | bigint)[]): bigint {
  let hash = 0xcbf29ce484222325n;
  const encoder = new TextEncoder();
  for (const part of parts) {
    const bytes = encoder.encode(`${typeof part}:${String(part)}`);
    for (const byte of [...bytes, 0]) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & MASK;
  }
  return mix64(hash);
}

/** A seeded stream of random numbers. */
export interface Rng {
  /** Uniform in [0, 1), 32 bits of resolution. */
  next(): number;
  /** Uniform integer in [low, high], both ends included. */
  int(low: number, high: number): number;
  /** One item of a non-empty list. */
  pick<T>(items: readonly T[]): T;
  /** A new list with the same items in random order (Fisher-Yates). */
  shuffle<T>(items: readonly T[]): T[];
  /** Standard normal (Box-Muller). */
  normal(): number;
  /** Four 32-bit integers that `restoreRng` takes up again. */
  state(): readonly number[];
}

/** A stream for a seed; equal seeds give equal streams. */
export function createRng(seed: bigint): Rng {
  const a = mix64(seed);
  const b = mix64(a ^ 0x9e3779b97f4a7c15n);
  const low = (value: bigint): number => Number(BigInt.asIntN(32, value));
  return restoreRng([low(a >> 32n), low(a), low(b >> 32n), low(b) | 1]);
}

/** Takes up a stream where `state()` left it. */
export function restoreRng(state: readonly number[]): Rng {
  const generator = xoroshiro128plusFromState(state);
  const next = (): number => (generator.next() >>> 0) / 2 ** 32;
  const int = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  const rng: Rng = {
    next,
    int,
    pick: <T>(items: readonly T[]): T => {
      if (items.length === 0) throw new RangeError('pick: the list is empty');
      return items[int(0, items.length - 1)] as T;
    },
    shuffle: <T>(items: readonly T[]): T[] => {
      const out = [...items];
      for (let i = out.length - 1; i > 0; i--) {
        const j = int(0, i);
        [out[i], out[j]] = [out[j] as T, out[i] as T];
      }
      return out;
    },
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
    state: () => generator.getState(),
  };
  return rng;
}
