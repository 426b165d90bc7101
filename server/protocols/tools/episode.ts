/**
 * An episode played by tool calls, one action each, on the same `reset` and `step` as everything else. The reward is that of
 * the drawing when it is submitted, or when the last allowed call was made: R of the canvas in [0, 1]; calls before that
 * have none. Pure: all there is to know is in the state, which a protocol keeps where it likes.
 */
import type { State } from '../../../schemas/episode.ts';
import type { ResetRequest } from '../../../schemas/requests.ts';
import type { ResetResponse, StepResponse } from '../../../schemas/responses.ts';
import { SUBMIT_TOOL, TOOL_NAMES, toolCallToOutput } from '../../../schemas/tools.ts';
import { reset, step } from '../../episode.ts';
import { ApiError, suggest } from '../../errors.ts';
import type { Environment } from '../../context.ts';
import type { Signer } from '../../state.ts';
import { excessOf } from './limits.ts';

/** Tool calls an episode may take unless the request says otherwise. */
export const DEFAULT_MAX_CALLS = 100;

export interface ToolResult {
  state: State;
  /** False where the call was refused: nothing on the canvas changed by it, and `text` says why. */
  ok: boolean;
  /** What the model is told. */
  text: string;
  finished: boolean;
  /** In [0, 1] once finished, null before. */
  reward: number | null;
  components: Readonly<Record<string, number>>;
}

/**
 * Begins an episode of tool calls.
 * @throws ApiError invalid_request, unknown_task.
 */
export function startToolEpisode(
  request: ResetRequest,
  signer: Signer,
  environment: Pick<Environment, 'reset'> = { reset },
): ResetResponse {
  return environment.reset(
    { ...request, max_turns: request.max_turns ?? DEFAULT_MAX_CALLS, action_set: 'editor' },
    signer,
  );
}

type Errors = readonly { message: string }[];

function describe(
  { observation, info }: StepResponse,
  errors: Errors,
  finished: boolean,
  reward: number | null,
): string {
  const { shapes, arrows } = observation.canvas;
  const lines = errors.map(({ message }) => message);
  lines.push(`The canvas holds ${shapes.length} shape(s) and ${arrows.length} arrow(s).`);
  if (!finished) return [...lines, ...observation.lints.map(({ message }) => message)].join('\n');
  lines.push(`Reward: ${String(reward)}`, ...info.reasons.map(({ message }) => message));
  return lines.join('\n');
}

function toResult(answer: StepResponse, finished: boolean, errors: Errors = answer.observation.errors): ToolResult {
  const reward = finished ? answer.state.value : null;
  return {
    state: answer.state,
    ok: errors.length === 0,
    text: describe(answer, errors, finished, reward),
    finished,
    reward,
    components: answer.observation.reward_components,
  };
}

/**
 * Makes a call that is not taken: it uses up its turn, changes nothing, and a submission submits what is drawn.
 * @param reason For the model.
 */
export function refuseCall(
  state: State,
  name: string,
  reason: string,
  signer: Signer,
  environment: Pick<Environment, 'step'>,
): ToolResult {
  const unchanged = { actions: [{ type: 'select', ids: state.selected }] };
  const answer = environment.step({ state, action: unchanged }, signer);
  return toResult(answer, answer.done || name === SUBMIT_TOOL, [{ message: reason }]);
}

/**
 * Makes one call of a tool. Bad arguments are graded, never refused; too long ones are not taken.
 * @throws ApiError invalid_request for a name that is no tool, episode_over, state_changed.
 */
export function callTool(
  state: State,
  name: string,
  input: unknown,
  signer: Signer,
  environment: Pick<Environment, 'step'> = { step },
): ToolResult {
  if (!TOOL_NAMES.has(name)) {
    const hint = suggest(name, [...TOOL_NAMES]) || `; tools are ${[...TOOL_NAMES].join(', ')}`;
    throw new ApiError('invalid_request', `no tool ${JSON.stringify(name.slice(0, 60))}${hint}`, { place: ['name'] });
  }
  const excess = excessOf(state.canvas, name, input);
  if (excess !== undefined) return refuseCall(state, name, excess, signer, environment);
  const answer = environment.step({ state, action: toolCallToOutput(name, input) }, signer);
  return toResult(answer, answer.done || name === SUBMIT_TOOL);
}

/**
 * Ends the episode with an answer that is no tool call. Before any call it is a whole completion, scored as a step of a
 * single turn scores it. Later its actions go on the canvas; where it has none ("Done!"), what was drawn is submitted.
 * @throws ApiError episode_over, state_changed.
 */
export function answerInWords(
  state: State,
  completion: string,
  signer: Signer,
  environment: Pick<Environment, 'step'> = { step },
): ToolResult {
  const { task_id, task, reward } = state;
  if (state.turn === 0) return toResult(environment.step({ task_id, task, reward, action: completion }, signer), true);
  const answer = environment.step({ state, action: completion }, signer);
  if (answer.info.parse?.outcome === 'none') return callTool(state, SUBMIT_TOOL, {}, signer, environment);
  return toResult(answer, true);
}
