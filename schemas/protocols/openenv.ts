/**
 * What OpenEnv adds to our own routes: `GET /state`, JSON-RPC at `/mcp` (which MCP clients use too), and the frames of the
 * web socket `/ws`. Its `/reset`, `/step`, `/health`, `/metadata` and `/schema` are ours.
 */
import { z } from 'zod';
import { Observation } from '../episode.ts';
import { ResetRequest } from '../requests.ts';
import type { Route } from '../route.ts';

export const OpenEnvState = z.strictObject({
  episode_id: z.string().nullable(),
  step_count: z.number().int().min(0).describe('Steps taken since the last reset'),
});
export type OpenEnvState = z.infer<typeof OpenEnvState>;

const SessionId = z.string().describe('What the answer to initialize named');
const JsonRpcAnswer = z.looseObject({ jsonrpc: z.literal('2.0') }).describe('JSON-RPC 2.0: a result, or an error');

export const OPENENV_ROUTES = {
  state: {
    method: 'GET',
    path: '/state',
    tag: 'openenv',
    summary: 'The state of a new episode',
    description:
      'Over HTTP the state of an episode travels with the caller, so the server has none to show. An episode on the web socket /ws answers the frame `{"type": "state"}` with its own.',
    answer: OpenEnvState,
  },
  mcp: {
    method: 'POST',
    path: '/mcp',
    tag: 'mcp',
    summary: 'The drawing tools over JSON-RPC, for MCP clients and for OpenEnv',
    description:
      'A request whose Accept header names text/event-stream, or that has an Mcp-Session-Id, is answered by the Model Context Protocol (streamable HTTP); any other by the rules of OpenEnv: status 200 and openenv/session/create, openenv/session/close, tools/list, tools/call.',
    headers: z.object({ 'Mcp-Session-Id': SessionId.optional() }),
    body: 'bytes',
    answer: JsonRpcAnswer,
    statuses: {
      202: 'An MCP notification was taken',
      400: 'No JSON-RPC, no session named, or an unknown version of MCP',
      403: 'Sent by a web page of another machine',
      404: 'No such MCP session',
    },
    example: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  },
  mcp_end: {
    method: 'DELETE',
    path: '/mcp',
    tag: 'mcp',
    summary: 'End an MCP session',
    headers: z.object({ 'Mcp-Session-Id': SessionId }),
    answer: z.strictObject({
      closed: z.boolean().describe('false where a web socket holds the session, which ends with that'),
    }),
    refusals: [400, 403, 404],
  },
} as const satisfies Record<string, Route>;

/**
 * An observation as OpenEnv's graders check it: they count the reward and the end to it, which stand beside it on the wire.
 */
export const GradedObservation = Observation.extend({
  reward: z.number().nullable().optional().describe('Stands beside the observation'),
  done: z.boolean().optional().describe('Stands beside the observation'),
});

/** Frames a client sends. Other keys at the top are refused, as the reference does. */
export const FRAMES = {
  reset: z.strictObject({ type: z.literal('reset'), data: z.record(z.string(), z.unknown()).optional() }),
  step: z.strictObject({
    type: z.literal('step'),
    data: z.custom<unknown>((value) => value !== undefined, { error: 'Field required' }),
  }),
  state: z.strictObject({ type: z.literal('state') }),
  close: z.strictObject({ type: z.literal('close') }),
  mcp: z.strictObject({ type: z.literal('mcp'), data: z.record(z.string(), z.unknown()) }),
} as const;
export type FrameType = keyof typeof FRAMES;

/** The data of a reset frame. What foreign clients send beside the fields of `POST /reset` is ignored. */
export const ResetData = z.object(ResetRequest.shape);

export type FrameErrorCode =
  'INVALID_JSON' | 'UNKNOWN_TYPE' | 'VALIDATION_ERROR' | 'EXECUTION_ERROR' | 'CAPACITY_REACHED' | 'SESSION_ERROR';
