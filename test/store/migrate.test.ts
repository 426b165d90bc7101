/** Logs of every released version become logs of the present one, with their rows, or stay as they were. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import { expect, test } from 'vitest';
import { openStore, openStoreToRead } from '../../clients/store/index.ts';
import { migrate, versionOf } from '../../clients/store/migrate.ts';
import { MIGRATIONS } from '../../clients/store/schema.ts';
import { RUN } from './records.ts';
import { temporaryFolder } from '../tools/temporary-folder.ts';

/** A database as the given version left it. */
function frozen(version: number, path: string): Database {
  const db = new Sqlite(path);
  db.exec(readFileSync(new URL(`../data/store/v${version}.sql`, import.meta.url), 'utf8'));
  return db;
}

const schemaOf = (db: Database): unknown[] =>
  db.prepare('SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name').all();

test('the steps are numbered 1, 2, 3 without a gap', () => {
  expect(MIGRATIONS.map(({ version }) => version)).toEqual(MIGRATIONS.map((_, i) => i + 1));
});

test.each(MIGRATIONS)('a log of version $version opens with its rows and the present schema', ({ version }) => {
  const path = join(temporaryFolder(), 'log.db');
  frozen(version, path).close();
  const store = openStore(path);
  expect(store.getRun()).toMatchObject({
    run_id: RUN,
    status: 'done',
    config: { group_size: 8 },
    summary: { mean_reward: 0.5 },
  });
  const episodes = store.episodes({ run_id: RUN, stage: 'reinforce' });
  expect(episodes).toHaveLength(3);
  const [first, second] = store.steps(episodes[0]!.episode_id);
  expect([first!.action, second!.sampled_logprobs, second!.completion_ids]).toEqual([
    'a\u0000b',
    [-0.25, -0.5],
    [3, 4],
  ]);
  expect(store.getImage(second!.image_id!).media_type).toBe('image/png');
  expect(store.metric(RUN, 'reinforce', 'episode/return')).toEqual([{ optimizer_step: 1, value: 0.5 }]);
  expect(store.teacherSamples({ run_id: RUN })).toHaveLength(2);
  store.close();

  const fresh = new Sqlite(':memory:');
  migrate(fresh, MIGRATIONS);
  const migrated = new Sqlite(path);
  expect(schemaOf(migrated)).toEqual(schemaOf(fresh));
  migrated.close();
});

test('a log of an older version is brought up to date where it is only read', () => {
  const path = join(temporaryFolder(), 'log.db');
  frozen(1, path).close();
  expect(() => openStore(path, { readonly: true })).toThrow(expect.objectContaining({ code: 'older_database' }));
  const store = openStoreToRead(path);
  expect(store.query('SELECT run_id FROM last_runs').length).toBeGreaterThan(0);
  expect(() => {
    store.createRun({ run_id: 'x', command: 'sft', config: {} });
  }).toThrow(expect.objectContaining({ code: 'read_only' }));
  store.close();
});

const NEXT = MIGRATIONS.length + 1;
const LATER = [
  { version: NEXT, sql: 'ALTER TABLE runs ADD COLUMN note TEXT;' },
  { version: NEXT + 1, sql: `UPDATE runs SET note = 'from step two';` },
];

test('later steps are applied in order, each is written down, and a second time nothing happens', () => {
  const db = frozen(1, ':memory:');
  migrate(db, [...MIGRATIONS, ...LATER]);
  migrate(db, [...MIGRATIONS, ...LATER]);
  expect(versionOf(db)).toBe(NEXT + 1);
  expect(db.prepare('SELECT note FROM runs').pluck().all()).toEqual(['from step two']);
  expect(db.prepare('SELECT version FROM schema_version ORDER BY version').pluck().all()).toEqual(
    [...MIGRATIONS, ...LATER].map(({ version }) => version),
  );
});

test.each([
  ['fails', 'ALTER TABLE nowhere ADD COLUMN x TEXT;'],
  ['leaves rows that refer to nothing', 'DELETE FROM runs;'],
])('a step that %s leaves the log as it was', (_, sql) => {
  const db = frozen(1, ':memory:');
  const before = [schemaOf(db), versionOf(db), db.prepare('SELECT * FROM runs').all()];
  expect(() => {
    migrate(db, [...MIGRATIONS, LATER[0]!, { version: NEXT + 1, sql }]);
  }).toThrow();
  expect([schemaOf(db), versionOf(db), db.prepare('SELECT * FROM runs').all()]).toEqual(before);
  expect(db.pragma('foreign_keys', { simple: true })).toBe(1);
});
