/** `canvas-gym report [RUN]`: writes the report of a run into its folder. */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { openStoreToRead, type Store } from '../../clients/store/index.ts';
import { createClient, type Client } from '../../clients/ts/index.ts';
import { defineCommand, SHARED_SETTINGS } from '../../schemas/settings.ts';
import { renderReport } from '../report.ts';
import { writeAtomic } from '../atomic.ts';
import type { Places } from '../shell.ts';
import type { EvaluationSummary } from '../summary.ts';
import { loadReport } from './load.ts';

const Settings = z.strictObject({
  run: z.string().min(1).optional().meta({ description: 'Run; without it the last one', positional: true }),
  output: z.string().min(1).optional().describe('File to write; without it report.html in the run folder'),
  ...SHARED_SETTINGS,
});

export const command = defineCommand({
  name: 'report',
  summary: 'write the HTML report of a run',
  settings: Settings,
  async run({ run, output, url: given, db: path, runs: root }, { startServer, out }) {
    const store = openStoreToRead(path);
    try {
      const { run_id } = store.getRun(run);
      const server = given === undefined ? await startServer() : { url: given, close: () => Promise.resolve() };
      try {
        const file = output ?? join(root, run_id, 'report.html');
        await writeReport(store, createClient({ url: server.url }), run_id, file, { db: path, runs: root });
        out(file);
      } finally {
        await server.close();
      }
    } finally {
      store.close();
    }
  },
});

/**
 * Writes the report of a run to `file`, whole or not at all.
 * @param evaluation What its evaluation found, where the run has not ended and the caller knows it.
 */
export async function writeReport(
  store: Store,
  client: Client,
  run_id: string,
  file: string,
  places: Places,
  evaluation?: EvaluationSummary,
): Promise<void> {
  const page = renderReport(await loadReport(store, client, places, run_id, evaluation));
  mkdirSync(dirname(file), { recursive: true });
  writeAtomic(file, page);
}
