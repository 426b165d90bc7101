/** How a worker of `serve --workers N` asks the primary process for sessions, over the channel that node:cluster gives them. */
import type { AskKeeper, SessionCall, SessionKeeper, SessionReply } from './store.ts';

/** What the primary process keeps for its workers, each with a keeper of its own. */
export type SessionTable = 'shared' | 'ors' | 'nemo';

/** From a worker to the primary process. */
export interface SessionQuestion {
  /** Number of the question, which its answer repeats. */
  session: number;
  /** Which of its tables is asked. */
  table: SessionTable;
  call: SessionCall<unknown>;
}
/** The other way. */
export interface SessionAnswer {
  session: number;
  table: SessionTable;
  reply: SessionReply<unknown>;
}

const isOf = (message: unknown): boolean => typeof message === 'object' && message !== null && 'session' in message;
const isQuestion = (message: unknown): message is SessionQuestion => isOf(message);
const isAnswer = (message: unknown): message is SessionAnswer => isOf(message);

interface Channel {
  on(event: 'message', listener: (message: unknown) => void): unknown;
}

/** The primary process: answers a worker's questions about a table. */
export function serveSessions<T>(
  worker: Channel & { send(message: SessionAnswer): unknown },
  table: SessionTable,
  keeper: SessionKeeper<T>,
): void {
  worker.on('message', (message) => {
    if (!isQuestion(message) || message.table !== table) return;
    worker.send({ session: message.session, table, reply: keeper(message.call as SessionCall<T>) });
  });
}

/** A worker: asks. An answer that never comes means that the primary process is gone, with which the worker ends. */
export function askPrimary<T>(
  channel: Channel,
  table: SessionTable,
  send: (question: SessionQuestion) => unknown,
): AskKeeper<T> {
  const waiting = new Map<number, (reply: SessionReply<T>) => void>();
  let count = 0;
  channel.on('message', (message) => {
    if (!isAnswer(message) || message.table !== table) return;
    waiting.get(message.session)?.(message.reply as SessionReply<T>);
    waiting.delete(message.session);
  });
  return (call) =>
    new Promise((resolve) => {
      const session = count++;
      waiting.set(session, resolve);
      send({ session, table, call });
    });
}
