/** `canvas-gym runs`: the runs in the log, newest first. */
import { join } from 'node:path';
import { z } from 'zod';
import { openStore, type Run } from '../store/index.ts';
import { defineCommand, SHARED_SETTINGS } from '../../schemas/settings.ts';
import { toDuration } from '../../trainer/progress.ts';
import { isInUse } from '../../trainer/run.ts';
import { JSON_SETTING } from './options.ts';
import { toTable } from './table.ts';

const Settings = z.strictObject({
  db: SHARED_SETTINGS.db,
  runs: SHARED_SETTINGS.runs,
  limit: z.number().int().min(1).max(10_000).default(20).meta({ description: 'Show the newest ones', unit: 'runs' }),
  json: JSON_SETTING,
});

/** The stored status, or `interrupted` where the process that was running it is gone. */
function statusOf({ run_id, status }: Run, folder: string): Run['status'] {
  return status === 'running' && !isInUse(join(folder, run_id)) ? 'interrupted' : status;
}

function toRow(run: Run): string[] {
  const { run_id, command: name, status, started_at, finished_at } = run;
  const took = finished_at === null ? '' : toDuration((Date.parse(finished_at) - Date.parse(started_at)) / 1000);
  return [run_id, name, status, started_at.slice(0, 19).replace('T', ' '), took];
}

export const command = defineCommand({
  name: 'runs',
  summary: 'list the runs in the log, newest first',
  settings: Settings,
  run({ db, runs: folder, limit, json }, { out }) {
    const store = openStore(db, { readonly: true });
    try {
      const runs = store.listRuns({ limit }).map((run) => ({ ...run, status: statusOf(run, folder) }));
      const header = ['run', 'command', 'status', 'started (UTC)', 'took'];
      (json ? runs.map((run) => JSON.stringify(run)) : toTable(header, runs.map(toRow))).forEach(out);
    } finally {
      store.close();
    }
    return Promise.resolve();
  },
});
