/** Opening the log: what is ours is made ready, everything else gives a clear error and stays as it was. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { openStore, StoreError, type StoreOptions } from '../../clients/store/index.ts';
import { episode, openLog, RUN } from './records.ts';
import { temporaryFolder } from '../tools/temporary-folder.ts';

function codeOf(path: string, options?: StoreOptions): string {
  try {
    openStore(path, options).close();
    return 'opened';
  } catch (error) {
    return error instanceof StoreError ? error.code : String(error);
  }
}

test('a new log has strict tables, checked references, a write-ahead log and its version in both places', () => {
  const store = openLog(join(temporaryFolder(), 'deep', 'new', 'canvas-gym.db'));
  const tables = store.query(
    `SELECT name, strict FROM pragma_table_list WHERE type = 'table' AND name NOT LIKE 'sqlite%'`,
  );
  const names = 'episodes images judgments metrics reviews runs schema_version steps teacher_samples'.split(' ');
  expect(tables.map(({ name }) => name).sort()).toEqual(names);
  expect(tables.filter(({ strict }) => strict !== 1)).toEqual([]);
  expect(store.query('PRAGMA foreign_keys')).toEqual([{ foreign_keys: 1 }]);
  expect(store.query('PRAGMA journal_mode')).toEqual([{ journal_mode: 'wal' }]);
  expect(store.query('PRAGMA synchronous')).toEqual([{ synchronous: 2 }]); // each commit is on the disk
  expect(store.query('PRAGMA user_version')).toEqual(
    store.query('SELECT max(version) AS user_version FROM schema_version'),
  );
});

function foreignDatabase(path: string): void {
  const db = new Sqlite(path);
  db.exec('PRAGMA journal_mode = WAL; CREATE TABLE customers (name TEXT)');
  db.close();
}

function withVersion(version: number): (path: string) => void {
  return (path) => {
    openStore(path).close();
    const db = new Sqlite(path);
    db.pragma(`user_version = ${version}`);
    db.close();
  };
}

const WRITE: StoreOptions = {};
const READ: StoreOptions = { readonly: true };

test.each([
  [
    'a text file',
    (path: string) => {
      writeFileSync(path, 'a diary\n'.repeat(100));
    },
    WRITE,
    'foreign_database',
  ],
  [
    'a short file',
    (path: string) => {
      writeFileSync(path, 'x');
    },
    WRITE,
    'foreign_database',
  ],
  ['the database of another program', foreignDatabase, WRITE, 'foreign_database'],
  ['the database of another program, to read', foreignDatabase, READ, 'foreign_database'],
  ['a log of a later version', withVersion(999), WRITE, 'newer_database'],
  ['a log of a later version, to read', withVersion(999), READ, 'newer_database'],
  ['a log of an earlier version, to read', withVersion(0), READ, 'older_database'],
])('%s is refused and not changed', (_, make, options, code) => {
  const path = join(temporaryFolder(), 'log.db');
  make(path);
  const before = readFileSync(path);
  expect(codeOf(path, options)).toBe(code);
  expect(readFileSync(path).equals(before)).toBe(true);
});

/** Runs `work` as a user whom file permissions bind; root is bound by none. */
function asOrdinaryUser<T>(work: () => T): T {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid?.(65534);
  try {
    return work();
  } finally {
    process.seteuid?.(0);
  }
}

test.each([
  ['a folder that is a file', () => '/dev/null/log.db', WRITE, 'no_access'],
  ['a folder in place of the file', (folder: string) => folder, WRITE, 'no_access'],
  ['a missing file, to read', (folder: string) => join(folder, 'log.db'), READ, 'not_found'],
])('%s is refused', (_, toPath, options, code) => {
  expect(codeOf(toPath(temporaryFolder()), options)).toBe(code);
});

test('a folder that may not be written is refused', () => {
  const folder = join(temporaryFolder(), 'locked');
  mkdirSync(folder, { mode: 0o555 });
  expect(asOrdinaryUser(() => codeOf(join(folder, 'log.db')))).toBe('no_access');
});

test('a log that another process has locked is refused within the bound, and is usable afterwards', () => {
  const path = join(temporaryFolder(), 'log.db');
  openStore(path).close();
  const other = new Sqlite(path);
  onTestFinished(() => void other.close());
  other.pragma('journal_mode = DELETE');
  other.exec('BEGIN EXCLUSIVE');
  const started = performance.now();
  expect(codeOf(path, { busy_ms: 300 })).toBe('busy');
  expect(performance.now() - started).toBeLessThan(3000);
  other.exec('ROLLBACK');
  expect(codeOf(path)).toBe('opened');
});

test('a write that waits too long for the lock fails as busy and stores nothing', () => {
  const path = join(temporaryFolder(), 'log.db');
  openLog(path);
  const store = openStore(path, { busy_ms: 200 });
  onTestFinished(store.close);
  const other = new Sqlite(path);
  onTestFinished(() => void other.close());
  other.exec('BEGIN IMMEDIATE');
  expect(() => store.recordEpisodes(RUN, 'sft', [episode(0)])).toThrow(expect.objectContaining({ code: 'busy' }));
  other.exec('ROLLBACK');
  expect(store.episodes({ run_id: RUN })).toEqual([]);
});

test('a log opened for reading shows rows and takes none', () => {
  const path = join(temporaryFolder(), 'log.db');
  openLog(path).recordEpisodes(RUN, 'sft', [episode(3)]);
  const reader = openStore(path, READ);
  onTestFinished(reader.close);
  expect(reader.episodes({ run_id: RUN })).toHaveLength(1);
  expect(() => {
    reader.recordMetrics(RUN, 'sft', 1, { x: 1 });
  }).toThrow(expect.objectContaining({ code: 'read_only' }));
});
