/** A turn as the environment answered it, as a row of `steps`. */
import type { Action } from '../../schemas/action.ts';
import type { Observation } from '../../schemas/episode.ts';
import type { Info } from '../../schemas/responses.ts';
import type { StepRecord } from './rows.ts';

/** What the policy saw and said, and what came back. */
export interface Turn {
  observation: Observation;
  completion: {
    text: string;
    finish_reason?: string;
    prompt_ids?: readonly number[];
    completion_ids?: readonly number[];
    sampled_logprobs?: readonly number[];
  };
  reward: number | null;
  next_observation: Observation;
  info: Info;
}

/** The actions in the order they were sent: the refused ones at their places, the applied ones between them. */
function parsedActions({ parse, applied, rejected }: Info): Record<string, unknown>[] | null {
  if (parse === null || parse.outcome === 'none') return null;
  const rest: Action[] = [...applied];
  const refused = new Map(rejected.map(({ index, action }) => [index, action]));
  return Array.from({ length: applied.length + rejected.length }, (_, i) => refused.get(i) ?? { ...rest.shift() });
}

export function toStepRecord({ observation, completion, reward, next_observation: after, info }: Turn): StepRecord {
  const { text, ...sampled } = completion;
  return {
    ...sampled,
    observation,
    action: text,
    parsed: parsedActions(info),
    applied: info.applied,
    rejected: info.rejected,
    errors: after.errors,
    canvas: after.canvas,
    reward,
    components: after.reward_components,
    reasons: info.reasons,
  };
}
