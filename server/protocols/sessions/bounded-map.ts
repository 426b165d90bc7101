/**
 * Sessions of protocols that leave the state with the server (ORS, MCP): a bounded map whose idle entries go away by
 * themselves. Clients that never say goodbye must not fill it, and a trainer may pause for minutes while it updates weights.
 */

export interface SessionLimits {
  max_sessions: number;
  /** Idle time after which a session is dropped, ms. */
  idle_ms: number;
}

export interface Sessions<T> {
  readonly size: number;
  /** Begins or replaces a session. False when all places are taken by sessions that are not idle for long enough. */
  set(id: string, value: T): boolean;
  /** Begins or replaces a session. When all places are taken, the one that was not used for longest gives way. */
  keep(id: string, value: T): void;
  /** The session, which counts as used now. */
  get(id: string): T | undefined;
  delete(id: string): boolean;
}

/** @param now Milliseconds of a clock that never goes back. */
export function createSessions<T>({ max_sessions, idle_ms }: SessionLimits, now: () => number): Sessions<T> {
  /** Least recently used first: a Map keeps the order of insertion. */
  const entries = new Map<string, { value: T; used_at: number }>();
  const dropIdle = (): void => {
    for (const [id, { used_at }] of entries) {
      if (now() - used_at < idle_ms) return;
      entries.delete(id);
    }
  };
  const put = (id: string, value: T): void => {
    entries.delete(id);
    entries.set(id, { value, used_at: now() });
  };
  return {
    get size() {
      return entries.size;
    },
    set(id, value) {
      dropIdle();
      if (!entries.has(id) && entries.size >= max_sessions) return false;
      put(id, value);
      return true;
    },
    keep(id, value) {
      dropIdle();
      const oldest = entries.keys().next();
      if (!entries.has(id) && entries.size >= max_sessions && !oldest.done) entries.delete(oldest.value);
      put(id, value);
    },
    get(id) {
      dropIdle();
      const entry = entries.get(id);
      if (entry) put(id, entry.value);
      return entry?.value;
    },
    delete: (id) => entries.delete(id),
  };
}
