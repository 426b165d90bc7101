/** `canvas-gym runs`: the runs in the log, newest first. */
import { join } from 'node:path';
import { z } from 'zod';
import { openStoreToRead, type Run } from '../store/index.ts';
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

/** A run as it is shown: `seconds` is the time its stages took, as in its report; null where none was measured. */
interface Listed extends Run {
  seconds: number | null;
}

function toRow({ run_id, command: name, status, started_at, seconds }: Listed): string[] {
  const took = seconds === null ? '' : toDuration(seconds);
  return [run_id, name, status, started_at.slice(0, 19).replace('T', ' '), took];
}

export const command = defineCommand({
  name: 'runs',
  summary: 'list the runs in the log, newest first',
  settings: Settings,
  run({ db, runs: folder, limit, json }, { out }) {
    const store = openStoreToRead(db);
    try {
      const runs = store.listRuns({ limit }).map((run): Listed => {
        const times = store.stageTimes(run.run_id);
        const seconds = times.length === 0 ? null : times.reduce((sum, time) => sum + time.seconds, 0);
        return { ...run, status: statusOf(run, folder), seconds };
      });
      const header = ['run', 'command', 'status', 'started (UTC)', 'took'];
      (json ? runs.map((run) => JSON.stringify(run)) : toTable(header, runs.map(toRow))).forEach(out);
    } finally {
      store.close();
    }
    return Promise.resolve();
  },
});
