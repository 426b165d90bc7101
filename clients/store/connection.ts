/**
 * One connection to the log: opened without touching what is not ours, written in short immediate transactions.
 *
 * Every write takes the write lock at BEGIN (a transaction that reads first and writes later fails at once with
 * SQLITE_BUSY_SNAPSHOT whatever the timeout) and is repeated as a whole while another process holds the lock, up to
 * `busy_ms`. Waiting blocks the thread, as every call of this driver does.
 */
import { mkdirSync, openSync, readSync, closeSync, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import { sqliteCode, StoreError, toStoreError } from './errors.ts';
import { assertCurrent, migrate } from './migrate.ts';
import { APPLICATION_ID, MIGRATIONS } from './schema.ts';

export interface StoreOptions {
  /** Never write, and never create the file. */
  readonly?: boolean;
  /** How long to wait for another process's lock before giving up. */
  busy_ms?: number;
  /** Told what is wrong but not fatal, e.g. that a reader keeps the write-ahead log from shrinking. */
  onWarning?: (message: string) => void;
}

/** What `PRAGMA wal_checkpoint` reports, in pages of 4 KiB. */
export interface Checkpoint {
  busy: boolean;
  log: number;
  checkpointed: number;
}

export interface Connection {
  readonly db: Database;
  /**
   * Runs `work` in one transaction: all of it is stored, or none. Inside another one it joins that. It runs again as a
   * whole where the lock was taken from under it, so it only writes to the log.
   */
  readonly write: <T>(work: () => T) => T;
  /** Moves the write-ahead log into the database and shrinks it. `busy`: a reader or writer is in the way. */
  readonly checkpoint: () => Checkpoint;
  readonly close: () => void;
}

const BUSY_MS = 10_000;
/** One wait inside SQLite; between two of them the whole transaction is tried anew. */
const LOCK_WAIT_MS = 1_000;
const WAL_LIMIT_BYTES = 16 * 2 ** 20;
/** Pages the log may hold back before it is worth a warning: 32 MiB. */
const WAL_WARN_PAGES = 8_192;
/** Transactions between two looks at the log. */
const CHECK_EVERY = 64;

/** Opens, checks, migrates. @throws StoreError; the file is then as it was. */
export function connect(path: string, options: StoreOptions = {}): Connection {
  const readonly = options.readonly ?? false;
  const found = path === ':memory:' ? 'absent' : inspect(path);
  if (readonly && found === 'absent') throw new StoreError('not_found', `${path}: no such database`);
  const deadline = Date.now() + (options.busy_ms ?? BUSY_MS);
  let db: Database | undefined;
  try {
    if (!readonly && path !== ':memory:') mkdirSync(dirname(path), { recursive: true });
    const opened = new Sqlite(path, { readonly, timeout: Math.min(LOCK_WAIT_MS, options.busy_ms ?? BUSY_MS) });
    db = opened;
    retry(() => {
      prepare(opened, readonly);
    }, deadline);
    return createConnection(opened, options);
  } catch (error) {
    db?.close();
    throw openError(error, path);
  }
}

/** Looks at the file's header without opening it as a database, which could already change it. */
function inspect(path: string): 'absent' | 'ours' {
  const header = Buffer.alloc(100);
  let size = 0;
  try {
    const file = openSync(path, 'r');
    size = readSync(file, header);
    closeSync(file);
  } catch (error) {
    if (existsSync(path)) throw new StoreError('no_access', `${path} cannot be read`, { cause: error });
  }
  if (size === 0) return 'absent';
  // https://www.sqlite.org/fileformat.html: the magic text is at offset 0, the application id at 68.
  const isSqlite = header.toString('latin1', 0, 16) === 'SQLite format 3\0';
  if (isSqlite && header.readUInt32BE(68) === APPLICATION_ID) return 'ours';
  const what = isSqlite ? 'the database of another program' : 'not a database';
  throw new StoreError('foreign_database', `${path} is ${what}; it was not touched. Choose another file.`);
}

function prepare(db: Database, readonly: boolean): void {
  db.pragma('foreign_keys = ON');
  if (readonly) {
    assertCurrent(db);
    return;
  }
  migrate(db, MIGRATIONS);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL'); // .6 to 2 ms a commit: what a checkpoint counts is in the log even after a power cut
  db.pragma(`journal_size_limit = ${WAL_LIMIT_BYTES}`);
}

function openError(error: unknown, path: string): unknown {
  if (error instanceof StoreError) return error;
  if (sqliteCode(error) !== '') return toStoreError(error, path);
  const reason = error instanceof Error ? error.message : String(error);
  return new StoreError('no_access', `${path}: ${reason}`, { cause: error });
}

/** Repeats `work` while it fails for a lock, with growing, jittered pauses, until `deadline` (ms since the epoch). */
function retry<T>(work: () => T, deadline: number): T {
  for (let pause_ms = 5; ; pause_ms = Math.min(2 * pause_ms, 100)) {
    try {
      return work();
    } catch (error) {
      if (!sqliteCode(error).startsWith('SQLITE_BUSY') || Date.now() >= deadline) throw error;
      sleep(pause_ms * (0.5 + Math.random()));
    }
  }
}

function sleep(duration_ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, duration_ms);
}

function createConnection(db: Database, options: StoreOptions): Connection {
  const path = db.name;
  const busy_ms = options.busy_ms ?? BUSY_MS;
  const transaction = db.transaction((work: () => unknown) => work());
  let writes = 0;
  const watchLog = (): void => {
    if (++writes % CHECK_EVERY !== 0) return;
    const warning = logWarning(db);
    if (warning !== undefined) options.onWarning?.(warning);
  };
  return {
    db,
    write: <T>(work: () => T): T => {
      if (db.inTransaction) return work();
      if (db.readonly) throw new StoreError('read_only', `${path} was opened for reading`);
      const result = guarded(path, () => retry(() => transaction.immediate(work), Date.now() + busy_ms));
      watchLog();
      return result as T;
    },
    checkpoint: () => guarded(path, () => walCheckpoint(db, 'TRUNCATE')),
    close: () => {
      db.close(); // the last connection to close moves the whole log into the database
    },
  };
}

function guarded<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw toStoreError(error, path);
  }
}

function walCheckpoint(db: Database, mode: 'PASSIVE' | 'TRUNCATE'): Checkpoint {
  const [row] = db.pragma(`wal_checkpoint(${mode})`) as { busy: number; log: number; checkpointed: number }[];
  return { busy: row?.busy === 1, log: row?.log ?? 0, checkpointed: row?.checkpointed ?? 0 };
}

/** What keeps the log from shrinking, if anything. The rows are stored already, so nothing here fails a write. */
function logWarning(db: Database): string | undefined {
  try {
    const { log, checkpointed } = walCheckpoint(db, 'PASSIVE');
    if (log - checkpointed < WAL_WARN_PAGES) return undefined;
    return `${db.name}: a reader holds back ${log - checkpointed} pages of the write-ahead log`;
  } catch (error) {
    return `${db.name}: the write-ahead log cannot be moved into the database (${sqliteCode(error)})`;
  }
}
