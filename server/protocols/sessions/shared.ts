/**
 * Episodes that several connections share, and which of them a web socket holds now: one at a time may, and a session that
 * is to be ended while one does ends with it.
 */
import { NO_EPISODE, type EnvSession } from '../tools/held-episode.ts';
import { createSessionStore, type AskKeeper } from './store.ts';

export interface SharedSession {
  episode: EnvSession;
  /** The web socket that holds it. */
  socket?: string;
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
  exists(id: string): Promise<boolean>;
  /** Ends the session, or lets it end with the socket that holds it. */
  close(id: string): Promise<'closed' | 'closing' | 'unknown'>;
  attach(id: string, socket: string): Promise<'attached' | 'taken' | 'unknown'>;
  detach(id: string, socket: string): Promise<void>;
  count(): Promise<{ active: number; max: number }>;
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
    exists: async (id) => (await store.update(id, (value) => ({ value, result: true }))) !== undefined,
    async close(id) {
      const held = await store.update(id, (value) =>
        value.socket === undefined ? { value, result: false } : { value: { ...value, closes: true }, result: true },
      );
      if (held?.result) return 'closing';
      return (await store.delete(id)) ? 'closed' : 'unknown';
    },
    async attach(id, socket) {
      const attached = await store.update(id, (value) =>
        value.socket === undefined ? { value: { ...value, socket }, result: true } : { value, result: false },
      );
      if (!attached) return 'unknown';
      return attached.result ? 'attached' : 'taken';
    },
    async detach(id, socket) {
      const detached = await store.update(id, (value) => {
        if (value.socket !== socket) return { value, result: false };
        const { episode, closes = false } = value;
        return { value: { episode }, result: closes };
      });
      if (detached?.result) await store.delete(id);
    },
    count: () => store.count(),
  };
}
