/** The golden vectors that the benchmarks send: the first 200. */
import { readText } from '../rules/files.ts';

export interface Vector {
  prompt: string;
  completion: string;
  reward: number;
}

export const VECTORS_PATH = 'test/data/vectors/article.jsonl';

export function benchVectors(): Vector[] {
  const lines = readText(VECTORS_PATH).trim().split('\n').slice(0, 200);
  return lines.map((line) => JSON.parse(line) as Vector);
}

export function assertRewards(who: string, got: readonly (number | null)[], vectors: readonly Vector[]): void {
  const wrong = vectors.findIndex((vector, i) => !(Math.abs((got[i] ?? Number.NaN) - vector.reward) <= 1e-12));
  if (wrong !== -1)
    throw new Error(`${who}: reward ${got[wrong]} instead of ${vectors[wrong]?.reward} for vector ${wrong}`);
}
