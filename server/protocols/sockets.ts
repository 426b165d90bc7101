/**
 * Web sockets: OpenEnv's `/ws`, whose frames are answered by openenv-frames.ts, and its `/mcp`, whose frames are JSON-RPC
 * requests. Here is only what a socket needs: so many at a time, frames so large, answers in order, clients that are gone or
 * idle reaped, no faster read than answers are taken, and an end in which running episodes may finish.
 *
 * Nothing is compressed: OpenEnv's validator refuses that, and it would cost more than a step. Too large a frame closes the
 * socket with code 1009, as the protocol has it.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { createBatch } from '../batch.ts';
import type { Context } from '../handlers.ts';
import { isRunning, NO_EPISODE, type EnvSession } from './env-session.ts';
import { answerFrame, errorFrame, type FrameAnswer } from './openenv-frames.ts';
import { answerRpcFrame, refuseAtCapacity } from './openenv-rpc.ts';

/** Times in seconds, sizes in bytes. */
export interface SocketLimits {
  max_sockets: number;
  max_frame: number;
  socket_idle_timeout: number;
  socket_ping_interval: number;
}

export interface Sockets {
  /** Takes no more, closes each socket when its episode ends, and all that are left shortly before the deadline. */
  close(deadlineMs: number): void;
}

/** Bytes of answers a client may leave unread before no more of its frames are read. */
const MAX_UNREAD = 2 ** 20;
/** Part of the time to close after which running episodes are no longer waited for. */
const PATIENCE = 0.8;

const NORMAL = 1000;
const GOING_AWAY = 1001;

export type SocketContext = Pick<Context, 'environment' | 'metrics' | 'report' | 'shared'>;

type Answer = (session: EnvSession, frame: Uint8Array, context: SocketContext, sessionId: string) => FrameAnswer;

/** A path sockets connect to, and how it says that there is no place left. */
interface Endpoint {
  answer: Answer;
  refuse: (active: number, max: number) => string;
}

const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  '/ws': {
    answer: answerFrame,
    refuse: (active, max) =>
      errorFrame('CAPACITY_REACHED', `all ${max} sessions are taken; close one, or connect again later`, {
        active_sessions: active,
        max_sessions: max,
      }),
  },
  '/mcp': {
    answer: answerRpcFrame,
    refuse: (active, max) => JSON.stringify(refuseAtCapacity({ active, max })),
  },
};

/** One client. */
interface Seat {
  readonly ws: WebSocket;
  readonly id: string;
  readonly answer: Answer;
  /** Unused where the session is shared. */
  session: EnvSession;
  readonly isShared: boolean;
  /** The last frame that is still being answered, of a shared session. */
  tail: Promise<void>;
  frame_at: number;
  is_alive: boolean;
}

const now = (): number => performance.now();

/** @param sharedId Session that the socket asks for; null where it has one of its own. */
function createSeat(ws: WebSocket, answer: Answer, sharedId: string | null): Seat {
  return {
    ws,
    id: sharedId ?? randomUUID(),
    answer,
    session: NO_EPISODE,
    isShared: sharedId !== null,
    tail: Promise.resolve(),
    frame_at: now(),
    is_alive: true,
  };
}

function send(ws: WebSocket, reply: string): void {
  ws.send(reply, () => {
    if (ws.isPaused && ws.bufferedAmount <= MAX_UNREAD) ws.resume();
  });
  if (ws.bufferedAmount > MAX_UNREAD) ws.pause();
}

function finish(seat: Seat, { reply, ends }: FrameAnswer): void {
  if (reply !== undefined) send(seat.ws, reply);
  if (ends) seat.ws.close(NORMAL);
}

const SESSION_GONE: FrameAnswer = {
  session: NO_EPISODE,
  reply: errorFrame('SESSION_ERROR', 'the session has ended; begin another'),
  ends: true,
};

/** @param done Called when a frame has been answered. */
async function answerShared(
  seat: Seat,
  frame: Uint8Array,
  context: SocketContext,
  done: (seat: Seat) => void,
): Promise<void> {
  if (seat.ws.readyState !== seat.ws.OPEN) return;
  const answered = await context.shared.update(seat.id, (before) => {
    const result = seat.answer(before, frame, context, seat.id);
    return { episode: result.session, result };
  });
  if (answered) seat.session = answered.result.session;
  finish(seat, answered?.result ?? SESSION_GONE);
  done(seat);
}

/** Runs work on a shared session after what runs already, and reads no more frames until it is done. */
function queue(seat: Seat, { report }: SocketContext, work: () => Promise<void>): void {
  seat.ws.pause();
  seat.tail = seat.tail
    .then(work)
    .catch(report)
    .then(() => {
      if (seat.ws.bufferedAmount <= MAX_UNREAD) seat.ws.resume();
    });
}

/** A frame that came in. */
type Arrival = readonly [seat: Seat, frame: Uint8Array];

/** Answers frames of sessions of their own: first all are worked on, then all answers sent. */
function answerAll(arrivals: readonly Arrival[], context: SocketContext, done: (seat: Seat) => void): void {
  const answers = arrivals.map(([seat, frame]): FrameAnswer => {
    const answer = seat.answer(seat.session, frame, context, seat.id);
    seat.session = answer.session;
    return answer;
  });
  for (const [i, [seat]] of arrivals.entries()) {
    finish(seat, answers[i]!);
    done(seat);
  }
}

/** What a socket is told that may not have the session it asks for. */
const ATTACH_FAULTS = {
  taken: 'the session has a web socket already; close that, or begin another session',
  unknown: 'Unknown session_id: begin a session with openenv/session/create at POST /mcp',
} as const;

/** Takes the session that a socket asks for, before its first frame is answered, and gives it back when it closes. */
function attach(seat: Seat, context: SocketContext): void {
  const { shared, report } = context;
  const socket = randomUUID();
  queue(seat, context, async () => {
    const outcome = await shared.attach(seat.id, socket);
    if (outcome !== 'attached')
      finish(seat, { ...SESSION_GONE, reply: errorFrame('SESSION_ERROR', ATTACH_FAULTS[outcome]) });
  });
  seat.ws.on('close', () => {
    seat.tail = seat.tail.then(() => shared.detach(seat.id, socket)).catch(report);
  });
}

/** Headers of a request that ask for another protocol. */
const UPGRADING = /^(connection|upgrade|http2-settings)$/i;

/**
 * Gives a request back to the HTTP server that asked for a protocol other than web sockets, e.g. h2c as curl --http2 does: it
 * is answered as if it had not asked, which HTTP allows, and Node does where nobody listens to upgrades.
 */
function ignoreUpgrade(
  server: Server,
  { method, url, rawHeaders }: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  const lines = [`${String(method)} ${String(url)} HTTP/1.1`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name = '', value = ''] = rawHeaders.slice(i);
    if (!UPGRADING.test(name)) lines.push(`${name}: ${value}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}

function refuseUpgrade(socket: Duplex, status: string, message: string): void {
  const body = JSON.stringify({ error: { code: 'unknown_route', message, path: 'path' }, detail: [] });
  const head = [`HTTP/1.1 ${status}`, 'content-type: application/json', `content-length: ${Buffer.byteLength(body)}`];
  socket.end(`${head.join('\r\n')}\r\nconnection: close\r\n\r\n${body}`);
}

/** Ends the socket of a client that is gone or idle, else asks whether it is there. */
function check(seat: Seat, idleSince: number): void {
  if (!seat.is_alive) seat.ws.terminate();
  else if (seat.frame_at < idleSince) seat.ws.close(GOING_AWAY, 'idle for too long');
  else seat.ws.ping();
  seat.is_alive = false;
}

/** Takes web sockets at a server's `/ws` and `/mcp`. */
export function attachSockets(server: Server, context: SocketContext, limits: SocketLimits): Sockets {
  const seats = new Set<Seat>();
  context.metrics.watch('web_sockets', 'Web sockets open.', () => seats.size);
  let isClosing = false;
  const acceptor = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: limits.max_frame,
  });

  const leaveIfIdle = (seat: Seat): void => {
    if (isClosing && !isRunning(seat.session)) seat.ws.close(GOING_AWAY, 'the server is closing');
  };
  const answerAtEndOfTurn = createBatch<Arrival>((arrivals) => {
    answerAll(arrivals, context, leaveIfIdle);
  });
  const take = (ws: WebSocket, { answer, refuse }: Endpoint, sharedId: string | null): void => {
    ws.on('error', () => undefined); // the close that follows says all there is to do
    if (seats.size >= limits.max_sockets) {
      ws.send(refuse(seats.size, limits.max_sockets));
      ws.close(NORMAL);
      return;
    }
    const seat = createSeat(ws, answer, sharedId);
    seats.add(seat);
    ws.on('close', () => seats.delete(seat));
    if (seat.isShared) attach(seat, context);
    ws.on('message', (frame: Buffer) => {
      seat.frame_at = now();
      seat.is_alive = true;
      if (seat.isShared) queue(seat, context, () => answerShared(seat, frame, context, leaveIfIdle));
      else answerAtEndOfTurn([seat, frame]);
    });
    ws.on('pong', () => (seat.is_alive = true));
  };

  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (request.headers.upgrade?.toLowerCase() !== 'websocket') {
      ignoreUpgrade(server, request, socket, head);
      return;
    }
    socket.on('error', () => undefined);
    const [path = '', query] = (request.url ?? '').split('?');
    const endpoint = ENDPOINTS[path];
    if (!endpoint) refuseUpgrade(socket, '404 Not Found', 'web sockets connect to /ws or /mcp');
    else if (isClosing) refuseUpgrade(socket, '503 Service Unavailable', 'the server is closing');
    else {
      const sharedId = path === '/ws' ? new URLSearchParams(query).get('session_id') : null;
      acceptor.handleUpgrade(request, socket, head, (ws) => {
        take(ws, endpoint, sharedId);
      });
    }
  });

  const watch = setInterval(() => {
    const idleSince = now() - limits.socket_idle_timeout * 1000;
    for (const seat of seats) check(seat, idleSince);
  }, limits.socket_ping_interval * 1000);
  watch.unref();

  return {
    close(deadlineMs) {
      isClosing = true;
      clearInterval(watch);
      for (const seat of seats) leaveIfIdle(seat);
      const closeAll = (): void => {
        for (const { ws } of seats) ws.close(GOING_AWAY, 'the server is closing');
      };
      const cutAll = (): void => {
        for (const { ws } of seats) ws.terminate();
      };
      setTimeout(closeAll, deadlineMs * PATIENCE).unref();
      setTimeout(cutAll, deadlineMs).unref();
    },
  };
}
