/**
 * A process that writes to the log once it reads a line, for tests with several of them: `tsx writer.ts counted PATH NAME 200` adds rows whose
 * number is read and written in one transaction; `tsx writer.ts batches PATH` writes batches until it is killed, and
 * says after each one that it is stored.
 */
import { once } from 'node:events';
import { openStore } from '../../clients/store/index.ts';
import { episodes, RUN, step } from './records.ts';

const [mode = '', path = '', name = '', times = '0'] = process.argv.slice(2);
process.stdout.write('ready\n');
await once(process.stdin, 'data');
process.stdin.destroy();
const store = openStore(path);
store.createRun({ run_id: RUN, command: 'sft', config: {} });

if (mode === 'counted') {
  for (let i = 0; i < Number(times); i++) {
    store.transaction(() => {
      const next = Number(store.query('SELECT count(*) AS n FROM metrics')[0]?.['n']);
      store.recordMetrics(RUN, 'sft', next, { [`by/${name}`]: next });
    });
  }
  store.close();
} else {
  for (let batch = 0; ; batch++) {
    store.recordEpisodes(RUN, 'sft', episodes(10, { optimizer_step: batch, steps: [step(), step(), step()] }));
    process.stdout.write(`${batch}\n`);
  }
}
