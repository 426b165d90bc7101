/** The log under several processes, and under one that is killed. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../clients/store/index.ts';
import { count, RUN } from './records.ts';
import { temporaryFolder } from '../tools/temporary-folder.ts';

const WRITER = fileURLToPath(new URL('./writer.ts', import.meta.url));

function startWriter(...args: string[]): ChildProcess {
  const child = spawn(process.execPath, ['--import', 'tsx', WRITER, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

test('G07: two processes that read and then write 200 times each, on a log neither has made, lose nothing', async () => {
  const path = join(temporaryFolder(), 'log.db');
  const writers = ['a', 'b'].map((name) => startWriter('counted', path, name, '200'));
  await Promise.all(writers.map((writer) => once(writer.stdout!, 'data')));
  for (const writer of writers) writer.stdin!.write('go\n');
  expect(await Promise.all(writers.map((writer) => once(writer, 'exit')))).toEqual([
    [0, null],
    [0, null],
  ]);
  const store = openStore(path, { readonly: true });
  onTestFinished(store.close);
  const [row] = store.query('SELECT count(*) AS n, count(DISTINCT value) AS numbers, max(value) AS last FROM metrics');
  expect(row).toEqual({ n: 400, numbers: 400, last: 399 });
});

test('kill -9 while it writes: what was reported is there, and every batch is whole or absent', async () => {
  const path = join(temporaryFolder(), 'log.db');
  const writer = startWriter('batches', path);
  writer.stdin!.write('go\n');
  let reported = -1;
  for await (const line of createInterface({ input: writer.stdout! })) {
    reported = line === 'ready' ? -1 : Number(line);
    if (reported === 40) writer.kill('SIGKILL');
  }
  const store = openStore(path);
  onTestFinished(store.close);
  const stored = Number(count(store, 'episodes'));
  expect(stored % 10).toBe(0);
  expect(stored).toBeGreaterThanOrEqual(10 * (reported + 1));
  expect(count(store, 'steps')).toBe(3 * stored);
  expect(store.query('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  expect(store.getRun()).toMatchObject({ run_id: RUN, status: 'running' });
});
