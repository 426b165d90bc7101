/**
 * One client's episode where the server holds it: on an OpenEnv web socket, or in a session of tool calls. Pure: every
 * function gives the next session. The state is that of the environment, unsigned, since it never leaves.
 */
import type { State } from '../../../schemas/episode.ts';
import type { OpenEnvState } from '../../../schemas/protocols/openenv.ts';
import type { ResetRequest } from '../../../schemas/requests.ts';
import type { ResetResponse, StepResponse } from '../../../schemas/responses.ts';
import { ApiError } from '../../errors.ts';
import type { Environment } from '../../context.ts';
import { UNSIGNED } from '../../state.ts';
import { callTool, startToolEpisode, type ToolResult } from './episode.ts';

export interface EnvSession {
  /** What the episode began with, its seed included. */
  readonly request?: ResetRequest | undefined;
  readonly state?: State | undefined;
}

export const NO_EPISODE: EnvSession = {};

interface Next<A> {
  session: EnvSession;
  answer: A;
}

/** @throws ApiError of `reset`. @param request With a seed, where one is needed. */
export function resetSession(request: ResetRequest, { reset }: Pick<Environment, 'reset'>): Next<ResetResponse> {
  const answer = reset(request, UNSIGNED);
  return { session: { request, state: answer.state }, answer };
}

function noEpisode(remedy: string): ApiError {
  return new ApiError('invalid_request', `no episode runs; ${remedy} first`);
}

/** @throws ApiError invalid_request before the first reset, episode_over after the end. */
export function stepSession(
  session: EnvSession,
  action: unknown,
  { step }: Pick<Environment, 'step'>,
): Next<StepResponse> {
  if (!session.state) throw noEpisode('send reset');
  const answer = step({ state: session.state, action }, UNSIGNED);
  return { session: { ...session, state: answer.state }, answer };
}

export function isRunning({ state }: EnvSession): boolean {
  return state !== undefined && state.stop_reason === undefined;
}

export function toOpenEnvState({ state }: EnvSession): OpenEnvState {
  return { episode_id: state?.episode_id ?? null, step_count: state?.turn ?? 0 };
}

/** Begins an episode of tool calls. @throws ApiError of `reset`. */
export function startSession(request: ResetRequest, environment: Pick<Environment, 'reset'>): Next<ResetResponse> {
  const answer = startToolEpisode(request, environment);
  return { session: { request, state: answer.state }, answer };
}

/**
 * Calls a tool. With the first one an episode that was reset becomes one of tool calls, of the same task.
 * @param name One of TOOL_NAMES.
 * @throws ApiError invalid_request before the first reset, episode_over after the end.
 */
export function callSessionTool(
  session: EnvSession,
  name: string,
  input: unknown,
  environment: Pick<Environment, 'reset' | 'step'>,
): Next<ToolResult> {
  if (!session.state) throw noEpisode('call start_diagram, or send reset');
  const { request } = session;
  const isFresh = session.state.turn === 0 && request !== undefined;
  const state: State = isFresh
    ? startToolEpisode(request, environment).state
    : { ...session.state, action_set: 'editor' };
  const answer = callTool(state, name, input, environment);
  return { session: { ...session, state: answer.state }, answer };
}
