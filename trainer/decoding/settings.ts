/** Settings of how tokens are chosen, the same where a policy learns and where it is measured. */
import { z } from 'zod';
import type { ActionSet } from '../../schemas/action.ts';
import type { Preset } from '../../schemas/reward.ts';
import type { CutSettings } from './choose.ts';
import type { GrammarSettings } from './grammar.ts';

export const DecodingSettings = z.strictObject({
  top_p: z
    .number()
    .positive()
    .max(1)
    .default(1)
    .describe('Sample from the likeliest tokens that together have this probability; 1: from all'),
  top_k: z
    .number()
    .int()
    .min(0)
    .default(0)
    .meta({ description: 'Sample from this many of the likeliest; 0: from all', unit: 'tokens' }),
  stop: z.string().min(1).optional().describe('Text that ends a completion and is cut off it'),
  grammar: z.boolean().default(false).describe('Draw only tokens that can still become valid actions'),
});
export type DecodingSettings = z.output<typeof DecodingSettings>;

/** What a policy is given of them. */
export interface Decoding extends CutSettings {
  readonly stop: readonly string[];
  readonly grammar: GrammarSettings | undefined;
}

/** Most actions that a preset reads, see server/canvas/limits.ts. */
const MAX_ACTIONS: Readonly<Record<Preset, number>> = { weak: 40, article: 40, stronger: 40, graded: 200 };

/** For episodes under a reward preset with an action set. */
export function toDecoding(
  { top_p, top_k, stop, grammar }: DecodingSettings,
  { reward, action_set }: { reward: Preset; action_set: ActionSet },
): Decoding {
  return {
    ...{ top_p, top_k, stop: stop === undefined ? [] : [stop] },
    grammar: grammar ? { action_set, max_actions: MAX_ACTIONS[reward] } : undefined,
  };
}
