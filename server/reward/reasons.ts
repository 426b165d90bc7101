/** Helpers for the reasons that come with a reward. */
import type { Reason } from '../../schemas/reward.ts';

const NAMED = 5;
const LABEL_LENGTH = 40;

/** Reasons that cost anything, largest loss first; equal losses keep their order. */
export function byLoss(reasons: readonly Reason[]): Reason[] {
  return reasons.filter((reason) => reason.lost > 0).sort((a, b) => b.lost - a.lost);
}

/** The first few items, shortened, and how many more of the total there are. */
export function firstFew(items: readonly string[], total: number = items.length): string {
  const named = items.slice(0, NAMED).map(shorten);
  return named.join(', ') + (total > named.length ? ` and ${total - named.length} more` : '');
}

function shorten(item: string): string {
  return item.length > LABEL_LENGTH ? `${item.slice(0, LABEL_LENGTH)}...` : item;
}
