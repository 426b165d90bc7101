/**
 * The log: runs, episodes with their steps, metrics, teacher samples and pictures in one SQLite file.
 *
 *   const store = openStore('runs/canvas-gym.db');
 *   store.createRun({ run_id, command: 'sft', config });
 *   store.recordMetrics(run_id, 'sft', step, { 'loss/sft': loss });
 *   store.finishRun(run_id, 'done');
 *   store.close();
 *
 * All calls are synchronous and short. `transaction(work)` makes several of them one; `work` cannot be async.
 */
import { connect, type StoreOptions } from './connection.ts';
import { StoreError } from './errors.ts';
import { createReaders } from './readers.ts';
import { createWriters } from './writers.ts';

export { StoreError, type StoreErrorCode } from './errors.ts';
export type { Checkpoint, StoreOptions } from './connection.ts';
export type * from './rows.ts';
export type { EpisodeQuery, Holding } from './readers.ts';
export { SCHEMA_VERSION } from './schema.ts';
export { toStepRecord, type Turn } from './turn.ts';

export type Store = ReturnType<typeof openStore>;

/**
 * Opens the log, creates it where there is none, and brings an older one up to date.
 * A database that is foreign, newer, locked or out of reach stays as it was.
 * @throws StoreError with code, see errors.ts
 */
export function openStore(path: string, options: StoreOptions = {}) {
  const connection = connect(path, options);
  return {
    ...createWriters(connection),
    ...createReaders(connection.db),
    transaction: connection.write,
    checkpoint: connection.checkpoint,
    close: connection.close,
    /** Rows of any SELECT, for reports; write through the functions above. */
    query: (sql: string, ...parameters: (string | number | null)[]): Record<string, unknown>[] =>
      connection.db.prepare<unknown[], Record<string, unknown>>(sql).all(...parameters),
  };
}

/** Opens the log to read it; one of an older version is brought up to date first. @throws StoreError */
export function openStoreToRead(path: string): Store {
  try {
    return openStore(path, { readonly: true });
  } catch (error) {
    if (!(error instanceof StoreError && error.code === 'older_database')) throw error;
    openStore(path).close();
    return openStore(path, { readonly: true });
  }
}
