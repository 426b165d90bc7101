/** Scoring many completions at once, in requests that stay within the batch limit of /score. */
import type { Client } from '../clients/ts/index.ts';
import type { ActionError, Components, Preset } from '../schemas/reward.ts';

export interface Scored {
  /** null where the server failed; never a stand-in for 0. */
  reward: number | null;
  components: Components;
  errors: ActionError[];
}

/** Completions of one request; the server takes 4,096. */
const BATCH = 1024;

/**
 * The reward of each completion for its task, in order.
 * @throws the client's errors where the server refuses or cannot be reached
 */
export async function scoreCompletions(
  client: Client,
  items: readonly { task_id: string; completion: string }[],
  reward: Preset,
): Promise<Scored[]> {
  const scored: Scored[] = [];
  for (let start = 0; start < items.length; start += BATCH) {
    const part = items.slice(start, start + BATCH);
    const { rewards, components, errors } = await client.score({
      completions: part.map(({ completion }) => completion),
      context: { task_id: part.map(({ task_id }) => task_id) },
      reward,
    });
    part.forEach((_, i) => scored.push({ reward: rewards[i]!, components: components[i]!, errors: errors[i]! }));
  }
  return scored;
}
