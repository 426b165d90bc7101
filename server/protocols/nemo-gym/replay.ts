/**
 * A rollout's tool calls, one after the other. The same function takes a call while the rollout goes on and when /verify
 * draws the calls of a finished response, so that a model is told what it will be scored by.
 */
import type { State } from '../../../schemas/episode.ts';
import type { NemoToolResponse } from '../../../schemas/protocols/nemo-gym.ts';
import type { ResetRequest } from '../../../schemas/requests.ts';
import { SUBMIT_TOOL, type ToolCall } from '../../../schemas/tools.ts';
import type { Environment } from '../../context.ts';
import { isTooLarge } from './session.ts';
import { answerInWords, callTool, refuseCall, startToolEpisode, type ToolResult } from '../tools/episode.ts';

const SUBMITTED = 'The drawing is submitted.';
const OVER = 'The drawing is submitted; no more calls are taken.';
export const TOO_LARGE = 'Not taken: the canvas would hold more than fits. Submit the drawing, or delete something.';

/** Takes one call of a tool of ours. One that is refused uses up its turn. */
function takeCall(state: State, { name, input }: ToolCall, environment: Pick<Environment, 'step'>): ToolResult {
  const result = callTool(state, name, input, environment);
  const fits = result.finished || !isTooLarge(result.state.canvas);
  return fits ? result : refuseCall(state, name, TOO_LARGE, environment);
}

/** Takes one call of a tool of ours while the rollout goes on, or says that it is over. */
export function answerCall(
  state: State,
  call: ToolCall,
  environment: Pick<Environment, 'step'>,
): { state: State; answer: NemoToolResponse } {
  if (state.stop_reason !== undefined) return { state, answer: { ok: false, message: OVER, done: true } };
  const { state: next, ok, finished, text } = takeCall(state, call, environment);
  return { state: next, answer: { ok, message: finished ? SUBMITTED : text, done: finished } };
}

export interface Replayed {
  /** R of the canvas at the end, in [0, 1]. */
  reward: number;
  components: Readonly<Record<string, number>>;
}

/**
 * What calls draw is worth: what is not submitted when they end is submitted then.
 * @param calls One at least, all of tools of ours; those after a submission, or after the last allowed one, do not count.
 * @param words What the model wrote after the last of them, '' for nothing: actions in it go on the canvas.
 */
export function replay(
  start: ResetRequest,
  calls: readonly ToolCall[],
  words: string,
  environment: Pick<Environment, 'reset' | 'step'>,
): Replayed {
  let { state } = startToolEpisode(start, environment);
  for (const call of calls) {
    const { state: next, finished, components } = takeCall(state, call, environment);
    if (finished) return { reward: next.value, components };
    state = next;
  }
  const last = words === '' ? callTool(state, SUBMIT_TOOL, {}, environment) : answerInWords(state, words, environment);
  return { reward: last.state.value, components: last.components };
}
