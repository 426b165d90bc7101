/**
 * schemathesis reads /openapi.json and sends what the document allows and what it forbids, over loopback, to a server of its
 * own. It fails on a 500, and on every answer that the document does not tell of: status, media type, headers, body.
 * Bounded by examples a route and by a time budget; the seed is fixed, so that a failure can be run again.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from '../rules/files.ts';
import { startSources, type ServerProcess } from '../tools/processes.ts';

const SCHEMATHESIS = join(ROOT, '.cache/extra/bin/schemathesis');
const SEED = 20260501;
const MAX_EXAMPLES = 60;
const BUDGET_S = 240;

let server: ServerProcess;
const folder = mkdtempSync(join(tmpdir(), 'schemathesis-'));

beforeAll(async () => {
  server = await startSources();
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const run = (args: readonly string[]): Promise<{ exit: number; printed: string }> =>
  new Promise((resolve) => {
    execFile(SCHEMATHESIS, args, { cwd: folder, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      resolve({ exit: error === null ? 0 : 1, printed: `${stdout}${stderr}` });
    });
  });

test(
  'no request makes the server fail or answer outside its document',
  async () => {
    const url = `http://127.0.0.1:${server.port}/openapi.json`;
    const limits = ['--max-examples', String(MAX_EXAMPLES), '--max-time', String(BUDGET_S), '--request-timeout', '10'];
    const { exit, printed } = await run([
      'run',
      url,
      ...limits,
      '--seed',
      String(SEED),
      '--checks',
      'all',
      '--warnings',
      'off',
    ]);
    expect(printed).toMatch(/Operations:.*\d+/);
    expect(exit, printed).toBe(0);
  },
  (BUDGET_S + 120) * 1000,
);
