/** How a worker of `serve --workers N` asks the primary process for sessions, over the channel that node:cluster gives them. */
import type { AskKeeper, SessionCall, SessionKeeper, SessionReply } from './store.ts';
import type { SharedSession } from './shared.ts';

/** From a worker to the primary process. */
export interface SessionQuestion {
  /** Number of the question, which its answer repeats. */
  session: number;
  call: SessionCall<SharedSession>;
}
/** The other way. */
export interface SessionAnswer {
  session: number;
  reply: SessionReply<SharedSession>;
}

const isOf = (message: unknown): boolean => typeof message === 'object' && message !== null && 'session' in message;
const isQuestion = (message: unknown): message is SessionQuestion => isOf(message);
const isAnswer = (message: unknown): message is SessionAnswer => isOf(message);

interface Channel {
  on(event: 'message', listener: (message: unknown) => void): unknown;
}

/** The primary process: answers a worker's questions. */
export function serveSessions(
  worker: Channel & { send(message: SessionAnswer): unknown },
  keeper: SessionKeeper<SharedSession>,
): void {
  worker.on('message', (message) => {
    if (isQuestion(message)) worker.send({ session: message.session, reply: keeper(message.call) });
  });
}

/** A worker: asks. An answer that never comes means that the primary process is gone, with which the worker ends. */
export function askPrimary(channel: Channel, send: (question: SessionQuestion) => unknown): AskKeeper<SharedSession> {
  const waiting = new Map<number, (reply: SessionReply<SharedSession>) => void>();
  let count = 0;
  channel.on('message', (message) => {
    if (!isAnswer(message)) return;
    waiting.get(message.session)?.(message.reply);
    waiting.delete(message.session);
  });
  return (call) =>
    new Promise((resolve) => {
      const session = count++;
      waiting.set(session, resolve);
      send({ session, call });
    });
}
