/**
 * A rollout's tool calls, one after the other. The same function takes a call while the rollout goes on and when /verify
 * draws the calls of a finished response, so that a model is told what it will be scored by.
 */
import type { State } from '../../../schemas/episode.ts';
import type { NemoToolResponse } from '../../../schemas/protocols/nemo-gym.ts';
import type { ResetRequest } from '../../../schemas/requests.ts';
import type { Environment } from '../../context.ts';
import type { FunctionCall } from './row.ts';
import { isTooLarge } from './session.ts';
import { answerInWords, callTool, refuseCall, startToolEpisode, type ToolResult } from '../tools/episode.ts';

export interface Taken {
  state: State;
  answer: NemoToolResponse;
  /** Of the canvas after the call, where the call was taken. */
  components?: Readonly<Record<string, number>>;
}

const SUBMITTED = 'The drawing is submitted.';
const OVER = 'The drawing is submitted; no more calls are taken.';
export const TOO_LARGE = 'Not taken: the canvas would hold more than fits. Submit the drawing, or delete something.';

function toTaken({ state, ok, finished, text, components }: ToolResult): Taken {
  const answer = { ok, message: finished ? SUBMITTED : text, done: finished };
  return { state, answer, components };
}

/** Takes one call of a tool of ours. One that is refused uses up its turn. */
export function takeCall(state: State, name: string, input: unknown, environment: Pick<Environment, 'step'>): Taken {
  if (state.stop_reason !== undefined) return { state, answer: { ok: false, message: OVER, done: true } };
  const result = callTool(state, name, input, environment);
  const fits = result.finished || !isTooLarge(result.state.canvas);
  return toTaken(fits ? result : refuseCall(state, name, TOO_LARGE, environment));
}

export interface Replayed {
  /** R of the canvas at the end, in [0, 1]. */
  reward: number;
  components: Readonly<Record<string, number>>;
}

/**
 * What calls draw is worth, whether it was submitted or not.
 * @param calls One at least, all of tools of ours.
 * @param words What the model wrote after the last of them, '' for nothing: actions in it go on the canvas.
 */
export function replay(
  start: ResetRequest,
  calls: readonly FunctionCall[],
  words: string,
  environment: Pick<Environment, 'reset' | 'step'>,
): Replayed {
  let { state } = startToolEpisode(start, environment);
  let components: Replayed['components'] = {};
  for (const { name, input } of calls) {
    if (state.stop_reason !== undefined) break;
    const taken = takeCall(state, name, input, environment);
    state = taken.state;
    components = taken.components ?? components;
  }
  if (state.stop_reason !== undefined || words === '') return { reward: state.value, components };
  const last = answerInWords(state, words, environment);
  return { reward: last.state.value, components: last.components };
}
