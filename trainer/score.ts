/** Scoring many completions at once, in requests that stay within the batch limit of /score. */
import type { Client } from '../clients/ts/index.ts';
import type { Completion } from '../schemas/completion.ts';
import type { ActionError, Components, HeldOut, Preset } from '../schemas/reward.ts';

export interface Scored {
  /** null where the server failed; never a stand-in for 0. */
  reward: number | null;
  components: Components;
  errors: ActionError[];
}

export interface ToScore {
  task_id: string;
  completion: Completion;
  /** `length` where the text was cut; then it is not scored as whole. */
  finish_reason?: string | null;
}

/** Completions of one request; the server takes 4,096. */
const BATCH = 1024;

/**
 * The reward of each completion for its task, in order.
 * @throws the client's errors where the server refuses or cannot be reached
 */
export async function scoreCompletions(client: Client, items: readonly ToScore[], reward: Preset): Promise<Scored[]> {
  const scored: Scored[] = [];
  for (let start = 0; start < items.length; start += BATCH) {
    const part = items.slice(start, start + BATCH);
    const { rewards, components, errors } = await client.score({ ...toColumns(part), reward });
    part.forEach((_, i) => scored.push({ reward: rewards[i]!, components: components[i]!, errors: errors[i]! }));
  }
  return scored;
}

/**
 * The held-out measures of each completion for its task, in order, with the reward after renaming under `reward`; null
 * where the task has no expectation.
 * @throws Error where the server could not measure one; the client's errors
 */
export async function scoreHeldOut(
  client: Client,
  items: readonly ToScore[],
  reward: Preset,
): Promise<(HeldOut | null)[]> {
  const measured: (HeldOut | null)[] = [];
  for (let start = 0; start < items.length; start += BATCH) {
    const part = items.slice(start, start + BATCH);
    const { held_out = [], rewards } = await client.score({ ...toColumns(part), reward, held_out: true });
    const failed = rewards.indexOf(null);
    if (failed >= 0) throw new Error(`the server could not measure ${part[failed]!.task_id}`);
    if (held_out.length < part.length) throw new Error('the server is too old to answer held-out measures');
    measured.push(...held_out);
  }
  return measured;
}

function toColumns(items: readonly ToScore[]) {
  return {
    completions: items.map(({ completion }) => completion),
    context: {
      task_id: items.map(({ task_id }) => task_id),
      finish_reason: items.map(({ finish_reason }) => finish_reason ?? null),
    },
  };
}
