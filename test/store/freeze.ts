/**
 * Freezes the log's present schema, with a few rows, into test/data/store/v<version>.sql. Run it once, when a schema
 * version is released: `npx tsx test/store/freeze.ts`. A file that is there already is never changed.
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openStore, SCHEMA_VERSION, type Store } from '../../clients/store/index.ts';
import { episodes, RUN, sample, step } from './records.ts';

function fill(store: Store): void {
  store.createRun({ run_id: RUN, command: 'sft', config: { group_size: 8 }, seed: '7' });
  const image_id = store.putImage(Uint8Array.from([137, 80, 78, 71]), 'image/png');
  const ids = { prompt_ids: [1, 2], completion_ids: [3, 4], sampled_logprobs: [-0.25, -0.5] };
  store.recordEpisodes(
    RUN,
    'reinforce',
    episodes(3, { steps: [step({ action: 'a\u0000b' }), step({ ...ids, image_id })] }),
  );
  store.recordMetrics(RUN, 'reinforce', 1, { 'episode/return': 0.5 });
  store.recordTeacherSamples(RUN, [sample(0), sample(1)]);
  store.finishRun(RUN, 'done', { mean_reward: 0.5 });
}

function dump(store: Store): string {
  const objects = store.query(`SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid`);
  const tables = objects.filter(({ type }) => type === 'table').map(({ name }) => String(name));
  const inserts = tables.flatMap((table) => {
    const columns = store
      .query('SELECT name FROM pragma_table_info(?)', table)
      .map(({ name }) => `quote(${String(name)})`);
    const rows = store.query(`SELECT ${columns.join(` || ',' || `)} AS row FROM ${table}`);
    return rows.map(({ row }) => `INSERT INTO ${table} VALUES (${String(row)});`);
  });
  const pragmas = ['application_id', 'user_version'].map(
    (name) => `PRAGMA ${name} = ${String(store.query(`PRAGMA ${name}`)[0]?.[name])};`,
  );
  return [...objects.map(({ sql }) => `${String(sql)};`), ...inserts, ...pragmas, ''].join('\n');
}

const target = fileURLToPath(new URL(`../data/store/v${SCHEMA_VERSION}.sql`, import.meta.url));
const store = openStore(join(mkdtempSync(join(tmpdir(), 'canvas-gym-')), 'log.db'));
fill(store);
writeFileSync(target, dump(store), { flag: 'wx' });
store.close();
