/**
 * Where sessions live that several connections share: an MCP client's requests, or a web socket and the JSON-RPC of the same
 * OpenEnv client. They are kept by one keeper: of this process, or, with several workers, of the primary process, which the
 * workers ask. A session changes only by `update`, with a pure function of what it was: where another request was faster,
 * the function is applied again, so that none loses the other's work, in whichever process they ran.
 */
import { createSessions, type SessionLimits } from './bounded-map.ts';

export type SessionCall<T> =
  | { op: 'create'; id: string; value: T }
  | { op: 'read'; id: string }
  | { op: 'write'; id: string; value: T; version: number }
  | { op: 'delete'; id: string }
  | { op: 'count' };

export interface SessionReply<T> {
  /** Whether it was done: there was a place, there is such a session, nobody wrote it since it was read. */
  ok: boolean;
  entry?: Versioned<T> | undefined;
  count?: { active: number; max: number };
}

interface Versioned<T> {
  value: T;
  version: number;
}

export type SessionKeeper<T> = (call: SessionCall<T>) => SessionReply<T>;

/** @param now Milliseconds of a clock that never goes back. */
export function createSessionKeeper<T>(limits: SessionLimits, now: () => number): SessionKeeper<T> {
  const sessions = createSessions<Versioned<T>>(limits, now);
  return (call) => {
    switch (call.op) {
      case 'create':
        return { ok: sessions.set(call.id, { value: call.value, version: 0 }) };
      case 'read': {
        const entry = sessions.get(call.id);
        return { ok: entry !== undefined, entry };
      }
      case 'write': {
        const { id, value, version } = call;
        if (sessions.get(id)?.version !== version) return { ok: false };
        return { ok: sessions.set(id, { value, version: version + 1 }) };
      }
      case 'delete':
        return { ok: sessions.delete(call.id) };
      case 'count':
        return { ok: true, count: { active: sessions.size, max: limits.max_sessions } };
    }
  };
}

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

/** What asks the keeper. */
export type AskKeeper<T> = (call: SessionCall<T>) => SessionReply<T> | Promise<SessionReply<T>>;

export function createSessionStore<T>(ask: AskKeeper<T>): SessionStore<T> {
  return {
    create: async (id, value) => (await ask({ op: 'create', id, value })).ok,
    update: async (id, change) => {
      for (;;) {
        const { entry } = await ask({ op: 'read', id });
        if (!entry) return undefined;
        const { value, result } = change(entry.value);
        if (value === entry.value) return { result };
        const { ok } = await ask({ op: 'write', id, value, version: entry.version });
        if (ok) return { result };
      }
    },
    delete: async (id) => (await ask({ op: 'delete', id })).ok,
    count: async () => (await ask({ op: 'count' })).count ?? { active: 0, max: 0 },
  };
}
