/**
 * One call of a tool in an ORS session. Pure: session and call in, the next session and the answer out. Every call has an
 * id, and its answer is kept for a while, so that a client whose connection broke gets it without running anything again.
 */
import type { State } from '../../../schemas/episode.ts';
import type { ResetResponse } from '../../../schemas/responses.ts';
import { TERMINAL_TOOL, TOOL_NAMES } from '../../../schemas/tools.ts';
import type { Context } from '../../context.ts';
import { answerInWords, callTool, unknownTool, type ToolResult } from '../tools/episode.ts';

/** How long the answer of a call is kept, ms. */
const KEEP_MS = 60_000;
/** Answers kept in one session; a client waits for one before it makes the next call, or makes a few at a time. */
const MAX_KEPT = 16;

export interface OrsSession {
  id: string;
  start: Pick<ResetResponse['observation'], 'prompt' | 'canvas_size'>;
  state: State;
  /** Calls begun so far. */
  calls: number;
  /** Answers as JSON text, oldest first; `at` in ms of the server's clock. */
  answers: readonly { task_id: string; json: string; at: number }[];
}

export function startSession(id: string, { observation, state }: ResetResponse): OrsSession {
  const { prompt, canvas_size } = observation;
  return { id, start: { prompt, canvas_size }, state, calls: 0, answers: [] };
}

interface ToolCall {
  name: string;
  input: Readonly<Record<string, unknown>>;
}

type Reason = 'not_found' | 'input_validation' | 'episode_finished';

const refuse = (reason: Reason, error: string): string => JSON.stringify({ ok: false, error, reason });

function toOutput({ text, finished, reward, components }: ToolResult): string {
  const blocks = [{ text, detail: null, type: 'text' }];
  return JSON.stringify({ ok: true, output: { blocks, metadata: components, reward, finished } });
}

type Play = Pick<Context, 'environment'>;

/** What the call makes of the state; a text where the call is refused. */
function play({ state }: OrsSession, { name, input }: ToolCall, { environment }: Play) {
  const isWords = name === TERMINAL_TOOL.name;
  if (!isWords && !TOOL_NAMES.has(name)) return refuse('not_found', unknownTool(name));
  if (state.stop_reason !== undefined) return refuse('episode_finished', `the episode is over, so ${name} was not run`);
  if (!isWords) return callTool(state, name, input, environment);
  const words = input[TERMINAL_TOOL.arg];
  if (typeof words !== 'string') return refuse('input_validation', `${TERMINAL_TOOL.arg} must be a text`);
  return answerInWords(state, words, environment);
}

/** The answer that was given to a call, or undefined. */
export function answerOf({ answers }: OrsSession, taskId: string, now: number): string | undefined {
  return answers.find(({ task_id, at }) => task_id === taskId && now - at < KEEP_MS)?.json;
}

/**
 * Makes a call.
 * @param now Milliseconds of a clock that never goes back.
 * @throws what the environment throws; the session is as it was then.
 */
export function callInSession(
  session: OrsSession,
  taskId: string,
  call: ToolCall,
  context: Play,
  now: number,
): { session: OrsSession; json: string; result: ToolResult | undefined } {
  const made = play(session, call, context);
  const json = typeof made === 'string' ? made : toOutput(made);
  const kept = session.answers.filter(({ at }) => now - at < KEEP_MS).slice(1 - MAX_KEPT);
  const answers = [...kept, { task_id: taskId, json, at: now }];
  const result = typeof made === 'string' ? undefined : made;
  return { session: { ...session, state: result?.state ?? session.state, answers }, json, result };
}
