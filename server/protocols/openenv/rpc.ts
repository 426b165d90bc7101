/**
 * JSON-RPC 2.0 as OpenEnv speaks it, at `POST /mcp` and on its web sockets: the methods tools/list and tools/call, and two of
 * its own to begin and end a session. There is no handshake and no notification: every request is answered, errors with
 * `data`, which is null where there is nothing to say. For clients of the Model Context Protocol itself see mcp.ts.
 */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Preset } from '../../../schemas/reward.ts';
import { ApiError } from '../../errors.ts';
import { parseBody } from '../../body.ts';
import type { Context, Environment } from '../../context.ts';
import { validate } from '../../validate.ts';
import { callDiagramTool, isDiagramTool, MCP_TOOLS, type DiagramResult } from '../tools/diagram.ts';
import type { EnvSession } from '../tools/held-episode.ts';
import type { SharedSessions } from '../sessions/shared.ts';

const CODES = {
  parse_error: -32700,
  invalid_request: -32600,
  method_not_found: -32601,
  invalid_params: -32602,
  internal_error: -32603,
  server_error: -32000,
} as const;

const RpcRequest = z.strictObject({
  jsonrpc: z.literal('2.0'),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).optional(),
  id: z.union([z.string(), z.number().int()]).nullish(),
});
export type RpcRequest = z.output<typeof RpcRequest>;

export interface RpcAnswer {
  [key: string]: unknown;
  jsonrpc: '2.0';
  id: string | number | null;
  result?: unknown;
  error?: { code: number; message: string; data: unknown };
}
type RpcId = RpcRequest['id'];

function succeed(id: RpcId, result: unknown): RpcAnswer {
  return { jsonrpc: '2.0', id: id ?? null, result };
}

function fail(id: RpcId, code: keyof typeof CODES, message: string, data: unknown = null): RpcAnswer {
  return { jsonrpc: '2.0', id: id ?? null, error: { code: CODES[code], message, data } };
}

const failInternally = (id: RpcId): RpcAnswer =>
  fail(id, 'internal_error', 'the server failed on this request; it may be repeated');

export function refuseAtCapacity({ active, max }: { active: number; max: number }): RpcAnswer {
  const message = `all ${max} sessions are taken; end one, or repeat the request later`;
  return fail(null, 'server_error', message, { active_sessions: active, max_sessions: max });
}

/** Whether a value is the answer to what is no request. */
const isRefusal = (value: RpcRequest | RpcAnswer): value is RpcAnswer => 'error' in value;

/** The request in an object, or the answer to one that is none. */
export function toRpcRequest(value: unknown): RpcRequest | RpcAnswer {
  try {
    return validate(RpcRequest, value, 'request');
  } catch (error) {
    if (error instanceof ApiError) return fail(null, 'invalid_request', `Invalid request: ${error.message}`);
    throw error;
  }
}

function parseRpc(bytes: Uint8Array): RpcRequest | RpcAnswer {
  try {
    return toRpcRequest(parseBody(bytes, false));
  } catch (error) {
    if (error instanceof ApiError) return fail(null, 'parse_error', `Parse error: ${error.message}`);
    throw error;
  }
}

/** `data` is what OpenEnv's client hands to its caller, the rest what MCP's results hold. */
export function toRpcResult(result: DiagramResult): Record<string, unknown> {
  const { ok, ...data } = result;
  return { content: [{ type: 'text', text: result.text }], structuredContent: data, isError: !ok, data };
}

const listTools = (id: RpcId): RpcAnswer => succeed(id, { tools: MCP_TOOLS });

type RpcContext = Pick<Context, 'environment' | 'metrics' | 'report' | 'shared'>;

interface Called {
  session: EnvSession;
  answer: RpcAnswer;
  /** As `callDiagramTool` says it. */
  scored?: Preset | undefined;
}

function callTool(session: EnvSession, { id, params = {} }: RpcRequest, environment: Environment): Called {
  const { name, arguments: input = {} } = params;
  if (typeof name !== 'string' || name === '') {
    return { session, answer: fail(id, 'invalid_params', "Missing 'name' in params") };
  }
  if (!isDiagramTool(name)) {
    return { session, answer: fail(id, 'invalid_params', `Tool not found: ${name.slice(0, 60)}`) };
  }
  const { session: next, result, scored } = callDiagramTool(session, name, input, environment);
  return { session: next, answer: succeed(id, toRpcResult(result)), scored };
}

function unknownMethod({ id, method }: RpcRequest): RpcAnswer {
  const hint = method === 'initialize' ? '; MCP clients send Accept: application/json, text/event-stream' : '';
  return fail(id, 'method_not_found', `Method not found: ${method.slice(0, 60)}${hint}`);
}

/** @param sessionId That of the socket. */
export function answerSocketRpc(
  session: EnvSession,
  request: RpcRequest | RpcAnswer,
  environment: Environment,
  sessionId: string,
): Called {
  if (isRefusal(request)) return { session, answer: request };
  const { id, method, params } = request;
  switch (method) {
    case 'openenv/session/create':
      return { session, answer: succeed(id, { session_id: sessionId }) };
    case 'openenv/session/close': {
      const message =
        params?.['session_id'] === sessionId
          ? 'the session ends with its web socket; close that'
          : 'a web socket knows no other session than its own; send this to POST /mcp';
      return { session, answer: fail(id, 'invalid_request', message) };
    }
    case 'tools/list':
      return { session, answer: listTools(id) };
    case 'tools/call':
      return callTool(session, request, environment);
    default:
      return { session, answer: unknownMethod(request) };
  }
}

/** Answers a frame of the web socket `/mcp`. Never throws. */
export function answerRpcFrame(
  session: EnvSession,
  bytes: Uint8Array,
  { environment, report }: Pick<Context, 'environment' | 'report'>,
  sessionId: string,
): { session: EnvSession; reply: string; scored?: Preset | undefined } {
  const request = parseRpc(bytes);
  try {
    const { session: next, answer, scored } = answerSocketRpc(session, request, environment, sessionId);
    return { session: next, reply: JSON.stringify(answer), scored };
  } catch (error) {
    report(error);
    return { session, reply: JSON.stringify(failInternally(isRefusal(request) ? null : request.id)) };
  }
}

async function createSession({ id }: RpcRequest, shared: SharedSessions): Promise<RpcAnswer> {
  const sessionId = randomUUID();
  if (await shared.create(sessionId)) return succeed(id, { session_id: sessionId });
  return { ...refuseAtCapacity(await shared.count()), id: id ?? null };
}

function sessionIdOf({ params }: RpcRequest): string | undefined {
  const id = params?.['session_id'];
  return typeof id === 'string' && id !== '' ? id : undefined;
}

const SESSION_MISSING = "'session_id' is missing in params; begin one with openenv/session/create";
const unknownSession = (id: string): string => `Unknown session_id: ${id.slice(0, 60)}`;

async function closeSession(request: RpcRequest, shared: SharedSessions): Promise<RpcAnswer> {
  const sessionId = sessionIdOf(request);
  if (sessionId === undefined) return fail(request.id, 'invalid_params', SESSION_MISSING);
  switch (await shared.close(sessionId)) {
    case 'closed':
      return succeed(request.id, { session_id: sessionId, closed: true });
    case 'closing':
      return succeed(request.id, { session_id: sessionId, closed: false, closing: true });
    case 'unknown':
      return fail(request.id, 'invalid_params', unknownSession(sessionId));
  }
}

async function callToolOfSession(
  request: RpcRequest,
  { shared, environment, metrics }: RpcContext,
): Promise<RpcAnswer> {
  const sessionId = sessionIdOf(request);
  if (sessionId === undefined) return fail(request.id, 'invalid_params', SESSION_MISSING);
  const called = await shared.update(sessionId, (before) => {
    const result = callTool(before, request, environment);
    return { episode: result.session, result };
  });
  if (!called) return fail(request.id, 'invalid_params', unknownSession(sessionId));
  const { answer, scored } = called.result;
  if (scored !== undefined) metrics.countCompletions(scored, 1);
  return answer;
}

async function run(request: RpcRequest, context: RpcContext): Promise<RpcAnswer> {
  switch (request.method) {
    case 'openenv/session/create':
      return createSession(request, context.shared);
    case 'openenv/session/close':
      return closeSession(request, context.shared);
    case 'tools/list':
      return listTools(request.id);
    case 'tools/call':
      return callToolOfSession(request, context);
    default:
      return unknownMethod(request);
  }
}

/** Answers the body of `POST /mcp`, whatever it is, and a fault of the server too: OpenEnv's client knows no other status. */
export async function answerHttpRpc(bytes: Uint8Array, context: RpcContext): Promise<RpcAnswer> {
  const request = parseRpc(bytes);
  if (isRefusal(request)) return request;
  try {
    return await run(request, context);
  } catch (error) {
    context.report(error);
    return failInternally(request.id);
  }
}
