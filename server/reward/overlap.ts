/** Pairs of shapes whose boxes intersect; touching edges count (article.md). */
import type { Shape } from '../../schemas/canvas.ts';
import { firstFew } from './reasons.ts';

/** What each pair costs in the presets `article` and `stronger`. */
export const OVERLAP_COST = 0.15;

const NAMED_PAIRS = 5;

export interface Touching {
  count: number;
  /** The first few pairs by their ids. */
  pairs: readonly string[];
}

/** Quadratic in the number of shapes: 500 of them are 125 thousand comparisons, under a millisecond. */
export function touchingPairs(shapes: readonly Shape[]): Touching {
  let count = 0;
  const pairs: string[] = [];
  for (let i = 0; i < shapes.length; i++) {
    const a = shapes[i]!;
    const right = a.x + a.w;
    const bottom = a.y + a.h;
    for (let j = i + 1; j < shapes.length; j++) {
      const b = shapes[j]!;
      if (right < b.x || b.x + b.w < a.x || bottom < b.y || b.y + b.h < a.y) continue;
      count++;
      if (pairs.length < NAMED_PAIRS) pairs.push(`${a.id} and ${b.id}`);
    }
  }
  return { count, pairs };
}

export function overlapMessage({ count, pairs }: Touching): string {
  return `${count} pair(s) of boxes overlap or touch: ${firstFew(pairs, count)}; leave space between them`;
}
