/**
 * The sessions that several connections of this process share, and which of them a web socket holds now: one at a time may,
 * and a session that is to be ended while one does ends with it.
 */
import type { EnvSession } from './env-session.ts';
import type { SessionStore } from './session-store.ts';

export interface SharedSessions {
  readonly store: SessionStore<EnvSession>;
  /** False where another socket holds the session. */
  attach(id: string): boolean;
  /** Whether a socket holds the session, which then ends with it. */
  closeWithSocket(id: string): boolean;
  detach(id: string): Promise<void>;
}

export function createSharedSessions(store: SessionStore<EnvSession>): SharedSessions {
  const attached = new Map<string, { closes: boolean }>();
  return {
    store,
    attach(id) {
      if (attached.has(id)) return false;
      attached.set(id, { closes: false });
      return true;
    },
    closeWithSocket(id) {
      const attachment = attached.get(id);
      if (attachment) attachment.closes = true;
      return attachment !== undefined;
    },
    async detach(id) {
      const closes = attached.get(id)?.closes === true;
      attached.delete(id);
      if (closes) await store.delete(id);
    },
  };
}
