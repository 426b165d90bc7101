/** Brings a database to the current schema: the missing steps in one transaction, or nothing. */
import type { Database } from 'better-sqlite3';
import { StoreError } from './errors.ts';
import { APPLICATION_ID, SCHEMA_VERSION, type Migration } from './schema.ts';

export function versionOf(db: Database): number {
  return db.pragma('user_version', { simple: true }) as number;
}

function versionError(db: Database, found: number, known: number): StoreError {
  const [code, advice] =
    found > known
      ? (['newer_database', 'use a newer canvas-gym'] as const)
      : (['older_database', 'open it once for writing to bring it up to date'] as const);
  return new StoreError(code, `${db.name} has schema version ${found}, this program knows ${known}: ${advice}`);
}

/** @throws StoreError newer_database or older_database */
export function assertCurrent(db: Database): void {
  const found = versionOf(db);
  if (found !== SCHEMA_VERSION) throw versionError(db, found, SCHEMA_VERSION);
}

/**
 * Applies the steps above the database's version, in order. Safe when several processes do it at once: the version is
 * read again under the write lock.
 * @throws StoreError newer_database where the database is ahead of `migrations`; the driver's error where a step fails.
 */
export function migrate(db: Database, migrations: readonly Migration[]): void {
  const target = Math.max(...migrations.map(({ version }) => version));
  const found = versionOf(db);
  if (found > target) throw versionError(db, found, target);
  if (found === target) return;
  db.pragma('foreign_keys = OFF'); // a step may rebuild a table that others refer to
  try {
    db.transaction(() => {
      applyMissing(db, migrations);
    }).immediate();
  } finally {
    db.pragma('foreign_keys = ON');
  }
}

function applyMissing(db: Database, migrations: readonly Migration[]): void {
  const before = versionOf(db);
  for (const { version, sql } of migrations) {
    if (version <= before) continue;
    db.exec(sql);
    db.prepare('INSERT INTO schema_version VALUES (?, ?)').run(version, new Date().toISOString());
    db.pragma(`user_version = ${version}`);
  }
  db.pragma(`application_id = ${APPLICATION_ID}`);
  const broken = db.pragma('foreign_key_check') as unknown[];
  if (broken.length > 0) throw new StoreError('constraint', `${db.name}: ${broken.length} rows refer to nothing`);
}
