/**
 * Episodes that several connections share, and which of them a web socket holds now: one at a time may, and a session that
 * is to be ended while one does ends with it.
 */
import { pid } from 'node:process';
import { isRunning, NO_EPISODE, type EnvSession } from '../tools/held-episode.ts';
import type { SessionLimits } from './bounded-map.ts';
import { createSessionKeeper, createSessionStore, type AskKeeper, type SessionKeeper } from './store.ts';

export interface SharedSession {
  episode: EnvSession;
  /** The web socket that holds it, and the process which that is connected to. */
  socket?: { id: string; pid: number };
  /** It ends with the socket. */
  closes?: boolean;
}

export interface SharedSessions {
  /** False when all places are taken. */
  create(id: string): Promise<boolean>;
  /** Replaces the episode by what `change` makes of it, and gives its result; undefined where there is no such session. */
  update<R>(
    id: string,
    change: (episode: EnvSession) => { episode: EnvSession; result: R },
  ): Promise<{ result: R } | undefined>;
  /** Whether there is such a session, which counts as a use of it. */
  touch(id: string): Promise<boolean>;
  /** Ends the session, or lets it end with the socket that holds it. */
  close(id: string): Promise<'closed' | 'closing' | 'unknown'>;
  attach(id: string, socket: string): Promise<'attached' | 'taken' | 'unknown'>;
  detach(id: string, socket: string): Promise<void>;
  count(): Promise<{ active: number; max: number }>;
}

/** Keeps them; where all places are taken, a session that nobody draws in gives way to a new one. */
export function createSharedKeeper(limits: SessionLimits, now: () => number): SessionKeeper<SharedSession> {
  return createSessionKeeper(limits, now, ({ socket, episode }) => socket === undefined && !isRunning(episode));
}

/** The session without its socket; undefined where it ends with that. */
const withoutSocket = ({ episode, closes }: SharedSession): SharedSession | undefined =>
  closes ? undefined : { episode };

/** Does for the sockets of a process that ended what they would have done when they closed. */
export function releaseSockets(keeper: SessionKeeper<SharedSession>, endedPid: number | undefined): void {
  keeper.revise((session) => (session.socket && session.socket.pid === endedPid ? withoutSocket(session) : session));
}

export function createSharedSessions(ask: AskKeeper<SharedSession>): SharedSessions {
  const store = createSessionStore(ask);
  return {
    create: (id) => store.create(id, { episode: NO_EPISODE }),
    update: (id, change) =>
      store.update(id, (session) => {
        const { episode, result } = change(session.episode);
        return { value: episode === session.episode ? session : { ...session, episode }, result };
      }),
    touch: (id) => store.touch(id),
    async close(id) {
      const held = await store.update(id, (value) =>
        value.socket === undefined ? { value, result: false } : { value: { ...value, closes: true }, result: true },
      );
      if (held?.result) return 'closing';
      return (await store.delete(id)) ? 'closed' : 'unknown';
    },
    async attach(id, socket) {
      const attached = await store.update(id, (value) =>
        value.socket === undefined
          ? { value: { ...value, socket: { id: socket, pid } }, result: true }
          : { value, result: false },
      );
      if (!attached) return 'unknown';
      return attached.result ? 'attached' : 'taken';
    },
    async detach(id, socket) {
      const detached = await store.update(id, (value) => {
        if (value.socket?.id !== socket) return { value, result: false };
        const left = withoutSocket(value);
        return { value: left ?? value, result: left === undefined };
      });
      if (detached?.result) await store.delete(id);
    },
    count: () => store.count(),
  };
}
