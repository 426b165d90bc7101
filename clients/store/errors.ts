/** What can go wrong with the log, as stable codes. The message says what to do; the cause is the driver's own error. */

export type StoreErrorCode =
  | 'not_found' // opened for reading, and there is no such file
  | 'foreign_database' // a SQLite database of another program, or no database at all
  | 'newer_database' // written by a later version of this program
  | 'older_database' // opened for reading, but it must be brought up to date first
  | 'busy' // another process held the lock longer than `busy_ms`
  | 'disk_full'
  | 'no_access' // folder or file cannot be created, read or written
  | 'read_only' // a write to a store that was opened for reading
  | 'constraint' // a row the schema refuses, e.g. of a run that does not exist
  | 'not_finite' // NaN or an infinity where a number belongs
  | 'length_mismatch' // token ids and log-probabilities of different length
  | 'failed'; // anything else the driver reports

export class StoreError extends Error {
  readonly code: StoreErrorCode;
  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreError';
    this.code = code;
  }
}

/** SQLite result codes by prefix; extended codes such as SQLITE_BUSY_SNAPSHOT begin with the plain one. */
const CODES: readonly (readonly [prefix: string, code: StoreErrorCode])[] = [
  ['SQLITE_BUSY', 'busy'],
  ['SQLITE_LOCKED', 'busy'],
  ['SQLITE_FULL', 'disk_full'],
  ['SQLITE_READONLY', 'no_access'],
  ['SQLITE_CANTOPEN', 'no_access'],
  ['SQLITE_PERM', 'no_access'],
  ['SQLITE_IOERR', 'no_access'],
  ['SQLITE_NOTADB', 'foreign_database'],
  ['SQLITE_CONSTRAINT', 'constraint'],
];

/** SQLite's own code of an error, e.g. `SQLITE_FULL`; "" for errors of other origin. */
export function sqliteCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : '';
}

/** The error to throw for what the driver threw; errors of other origin pass unchanged. */
export function toStoreError(error: unknown, path: string): unknown {
  const sqlite = sqliteCode(error);
  if (sqlite === '' || !(error instanceof Error)) return error;
  const code = CODES.find(([prefix]) => sqlite.startsWith(prefix))?.[1] ?? 'failed';
  return new StoreError(code, `${path}: ${error.message} (${sqlite})`, { cause: error });
}
