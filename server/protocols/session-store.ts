/**
 * Where sessions live that several connections share: an MCP client's requests, or a web socket and the JSON-RPC of the same
 * OpenEnv client. A session changes only by `update`, with a pure function of what it was, so that requests which come
 * together never lose each other's work.
 */
import { createSessions, type SessionLimits } from './sessions.ts';

export interface SessionStore<T> {
  /** False when all places are taken. */
  create(id: string, value: T): Promise<boolean>;
  /** Replaces the session by what `change` makes of it, and gives its result; undefined where there is no such session. */
  update<R>(id: string, change: (value: T) => { value: T; result: R }): Promise<{ result: R } | undefined>;
  /** Whether there was one. */
  delete(id: string): Promise<boolean>;
  /** For a refusal when all places are taken. */
  count(): Promise<{ active: number; max: number }>;
}

/** @param now Milliseconds of a clock that never goes back. */
export function createSessionStore<T>(limits: SessionLimits, now: () => number): SessionStore<T> {
  const sessions = createSessions<T>(limits, now);
  return {
    create: (id, value) => Promise.resolve(sessions.set(id, value)),
    update: (id, change) => {
      const before = sessions.get(id);
      if (before === undefined) return Promise.resolve(undefined);
      const { value, result } = change(before);
      sessions.set(id, value);
      return Promise.resolve({ result });
    },
    delete: (id) => Promise.resolve(sessions.delete(id)),
    count: () => Promise.resolve({ active: sessions.size, max: limits.max_sessions }),
  };
}
