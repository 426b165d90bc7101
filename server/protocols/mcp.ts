/**
 * The Model Context Protocol at `/mcp`, so that a chat client can draw on the canvas and see it: the official SDK's streamable
 * HTTP transport, with the tools of tools/diagram.ts. `initialize` begins a session, which the client names in the header
 * Mcp-Session-Id and may end with DELETE; sessions are bounded, and those that idle go away.
 *
 * The same path serves OpenEnv's JSON-RPC (openenv/rpc.ts). What tells the two apart is what the protocol demands of its
 * clients: a request whose Accept header names text/event-stream, or that has an Mcp-Session-Id, is MCP. Neither is answered
 * to a web page of another machine.
 *
 * Each request has a transport of its own, since all there is to a session is its episode. Left out, as the protocol allows:
 * streams (answers are JSON, GET is refused with 405), since no answer comes in parts; notifications to the client; and
 * cancelling: a call is over at once, so it is answered whatever the client says of it.
 */
import { randomUUID } from 'node:crypto';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  CancelledNotificationSchema,
  ErrorCode,
  isInitializeRequest,
  ListToolsRequestSchema,
  McpError,
  type CallToolResult,
  type JSONRPCRequest,
} from '@modelcontextprotocol/sdk/types.js';
import type { State } from '../../schemas/episode.ts';
import { DEFAULT_CANVAS_SIZE } from '../../schemas/task.ts';
import { ABOUT } from '../about.ts';
import { isDeeperThan, MAX_BODY_DEPTH } from '../body.ts';
import { ApiError } from '../errors.ts';
import type { Call, Context } from '../context.ts';
import { Raw } from '../raw.ts';
import { RenderError } from '../render/png.ts';
import { canvasSizeOf } from '../resolve.ts';
import { FOREIGN_PAGE, isForeignPage } from './origin.ts';
import { callDiagramTool, isDiagramTool, MCP_TOOLS, type DiagramResult } from './tools/diagram.ts';

type Headers = Call['headers'];
type McpContext = Pick<Context, 'environment' | 'metrics' | 'report' | 'shared'>;

const SESSION_HEADER = 'mcp-session-id';
const JSON_TYPE = 'application/json';
const INSTRUCTIONS =
  'Draw diagrams of boxes and arrows. Begin with start_diagram, draw with the other tools, end with submit_diagram, which scores the drawing. Results show the canvas.';

export function isMcpClient(headers: Headers): boolean {
  return headers.get(SESSION_HEADER) !== null || headers.get('accept')?.includes('text/event-stream') === true;
}

function refuse(status: number, code: number, message: string): Raw {
  return new Raw(JSON_TYPE, JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }), {}, status);
}

const sessionMissing = (): Raw => refuse(400, -32000, 'the header Mcp-Session-Id is missing; begin with initialize');
const sessionUnknown = (): Raw =>
  refuse(404, -32001, 'no such session, or it was idle for too long; begin with initialize');

type Content = CallToolResult['content'][number];

/** The canvas as an image, or a line that says why there is none: a picture that fails is no failure of the call. */
async function toPicture(state: State, { environment, report }: McpContext): Promise<Content[]> {
  try {
    const options = { size: canvasSizeOf(state, []) ?? DEFAULT_CANVAS_SIZE };
    const { body, missing_glyphs: missing } = await environment.render(state.canvas, 'png', options);
    const image = { type: 'image', data: Buffer.from(body).toString('base64'), mimeType: 'image/png' } as const;
    if (missing.length === 0) return [image];
    return [
      image,
      { type: 'text', text: `The picture's font lacks these characters: ${missing.slice(0, 20).join(' ')}` },
    ];
  } catch (error) {
    if (!(error instanceof RenderError)) report(error);
    return [{ type: 'text', text: 'There is no picture this time; the drawing itself is as said above.' }];
  }
}

function toStructured({ text, finished, reward, components }: DiagramResult): Record<string, unknown> {
  return { text, finished, reward, components };
}

async function callTool(sessionId: string, name: string, input: unknown, context: McpContext): Promise<CallToolResult> {
  if (!isDiagramTool(name)) throw new McpError(ErrorCode.InvalidParams, `Tool not found: ${name.slice(0, 60)}`);
  const called = await context.shared.update(sessionId, (before) => {
    const { session: episode, result, scored } = callDiagramTool(before, name, input, context.environment);
    return { episode, result: { result, scored, state: episode.state } };
  });
  if (!called) throw new McpError(ErrorCode.ConnectionClosed, 'the session has ended');
  const { result, scored, state } = called.result;
  if (scored !== undefined) context.metrics.countCompletions(scored, 1);
  const content: Content[] = [{ type: 'text', text: result.text }];
  if (state && state.canvas.shapes.length > 0) content.push(...(await toPicture(state, context)));
  return { content, structuredContent: toStructured(result), isError: !result.ok };
}

async function answerCall(
  { method, params }: JSONRPCRequest,
  sessionId: string,
  context: McpContext,
): Promise<CallToolResult> {
  if (method !== 'tools/call') throw new McpError(ErrorCode.MethodNotFound, `Method not found: ${method.slice(0, 60)}`);
  const name = params?.['name'];
  if (typeof name !== 'string') throw new McpError(ErrorCode.InvalidParams, "Missing 'name' in params");
  try {
    return await callTool(sessionId, name, params?.['arguments'] ?? {}, context);
  } catch (error) {
    if (error instanceof McpError) throw error;
    context.report(error);
    throw new McpError(ErrorCode.InternalError, 'the server failed on this call; it may be repeated');
  }
}

function createMcpServer(sessionId: string, context: McpContext): McpServer {
  const { name, version } = ABOUT;
  const mcp = new McpServer({ name, version }, { capabilities: { tools: {} }, instructions: INSTRUCTIONS });
  mcp.server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: MCP_TOOLS }));
  // The SDK never answers a request that was cancelled, and an answer of HTTP would wait for it.
  mcp.server.setNotificationHandler(CancelledNotificationSchema, () => undefined);
  // The SDK's own handler of tools/call refuses arguments that are no object, before a model could be told what is wrong.
  mcp.server.removeRequestHandler('tools/call');
  mcp.server.fallbackRequestHandler = (request) => answerCall(request, sessionId, context);
  return mcp;
}

/** Hands one request to the SDK. */
async function exchange(body: unknown, headers: Headers, sessionId: string, context: McpContext): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  const server = createMcpServer(sessionId, context);
  await server.connect(transport);
  const version = headers.get('mcp-protocol-version');
  const request = new Request('http://localhost/mcp', {
    method: 'POST',
    headers: {
      accept: `${JSON_TYPE}, text/event-stream`,
      'content-type': JSON_TYPE,
      ...(version === null ? {} : { 'mcp-protocol-version': version }),
    },
  });
  try {
    return await transport.handleRequest(request, { parsedBody: body });
  } finally {
    await server.close();
  }
}

async function toRaw(response: Response, headers: Record<string, string> = {}): Promise<Raw> {
  return new Raw(JSON_TYPE, await response.text(), headers, response.status);
}

function parse(bytes: Uint8Array): unknown {
  if (isDeeperThan(bytes, MAX_BODY_DEPTH)) return undefined;
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return undefined;
  }
}

async function initialize(body: unknown, headers: Headers, context: McpContext): Promise<Raw> {
  const sessionId = randomUUID();
  const response = await exchange(body, headers, sessionId, context);
  if (!response.ok) return toRaw(response);
  if (!(await context.shared.create(sessionId))) {
    throw new ApiError('overloaded', 'all sessions are taken; end one, or repeat the request later', {
      headers: { 'retry-after': '10' },
    });
  }
  return toRaw(response, { [SESSION_HEADER]: sessionId });
}

export const refuseForeignPage = (): Raw => refuse(403, -32000, FOREIGN_PAGE);

/** Answers a POST of an MCP client. */
export async function answerMcp(bytes: Uint8Array, headers: Headers, context: McpContext): Promise<Raw> {
  const body = parse(bytes);
  if (body === undefined)
    return refuse(400, -32700, `Parse error: send JSON that nests at most ${MAX_BODY_DEPTH} levels`);
  if (isInitializeRequest(body)) return initialize(body, headers, context);
  const sessionId = headers.get(SESSION_HEADER);
  if (sessionId === null) return sessionMissing();
  const known = await context.shared.touch(sessionId);
  return known ? toRaw(await exchange(body, headers, sessionId, context)) : sessionUnknown();
}

/** Answers a DELETE: false where the session ends with the web socket that holds it. */
export async function endMcpSession(headers: Headers, { shared }: McpContext): Promise<{ closed: boolean }> {
  if (isForeignPage(headers.get('origin'))) throw new ApiError('foreign_page', FOREIGN_PAGE);
  const sessionId = headers.get(SESSION_HEADER);
  if (sessionId === null) throw new ApiError('missing_header', 'the header Mcp-Session-Id is missing');
  const outcome = await shared.close(sessionId);
  if (outcome === 'unknown') throw new ApiError('unknown_session', 'no such session');
  return { closed: outcome === 'closed' };
}
