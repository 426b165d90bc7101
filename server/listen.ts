/** One HTTP server in this process: its socket, its time limits, what it says to broken HTTP, and its graceful end. */
import { createServer, type Server } from 'node:http';
import { Server as NetServer, type AddressInfo, type Socket } from 'node:net';
import { availableParallelism } from 'node:os';
import type { Duplex } from 'node:stream';
import { getRequestListener, RequestError } from '@hono/node-server';
import { toApp } from './app.ts';
import { createDispatcher, type AskKeepers } from './dispatch.ts';
import { ApiError, toErrorBody } from './errors.ts';
import { createMetrics } from './metrics.ts';
import { createNodeListener } from './node-listener.ts';
import { createScorePool } from './score-pool.ts';
import type { SessionLimits } from './protocols/sessions/bounded-map.ts';
import { attachSockets } from './protocols/openenv/sockets.ts';
import type { ServerSettings } from './settings.ts';

/** Longer than the 60 s of common load balancers and Python clients, which reuse a connection until then. */
const KEEP_ALIVE_MS = 75_000;
const BACKLOG = 4096;
/** How long a client that sent no HTTP request may take to read why. */
const LINGER_MS = 1000;

export interface RunningServer {
  url: string;
  port: number;
  /** Takes no more connections, lets running requests end until the deadline, then cuts what is left. */
  close: () => Promise<void>;
}

/** What Node's HTTP parser refuses, before there is a request. */
function toApiError(error: NodeJS.ErrnoException): ApiError {
  switch (error.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ApiError('body_timeout', 'the request took too long to come in; send it faster, or in smaller parts');
    case 'HPE_HEADER_OVERFLOW':
      return new ApiError('headers_too_large', 'the headers are larger than 16 KiB');
    case 'HPE_INVALID_EOF_STATE':
      return new ApiError('body_cut', 'the request ended before it was complete');
    default:
      return new ApiError('bad_http', 'this is not an HTTP/1.1 request');
  }
}

function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const refusal = toApiError(error);
  const body = JSON.stringify(toErrorBody(refusal));
  const head = [
    `HTTP/1.1 ${refusal.status} ${refusal.code}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  // A client that keeps its half open would keep what is held of its body too.
  const cut = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => {
    clearTimeout(cut);
  });
}

/** What the adapter refuses before there is a request for the app, i.e. a host or a path that makes no URL. */
function answerBadAddress(error: unknown): Response {
  const refusal =
    error instanceof RequestError
      ? new ApiError('bad_http', 'the Host header or the path is not valid')
      : new ApiError('internal', 'the server failed on this request; it may be repeated');
  const headers = { 'content-type': 'application/json' };
  return new Response(JSON.stringify(toErrorBody(refusal)), { status: refusal.status, headers });
}

function configure(server: Server, settings: ServerSettings): void {
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.headersTimeout = Math.min(KEEP_ALIVE_MS + 5000, settings.request_timeout * 1000);
  server.maxConnections = settings.max_connections;
  server.on('clientError', answerBrokenRequest);
  server.on('connection', (socket: Socket) => socket.setNoDelay(true));
}

function listenAt(server: Server, { host, port }: ServerSettings): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog: BACKLOG }, () => {
      server.off('error', reject);
      resolve(server.address() as AddressInfo);
    });
  });
}

/** How often idle connections are looked for while the server closes. */
const CLOSE_POLL_MS = 25;
/** How long connections that look idle stay open while the server closes: their next request may be on its way. */
const CLOSE_GRACE_MS = 300;

/** Takes no more connections. `Server.close` of node:http would also close those that look idle, at once. */
function stopListening(server: Server, done: () => void): void {
  NetServer.prototype.close.call(server, done);
}

function closeGracefully(server: Server, deadlineMs: number): Promise<void> {
  return new Promise((resolve) => {
    let poll: NodeJS.Timeout | undefined;
    const grace = setTimeout(
      () => {
        server.closeIdleConnections();
        poll = setInterval(() => {
          server.closeIdleConnections();
        }, CLOSE_POLL_MS);
      },
      Math.min(CLOSE_GRACE_MS, deadlineMs / 2),
    );
    const deadline = setTimeout(() => {
      server.closeAllConnections();
    }, deadlineMs);
    stopListening(server, () => {
      clearTimeout(grace);
      clearInterval(poll);
      clearTimeout(deadline);
      server.close(); // ends its timer too
      resolve();
    });
  });
}

export function toUrl(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

export function toSessionLimits({ max_sessions, session_idle_timeout }: ServerSettings): SessionLimits {
  return { max_sessions, idle_ms: session_idle_timeout * 1000 };
}

const MOST_DEFAULT_THREADS = 8;

/** A thread for each core that falls to this process. */
function defaultThreads({ workers }: ServerSettings): number {
  return Math.max(1, Math.min(MOST_DEFAULT_THREADS, Math.floor(availableParallelism() / workers)));
}

/**
 * Listens with the settings' app.
 * @param keepers Who keeps the sessions, where that is another process.
 * @throws the socket's error, e.g. EADDRINUSE.
 */
export async function listen(
  settings: ServerSettings,
  log: (entry: string) => void,
  keepers?: AskKeepers,
): Promise<RunningServer> {
  const body_limits = { body: settings.max_body, batch: settings.max_batch_body };
  const metrics = createMetrics();
  const pool = createScorePool({
    threads: settings.score_threads ?? defaultThreads(settings),
    body_limits,
    metrics,
    log,
  });
  const { secret } = settings;
  const dispatcher = createDispatcher({
    session_limits: toSessionLimits(settings),
    keepers,
    secret,
    body_limits,
    log,
    metrics,
    ors: { train_tasks: settings.ors_train_tasks },
    scoreElsewhere: (request) => pool.score(request),
  });
  const timeoutMs = settings.request_timeout * 1000;
  const options = {
    requestTimeout: timeoutMs,
    connectionsCheckingInterval: Math.min(1000, timeoutMs / 4),
    keepAliveTimeout: KEEP_ALIVE_MS,
  };
  const hono = getRequestListener(toApp(dispatcher).fetch, { hostname: 'localhost', errorHandler: answerBadAddress });
  const listener = createNodeListener(dispatcher, (request, response) => void hono(request, response));
  let isClosing = false;
  const server = createServer(options, (request, response) => {
    if (isClosing) response.setHeader('connection', 'close');
    listener(request, response);
  });
  configure(server, settings);
  const sockets = attachSockets(server, dispatcher.context, settings);
  const { port } = await listenAt(server, settings);
  return {
    url: toUrl(settings.host, port),
    port,
    close: async () => {
      isClosing = true;
      sockets.close(settings.shutdown_timeout * 1000);
      await closeGracefully(server, settings.shutdown_timeout * 1000);
      await pool.close();
    },
  };
}
