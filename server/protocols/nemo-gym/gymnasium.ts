/**
 * NeMo Gym's Gymnasium protocol: an episode of this environment in which a response of the model is one turn, whether it
 * writes its actions or calls them as functions. The state travels in the session's cookie; an inline task comes with the row
 * of each request. Rewards are those of the environment, so that their sum is what an agent of theirs adds up.
 */
import { toModelOutput } from '../../../schemas/completion.ts';
import type { State } from '../../../schemas/episode.ts';
import type { NemoResetRequest, NemoResponse } from '../../../schemas/protocols/nemo-gym.ts';
import type { StepRequest } from '../../../schemas/requests.ts';
import type { StepResponse } from '../../../schemas/responses.ts';
import { actionsOfCall, TOOL_NAMES, toolCallsToOutput } from '../../../schemas/tools.ts';
import type { Context, Environment, Handlers } from '../../context.ts';
import { UNSIGNED } from '../../state.ts';
import { TOO_LARGE } from './replay.ts';
import { finishReason, functionCalls, lastMessage, taskOfRow, type FunctionCall, type RowTask } from './row.ts';
import { isTooLarge, withCookie, type NemoSessions } from './session.ts';

/** What is told of each call: the faults of its own actions, and those of the whole turn. */
function toToolOutputs(calls: readonly FunctionCall[], { observation }: StepResponse) {
  let start = 0;
  return calls.map((call) => {
    const end = start + actionsOfCall(call).length;
    const faults = observation.errors.filter(({ index }) => index === undefined || (index >= start && index < end));
    const texts = TOOL_NAMES.has(call.name) ? faults.map(({ message }) => message) : [`no tool ${call.name}`];
    start = end;
    return { call_id: call.call_id, output: texts.join('\n') || 'ok' };
  });
}

/** What the model did in a turn: the actions it called, else the text it wrote. */
function actionOf(response: NemoResponse, calls: readonly FunctionCall[]): unknown {
  return calls.length === 0 ? toModelOutput(lastMessage(response)) : toolCallsToOutput(calls);
}

function describe({ observation, info }: StepResponse): string {
  const { errors, lints, canvas } = observation;
  const lines = [...errors, ...info.reasons, ...lints].map(({ message }) => message);
  return [...lines, `The canvas: ${JSON.stringify(canvas)}`].join('\n');
}

function toAnswer(step: StepResponse, calls: readonly FunctionCall[]) {
  const { reward, terminated, truncated, done, observation } = step;
  const terms = Object.entries(observation.reward_components).map(([name, value]) => [`reward/${name}`, value]);
  const info = {
    ...(Object.fromEntries(terms) as Record<string, number>),
    stop_reason: step.stop_reason,
    ...(calls.length > 0 ? { tool_outputs: toToolOutputs(calls, step) } : {}),
  };
  return { observation: done ? null : describe(step), reward, terminated, truncated, info };
}

/** A turn that is not taken: it is used up, and changes nothing. Nothing of it is applied, whatever the action set allows. */
function refuseTurn(state: State, { step }: Pick<Environment, 'step'>): StepResponse {
  const action = { actions: [{ type: 'select', ids: state.selected }] };
  const answer = step({ state: { ...state, action_set: 'editor' }, action }, UNSIGNED);
  const errors = [{ code: 'canvas_too_large', message: TOO_LARGE }];
  return {
    ...answer,
    observation: { ...answer.observation, errors },
    state: { ...answer.state, action_set: state.action_set },
  };
}

/** One turn, unless the canvas would be more than a cookie carries on. */
function takeTurn(request: StepRequest & { state: State }, environment: Pick<Environment, 'step'>): StepResponse {
  const answer = environment.step(request, UNSIGNED);
  const fits = answer.done || !isTooLarge(answer.state.canvas);
  return fits ? answer : refuseTurn(request.state, environment);
}

/** The state with the task's words, which the cookie leaves out. */
function withWords(state: State, { task, prompt }: RowTask): State {
  if (state.task_id !== undefined) return state;
  return { ...state, task: task ?? { prompt: prompt ?? '' } };
}

function asksAlready({ responses_create_params: { input } }: NemoResetRequest): boolean {
  return typeof input === 'string' ? input !== '' : Array.isArray(input) && input.length > 0;
}

export function gymnasiumHandlers({ environment, metrics }: Context, sessions: NemoSessions) {
  return {
    nemo_reset: ({ body }) => {
      const max_turns = body.max_turns ?? 1;
      const action_set = body.action_set ?? (max_turns > 1 ? 'editor' : 'core');
      const start = { ...taskOfRow(body), reward: body.reward_preset ?? undefined, max_turns, action_set };
      const { observation, state } = environment.reset(start, UNSIGNED);
      const answer = { observation: asksAlready(body) ? null : observation.prompt, info: {} };
      return withCookie(answer, sessions.begin(state));
    },
    nemo_step: ({ body }, call) => {
      const state = withWords(sessions.read(call), taskOfRow(body));
      const calls = functionCalls(body.response);
      const request = { state, action: actionOf(body.response, calls), finish_reason: finishReason(body.response) };
      const answer = takeTurn(request, environment);
      metrics.countCompletions(answer.state.reward, 1);
      return withCookie(toAnswer(answer, calls), sessions.carry(answer.state));
    },
    nemo_close: async (_, call) => {
      await sessions.end(call);
      return {};
    },
  } satisfies Partial<Handlers>;
}
