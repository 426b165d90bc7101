/**
 * One call of a tool in an ORS session. Pure: session and call in, the next session and the answer out. Every call has an
 * id, and its answer is kept, so that a client whose connection broke gets it without running anything again.
 */
import type { State } from '../../../schemas/episode.ts';
import type { CallBody } from '../../../schemas/protocols/ors.ts';
import type { ResetResponse } from '../../../schemas/responses.ts';
import { TERMINAL_TOOL, TOOL_NAMES } from '../../../schemas/tools.ts';
import type { Environment } from '../../context.ts';
import { answerInWords, callTool, unknownTool, type ToolResult } from '../tools/episode.ts';

/** Answers kept in one session: a client waits for one before it makes the next call, or makes a few at a time. */
const MAX_KEPT = 16;

interface KeptAnswer {
  task_id: string;
  /** JSON text. */
  json: string;
}

export interface OrsSession {
  id: string;
  start: Pick<ResetResponse['observation'], 'prompt' | 'canvas_size'>;
  state: State;
  /** Newest first. */
  answers: readonly KeptAnswer[];
}

export function startSession(id: string, { observation, state }: ResetResponse): OrsSession {
  const { prompt, canvas_size } = observation;
  return { id, start: { prompt, canvas_size }, state, answers: [] };
}

type Reason = 'not_found' | 'input_validation' | 'episode_finished';

const refuse = (reason: Reason, error: string): string => JSON.stringify({ ok: false, error, reason });

function toOutput({ text, finished, reward, components }: ToolResult): string {
  const blocks = [{ text, detail: null, type: 'text' }];
  return JSON.stringify({ ok: true, output: { blocks, metadata: components, reward, finished } });
}

/** What the call makes of the state; a text where the call is refused. */
function play(state: State, { name, input }: CallBody, environment: Environment): ToolResult | string {
  const isWords = name === TERMINAL_TOOL.name;
  if (!isWords && !TOOL_NAMES.has(name)) return refuse('not_found', unknownTool(name));
  if (state.stop_reason !== undefined) return refuse('episode_finished', `the episode is over, so ${name} was not run`);
  if (!isWords) return callTool(state, name, input, environment);
  const words = input[TERMINAL_TOOL.arg];
  if (typeof words !== 'string') return refuse('input_validation', `${TERMINAL_TOOL.arg} must be a text`);
  return answerInWords(state, words, environment);
}

/** The answer of a call; none for an id that no call has here, or that was given too many calls ago. */
export interface Answered {
  json?: string | undefined;
  /** Whether this very call ended the episode. */
  is_last?: boolean;
}

/**
 * Makes a call, or, where it brings the id of one that was made, repeats its answer.
 * @param task_id The id of the call, where it brings none.
 * @throws what the environment throws.
 */
export function answerCall(
  session: OrsSession,
  body: CallBody,
  task_id: string,
  environment: Environment,
): { value: OrsSession; result: Answered } {
  if (body.task_id != null) {
    const known = session.answers.find((answer) => answer.task_id === body.task_id);
    return { value: session, result: { json: known?.json } };
  }
  const made = play(session.state, body, environment);
  const isRefused = typeof made === 'string';
  const json = isRefused ? made : toOutput(made);
  const state = isRefused ? session.state : made.state;
  const value = { ...session, state, answers: [{ task_id, json }, ...session.answers.slice(0, MAX_KEPT - 1)] };
  return { value, result: { json, is_last: !isRefused && made.finished } };
}
