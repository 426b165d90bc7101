/**
 * OpenEnv's web socket `/ws`, frame by frame and without the socket: what a frame makes of the session, and the one frame
 * that answers it. A client knows an answer by its order alone, so every frame but `close` has exactly one.
 *
 *   reset  data as for POST /reset; other keys are ignored      -> observation
 *   step   data is the action itself, see `toAction`            -> observation
 *   state                                                       -> state
 *   mcp    data is a JSON-RPC request, see rpc.ts       -> mcp
 *   close                                                       -> none, and the socket closes
 *
 * Model output is never an error: whatever a step holds is graded. After the last step of an episode a step is an error
 * (`EXECUTION_ERROR`), as before the first reset: its reward would mean nothing.
 */
import { isObject } from '../../../schemas/json.ts';
import { FRAMES, ResetData, type FrameErrorCode, type FrameType } from '../../../schemas/protocols/openenv.ts';
import type { ResetRequest } from '../../../schemas/requests.ts';
import type { Preset } from '../../../schemas/reward.ts';
import type { ResetResponse, StepResponse } from '../../../schemas/responses.ts';
import { parseBody } from '../../body.ts';
import { ApiError, suggest } from '../../errors.ts';
import type { Context } from '../../context.ts';
import { withSeed } from '../../seed.ts';
import { validate } from '../../validate.ts';
import { callDiagramTool, DIAGRAM_TOOLS, isDiagramTool } from '../tools/diagram.ts';
import { resetSession, stepSession, toOpenEnvState, type EnvSession } from '../tools/held-episode.ts';
import { answerSocketRpc, toRpcRequest, toRpcResult } from './rpc.ts';

export interface FrameAnswer {
  session: EnvSession;
  reply?: string | undefined;
  /** The socket closes after the reply. */
  ends?: boolean;
  /** By what the frame had a completion or a drawing scored; to be counted once the session is kept. */
  scored?: Preset | undefined;
}

type FrameContext = Pick<Context, 'environment' | 'report'>;
type Fields = Readonly<Record<string, unknown>>;

export function errorFrame(code: FrameErrorCode, message: string, more: Fields = {}): string {
  return JSON.stringify({ type: 'error', data: { message, code, ...more } });
}

function observationFrame(observation: unknown, reward: number | null, done: boolean, metadata?: Fields): string {
  return JSON.stringify({ type: 'observation', data: { observation, reward, done, metadata } });
}

function answerFrameOf({
  observation,
  reward,
  done,
  terminated,
  truncated,
  info,
  ...rest
}: ResetResponse | StepResponse) {
  const stop_reason = 'stop_reason' in rest ? rest.stop_reason : null;
  return observationFrame(observation, reward, done, { terminated, truncated, stop_reason, ...info });
}

/** Reset data of a foreign client: null stands for what was left out, and a seed may be negative. */
function toResetRequest(data: Fields = {}): ResetRequest {
  const fields = Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null));
  const { seed } = fields;
  if (Number.isSafeInteger(seed) && (seed as number) < 0) {
    fields['seed'] = BigInt.asUintN(64, BigInt(seed as number)).toString();
  }
  return withSeed(validate(ResetData, fields, 'data'));
}

/** What a check gives, or why it refuses. */
function orRefusal<T>(check: () => T): T | ApiError {
  try {
    return check();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** Names other projects give the one field of an action: AgileRL, our own POST /reward, OpenEnv's own POST /step. */
const WRAPPERS = ['message', 'completion', 'action'];

/** The model output in the data of a step: the data itself, or what its only field holds. `metadata` is OpenEnv's. */
function toAction(data: unknown): unknown {
  if (!isObject(data)) return data;
  const keys = Object.keys(data).filter((key) => key !== 'metadata');
  const [key = ''] = keys;
  return keys.length === 1 && WRAPPERS.includes(key) ? data[key] : data;
}

function invalidFrame({ message, details }: ApiError): string {
  return errorFrame('VALIDATION_ERROR', message, { errors: details });
}

function reset(session: EnvSession, data: Fields | undefined, { environment }: FrameContext): FrameAnswer {
  const request = orRefusal(() => toResetRequest(data));
  if (request instanceof ApiError) return { session, reply: invalidFrame(request) };
  const next = resetSession(request, environment);
  return { session: next.session, reply: answerFrameOf(next.answer) };
}

function listTools(session: EnvSession): FrameAnswer {
  return { session, reply: observationFrame({ tools: DIAGRAM_TOOLS }, null, false) };
}

function callTool(session: EnvSession, data: Fields, { environment }: FrameContext): FrameAnswer {
  const { tool_name: name, arguments: input } = data;
  if (typeof name !== 'string' || !isDiagramTool(name)) {
    const error = { error_type: 'tool_not_found', message: `no tool ${JSON.stringify(name ?? null).slice(0, 60)}` };
    return { session, reply: observationFrame({ tool_name: name ?? '', result: null, error }, null, false) };
  }
  const { session: next, result, scored } = callDiagramTool(session, name, input, environment);
  const observation = { tool_name: name, result: toRpcResult(result), error: null };
  return { session: next, reply: observationFrame(observation, result.reward, result.finished), scored };
}

function step(session: EnvSession, data: unknown, context: FrameContext): FrameAnswer {
  if (isObject(data) && data['type'] === 'list_tools') return listTools(session);
  if (isObject(data) && data['type'] === 'call_tool') return callTool(session, data, context);
  const { session: next, answer } = stepSession(session, toAction(data), context.environment);
  return { session: next, reply: answerFrameOf(answer), scored: answer.state.reward };
}

function mcp(session: EnvSession, data: Fields, { environment }: FrameContext, sessionId: string): FrameAnswer {
  const { session: next, answer, scored } = answerSocketRpc(session, toRpcRequest(data), environment, sessionId);
  return { session: next, reply: JSON.stringify({ type: 'mcp', data: answer }), scored };
}

function isFrameType(type: unknown): type is FrameType {
  return typeof type === 'string' && Object.hasOwn(FRAMES, type);
}

type Message = { [K in FrameType]: { type: K; data?: unknown } }[FrameType];

/** The error frame of a frame that is no message. */
function refuse(error: ApiError): { reply: string; ends: boolean } {
  switch (error.code) {
    case 'not_json':
      return { reply: errorFrame('INVALID_JSON', `Invalid JSON: ${error.message}`), ends: false };
    case 'not_an_object':
      return { reply: errorFrame('SESSION_ERROR', error.message), ends: true };
    default:
      return { reply: invalidFrame(error), ends: false };
  }
}

function parseMessage(bytes: Uint8Array): Message | { unknown: unknown } {
  const message = parseBody(bytes, false);
  const { type } = message;
  return isFrameType(type) ? validate(FRAMES[type], message, 'frame') : { unknown: type ?? '' };
}

function refuseType(type: unknown): string {
  const name = typeof type === 'string' ? type : JSON.stringify(type);
  return errorFrame('UNKNOWN_TYPE', `Unknown message type: ${name.slice(0, 60)}${suggest(type, Object.keys(FRAMES))}`);
}

function run(session: EnvSession, message: Message, context: FrameContext, sessionId: string): FrameAnswer {
  switch (message.type) {
    case 'reset':
      return reset(session, message.data as Fields | undefined, context);
    case 'step':
      return step(session, message.data, context);
    case 'state':
      return { session, reply: JSON.stringify({ type: 'state', data: toOpenEnvState(session) }) };
    case 'mcp':
      return mcp(session, message.data as Fields, context, sessionId);
    case 'close':
      return { session, ends: true };
  }
}

/**
 * Answers a frame. Never throws: a fault of the server is reported, said, and leaves the session as it was.
 * @param bytes UTF-8, as it came.
 */
export function answerFrame(
  session: EnvSession,
  bytes: Uint8Array,
  context: FrameContext,
  sessionId: string,
): FrameAnswer {
  try {
    const message = orRefusal(() => parseMessage(bytes));
    if (message instanceof ApiError) return { session, ...refuse(message) };
    if ('unknown' in message) return { session, reply: refuseType(message.unknown) };
    return run(session, message, context, sessionId);
  } catch (error) {
    if (error instanceof ApiError) return { session, reply: errorFrame('EXECUTION_ERROR', error.message) };
    context.report(error);
    return { session, reply: errorFrame('EXECUTION_ERROR', 'the server failed on this frame; it may be sent again') };
  }
}
