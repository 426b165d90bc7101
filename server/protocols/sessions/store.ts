/**
 * Where sessions live that several connections share: an MCP client's requests, or a web socket and the JSON-RPC of the same
 * OpenEnv client. They are kept by one keeper: of this process, or, with several workers, of the primary process, which the
 * workers ask. A session changes only by `update`, with a pure function of what it was. The updates of one process wait for
 * each other, and other work has its turn between them; where a request in another process was faster, the function is applied
 * again, so that none loses the other's work.
 */
import { setImmediate } from 'node:timers/promises';
import { createSessions, type SessionLimits } from './bounded-map.ts';

export type SessionCall<T> =
  | { op: 'create'; id: string; value: T }
  /** Asks whether it is there, which counts as a use. */
  | { op: 'touch'; id: string }
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

export interface SessionKeeper<T> {
  (call: SessionCall<T>): SessionReply<T>;
  /** Changes sessions, which does not count as a use of them; undefined ends one. */
  revise(change: (value: T) => T | undefined): void;
}

/** @param now, isSpare As for `createSessions`. */
export function createSessionKeeper<T>(
  limits: SessionLimits,
  now: () => number,
  isSpare: (value: T) => boolean = () => false,
): SessionKeeper<T> {
  const sessions = createSessions<Versioned<T>>(limits, now, ({ value }) => isSpare(value));
  const answer = (call: SessionCall<T>): SessionReply<T> => {
    switch (call.op) {
      case 'create':
        return { ok: sessions.set(call.id, { value: call.value, version: 0 }) };
      case 'touch':
        return { ok: sessions.get(call.id) !== undefined };
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
  const revise: SessionKeeper<T>['revise'] = (change) => {
    sessions.revise((entry) => {
      const value = change(entry.value);
      if (value === undefined) return undefined;
      return value === entry.value ? entry : { value, version: entry.version + 1 };
    });
  };
  return Object.assign(answer, { revise });
}

export interface SessionStore<T> {
  /** False when all places are taken. */
  create(id: string, value: T): Promise<boolean>;
  /** Whether there is such a session, which counts as a use of it. */
  touch(id: string): Promise<boolean>;
  /** Replaces the session by what `change` makes of it, and gives its result; undefined where there is no such session. */
  update<R>(id: string, change: (value: T) => { value: T; result: R }): Promise<{ result: R } | undefined>;
  /** Whether there was one. */
  delete(id: string): Promise<boolean>;
  /** For a refusal when all places are taken. */
  count(): Promise<{ active: number; max: number }>;
}

/** What asks the keeper. */
export type AskKeeper<T> = (call: SessionCall<T>) => SessionReply<T> | Promise<SessionReply<T>>;

/** Runs what is given for one name one after the other, and each in a turn of the event loop of its own. */
function createQueues(): <R>(name: string, work: () => Promise<R>) => Promise<R> {
  const tails = new Map<string, Promise<void>>();
  return (name, work) => {
    const running =
      tails
        .get(name)
        ?.then(() => setImmediate())
        .then(work) ?? work();
    const tail = running.then(
      () => undefined,
      () => undefined, // whoever asked for the work is told
    );
    tails.set(name, tail);
    void tail.then(() => {
      if (tails.get(name) === tail) tails.delete(name);
    });
    return running;
  };
}

export function createSessionStore<T>(ask: AskKeeper<T>): SessionStore<T> {
  const inTurn = createQueues();
  const update = async <R>(id: string, change: (value: T) => { value: T; result: R }) => {
    for (;;) {
      const { entry } = await ask({ op: 'read', id });
      if (!entry) return undefined;
      const { value, result } = change(entry.value);
      if (value === entry.value) return { result };
      const { ok } = await ask({ op: 'write', id, value, version: entry.version });
      if (ok) return { result };
    }
  };
  return {
    create: async (id, value) => (await ask({ op: 'create', id, value })).ok,
    touch: async (id) => (await ask({ op: 'touch', id })).ok,
    update: (id, change) => inTurn(id, () => update(id, change)),
    delete: async (id) => (await ask({ op: 'delete', id })).ok,
    count: async () => (await ask({ op: 'count' })).count ?? { active: 0, max: 0 },
  };
}
