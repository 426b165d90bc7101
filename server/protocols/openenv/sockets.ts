/**
 * Web sockets: OpenEnv's `/ws`, whose frames are answered by frames.ts, and its `/mcp`, whose frames are JSON-RPC
 * requests. Here is only what a socket needs: so many at a time, frames so large, answers in order, clients that are gone or
 * idle reaped, pages of other sites refused, and an end in which running episodes may finish.
 *
 * A client that sends and does not read costs little: no frame is answered while more than MAX_UNREAD bytes or MAX_UNSENT
 * answers wait for it, and while frames wait to be answered no more are read. A small frame may ask for a large answer, so
 * what counts is checked before an answer is made, not after.
 *
 * Nothing is compressed: OpenEnv's validator refuses that, and it would cost more than a step. Too large a frame closes the
 * socket with code 1009, as the protocol has it.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { createBatch } from '../../batch.ts';
import type { Context } from '../../context.ts';
import { isRunning, NO_EPISODE, type EnvSession } from '../tools/held-episode.ts';
import { answerFrame, errorFrame, type FrameAnswer } from './frames.ts';
import { FOREIGN_PAGE, isForeignPage } from '../origin.ts';
import { answerRpcFrame, refuseAtCapacity } from './rpc.ts';
import { ignoreUpgrade, refuseUpgrade } from './upgrade.ts';

/** Times in seconds, sizes in bytes. */
export interface SocketLimits {
  max_sockets: number;
  max_frame: number;
  /** Looked for with each ping, so that a socket may idle for one interval more. */
  socket_idle_timeout: number;
  socket_ping_interval: number;
}

export interface Sockets {
  /** Takes no more, closes each socket when its episode ends, and all that are left shortly before the deadline. */
  close(deadlineMs: number): void;
}

/** Bytes of answers that may wait to be sent to a client before no more of its frames are answered. */
const MAX_UNREAD = 2 ** 18;
/** The same in answers, since each costs more than its bytes. */
const MAX_UNSENT = 512;
/** Frames of one client that are answered in a turn of the event loop. */
const FRAMES_PER_TURN = 32;
/** Characters of answers that are held together before they are sent, of all clients. */
const MAX_HELD = 2 ** 23;
/** Frames of a client that may wait; then it is not read. What was read already, up to 128 KiB, still comes. */
const MAX_WAITING = 64;
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
  /** Frames that wait to be answered. */
  waiting: Uint8Array[];
  /** Its next frames are to be answered, or being answered. */
  is_busy: boolean;
  /** Answers that the system has not taken yet. */
  unsent: number;
  /** The last work on a shared session. */
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
    waiting: [],
    is_busy: false,
    unsent: 0,
    tail: Promise.resolve(),
    frame_at: now(),
    is_alive: true,
  };
}

/** Whether as much waits to be sent as may. @param made Characters of answers that are made and not sent. */
function isClogged({ ws, unsent }: Seat, made = 0): boolean {
  return ws.bufferedAmount + made > MAX_UNREAD || unsent > MAX_UNSENT;
}

const isOpen = ({ ws }: Seat): boolean => ws.readyState === ws.OPEN;

const SESSION_GONE: FrameAnswer = {
  session: NO_EPISODE,
  reply: errorFrame('SESSION_ERROR', 'the session has ended; begin another'),
  ends: true,
};

/** Where frames are answered. */
interface Desk {
  /** Takes a frame that came in. */
  receive: (seat: Seat, frame: Uint8Array) => void;
  finish: (seat: Seat, answer: FrameAnswer) => void;
  /** Works for a seat, whose frames wait until it is done. */
  occupy: (seat: Seat, work: () => Promise<void>) => void;
}

/** @param done Called when a frame has been answered. */
function createDesk(context: SocketContext, done: (seat: Seat) => void): Desk {
  const sent = (seat: Seat) => (): void => {
    seat.unsent--;
    settle(seat);
  };

  const finish = (seat: Seat, { reply, ends, scored }: FrameAnswer): void => {
    if (scored !== undefined) context.metrics.countCompletions(scored, 1);
    if (reply !== undefined) {
      seat.unsent++;
      seat.ws.send(reply, sent(seat));
    }
    if (ends) seat.ws.close(NORMAL);
  };

  /** Answers the next frames of a session of its own, as many as its turn allows. */
  const takeTurn = (seat: Seat): FrameAnswer[] => {
    const answers: FrameAnswer[] = [];
    let made = 0;
    for (const frame of seat.waiting.slice(0, FRAMES_PER_TURN)) {
      if (!isOpen(seat) || isClogged(seat, made)) break;
      const answer = seat.answer(seat.session, frame, context, seat.id);
      seat.session = answer.session;
      made += answer.reply?.length ?? 0;
      answers.push(answer);
      if (answer.ends) break;
    }
    seat.waiting.splice(0, answers.length);
    return answers;
  };

  const sendAll = (turns: readonly (readonly [Seat, FrameAnswer[]])[]): void => {
    for (const [seat, answers] of turns) {
      for (const answer of answers) {
        finish(seat, answer);
        done(seat);
      }
      seat.is_busy = false;
      settle(seat);
    }
  };

  /** First all are worked on, then all answers sent. */
  const answerAtEndOfTurn = createBatch<Seat>((seats) => {
    let turns: (readonly [Seat, FrameAnswer[]])[] = [];
    let held = 0;
    for (const seat of seats) {
      const answers = takeTurn(seat);
      turns.push([seat, answers]);
      held += answers.reduce((sum, { reply = '' }) => sum + reply.length, 0);
      if (held <= MAX_HELD) continue;
      sendAll(turns);
      turns = [];
      held = 0;
    }
    sendAll(turns);
  });

  const answerShared = async (seat: Seat): Promise<void> => {
    const frame = seat.waiting.shift();
    if (!frame || !isOpen(seat)) return;
    const answered = await context.shared.update(seat.id, (before) => {
      const result = seat.answer(before, frame, context, seat.id);
      return { episode: result.session, result };
    });
    if (answered) seat.session = answered.result.session;
    finish(seat, answered?.result ?? SESSION_GONE);
    done(seat);
  };

  const occupy: Desk['occupy'] = (seat, work) => {
    seat.is_busy = true;
    seat.tail = seat.tail
      .then(work)
      .catch(context.report)
      .then(() => {
        seat.is_busy = false;
        settle(seat);
      });
  };

  /** Sees to a seat's next frames: answers them, reads more, or waits until its client has read. */
  const settle = (seat: Seat): void => {
    const { ws, waiting } = seat;
    if (!isOpen(seat)) seat.waiting = [];
    else if (isClogged(seat) || waiting.length > MAX_WAITING) ws.pause();
    else if (waiting.length === 0 && ws.isPaused) ws.resume();
    if (seat.is_busy || seat.waiting.length === 0 || isClogged(seat)) return;
    if (seat.isShared) {
      occupy(seat, () => answerShared(seat));
      return;
    }
    seat.is_busy = true;
    answerAtEndOfTurn(seat);
  };

  return {
    finish,
    occupy,
    receive(seat, frame) {
      seat.waiting.push(frame);
      settle(seat);
    },
  };
}

/** What a socket is told that may not have the session it asks for. */
const ATTACH_FAULTS = {
  taken: 'the session has a web socket already; close that, or begin another session',
  unknown: 'Unknown session_id: begin a session with openenv/session/create at POST /mcp',
} as const;

/** Takes the session that a socket asks for, before its first frame is answered, and gives it back when it closes. */
function attach(seat: Seat, { shared, report }: SocketContext, { finish, occupy }: Desk): void {
  const socket = randomUUID();
  occupy(seat, async () => {
    const outcome = await shared.attach(seat.id, socket);
    if (outcome !== 'attached')
      finish(seat, { ...SESSION_GONE, reply: errorFrame('SESSION_ERROR', ATTACH_FAULTS[outcome]) });
  });
  seat.ws.on('close', () => {
    seat.tail = seat.tail.then(() => shared.detach(seat.id, socket)).catch(report);
  });
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
  const desk = createDesk(context, leaveIfIdle);
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
    if (seat.isShared) attach(seat, context, desk);
    ws.on('message', (frame: Buffer) => {
      seat.frame_at = now();
      seat.is_alive = true;
      desk.receive(seat, frame);
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
    if (!endpoint) refuseUpgrade(socket, 'unknown_route', 'web sockets connect to /ws or /mcp');
    else if (isForeignPage(request.headers.origin)) refuseUpgrade(socket, 'foreign_page', FOREIGN_PAGE);
    else if (isClosing) refuseUpgrade(socket, 'overloaded', 'the server is closing');
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
