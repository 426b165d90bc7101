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
  /** Begins or replaces a session. False when all places are taken by sessions that are neither idle for long enough nor spare. */
  set(id: string, value: T): boolean;
  /** The session, which counts as used now. */
  get(id: string): T | undefined;
  delete(id: string): boolean;
  /** Changes sessions, which does not count as a use of them; undefined ends one. */
  revise(change: (value: T) => T | undefined): void;
}

/**
 * @param now Milliseconds of a clock that never goes back.
 * @param isSpare Whether a session gives way to a new one where all places are taken; the one not used for longest does.
 */
export function createSessions<T>(
  { max_sessions, idle_ms }: SessionLimits,
  now: () => number,
  isSpare: (value: T) => boolean = () => false,
): Sessions<T> {
  /** Least recently used first: a Map keeps the order of insertion. */
  const entries = new Map<string, { value: T; used_at: number }>();
  const dropIdle = (): void => {
    for (const [id, { used_at }] of entries) {
      if (now() - used_at < idle_ms) return;
      entries.delete(id);
    }
  };
  const dropSpare = (): void => {
    for (const [id, { value }] of entries) {
      if (!isSpare(value)) continue;
      entries.delete(id);
      return;
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
      const needsPlace = !entries.has(id);
      if (needsPlace && entries.size >= max_sessions) dropSpare();
      if (needsPlace && entries.size >= max_sessions) return false;
      put(id, value);
      return true;
    },
    get(id) {
      dropIdle();
      const entry = entries.get(id);
      if (entry) put(id, entry.value);
      return entry?.value;
    },
    delete: (id) => entries.delete(id),
    revise(change) {
      for (const [id, entry] of entries) {
        const value = change(entry.value);
        if (value === undefined) entries.delete(id);
        else entry.value = value;
      }
    },
  };
}
