/**
 * An episode played by tool calls, one action each, on the same `reset` and `step` as everything else. The reward is that of
 * the drawing when it is submitted, or when the last allowed call was made: R of the canvas in [0, 1]; calls before that
 * have none. A call that is refused uses up its turn and costs nothing else. Pure: all there is to know is in the state, which
 * a protocol keeps where it likes; it is not signed, since a protocol that lets it leave the server signs what it sends.
 */
import type { State } from '../../../schemas/episode.ts';
import type { ResetRequest } from '../../../schemas/requests.ts';
import type { ResetResponse, StepResponse } from '../../../schemas/responses.ts';
import { SUBMIT_TOOL, TOOL_NAMES, toolCallToOutput } from '../../../schemas/tools.ts';
import type { Environment } from '../../context.ts';
import { ApiError, suggest } from '../../errors.ts';
import { UNSIGNED } from '../../state.ts';
import { excessOf } from './limits.ts';

/** Tool calls an episode may take unless the request says otherwise. */
export const DEFAULT_MAX_CALLS = 100;

export interface ToolResult {
  /** With a `stop_reason` once finished. */
  state: State;
  /** False where the call was refused, wholly or in part, and `text` says why. */
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
export function startToolEpisode(request: ResetRequest, environment: Pick<Environment, 'reset'>): ResetResponse {
  const { max_turns = DEFAULT_MAX_CALLS } = request;
  return environment.reset({ ...request, max_turns, action_set: 'editor' }, UNSIGNED);
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

function toResult(answer: StepResponse, isLast: boolean, errors: Errors = answer.observation.errors): ToolResult {
  const finished = isLast || answer.done;
  const { state, observation } = answer;
  const reward = finished ? state.value : null;
  return {
    state: finished ? { ...state, stop_reason: state.stop_reason ?? 'submitted' } : state,
    ok: errors.length === 0,
    text: describe(answer, errors, finished, reward),
    finished,
    reward,
    components: observation.reward_components,
  };
}

/** The drawing as it is after a call that is not taken, or a submission that brings nothing. */
function leaveDrawing(state: State, isLast: boolean, errors: Errors, { step }: Pick<Environment, 'step'>): ToolResult {
  const unchanged = isLast ? { type: 'done' } : { type: 'select', ids: state.selected };
  return toResult(step({ state, action: { actions: [unchanged] } }, UNSIGNED), isLast, errors);
}

/**
 * Makes a call that is not taken: it uses up its turn, changes nothing, and a submission submits what is drawn.
 * @param reason For the model.
 */
export function refuseCall(
  state: State,
  name: string,
  reason: string,
  environment: Pick<Environment, 'step'>,
): ToolResult {
  return leaveDrawing(state, name === SUBMIT_TOOL, [{ message: reason }], environment);
}

/**
 * Whether nothing of a turn went on a canvas that holds a drawing: scored as the turn it was, its faults would make the
 * drawing worth nothing. On an empty canvas they are all there is to score.
 */
function isIdle(before: State, { observation, stop_reason }: StepResponse): boolean {
  const actions = observation.applied - (stop_reason === 'submitted' ? 1 : 0);
  return before.canvas.shapes.length > 0 && actions === 0 && observation.errors.length > 0;
}

/** That a name is no tool, and which are. */
export function unknownTool(name: string): string {
  const hint = suggest(name, [...TOOL_NAMES]) || `; tools are ${[...TOOL_NAMES].join(', ')}`;
  return `no tool ${JSON.stringify(name.slice(0, 60))}${hint}`;
}

/**
 * Makes one call of a tool. Bad arguments are told, never an error. What is refused of a call leaves the canvas as it was;
 * only the faults of a submission that brings actions, some of which are applied, count in its reward.
 * @throws ApiError invalid_request for a name that is no tool, episode_over.
 */
export function callTool(
  state: State,
  name: string,
  input: unknown,
  environment: Pick<Environment, 'step'>,
): ToolResult {
  if (!TOOL_NAMES.has(name)) throw new ApiError('invalid_request', unknownTool(name), { place: ['name'] });
  const excess = excessOf(name, input);
  if (excess !== undefined) return refuseCall(state, name, excess, environment);
  const answer = environment.step({ state, action: toolCallToOutput(name, input) }, UNSIGNED);
  const isLast = name === SUBMIT_TOOL;
  if (isIdle(state, answer)) return leaveDrawing(state, isLast, answer.observation.errors, environment);
  return toResult(answer, isLast);
}

/**
 * Ends the episode with an answer that is no tool call. Before any call it is a whole completion, scored as a step of a
 * single turn scores it. Later its actions go on the canvas; where it has none ("Done!"), what was drawn is submitted.
 * @throws ApiError episode_over.
 */
export function answerInWords(state: State, completion: string, environment: Pick<Environment, 'step'>): ToolResult {
  const { task_id, task, reward } = state;
  if (state.turn === 0)
    return toResult(environment.step({ task_id, task, reward, action: completion }, UNSIGNED), true);
  const answer = environment.step({ state, action: completion }, UNSIGNED);
  if (answer.info.parse?.outcome === 'none') return callTool(state, SUBMIT_TOOL, {}, environment);
  if (isIdle(state, answer)) return leaveDrawing(state, true, answer.observation.errors, environment);
  return toResult(answer, true);
}
