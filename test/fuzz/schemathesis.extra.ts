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
import { ROUTE_IDS } from '../../schemas/routes.ts';
import { ROOT } from '../rules/files.ts';
import { startSources, type ServerProcess } from '../tools/processes.ts';

const SCHEMATHESIS = join(ROOT, '.cache/extra/bin/schemathesis');
const CONFIG = join(ROOT, 'test/fuzz/schemathesis.toml');
const SEED = 20260501;
const MAX_EXAMPLES = 60;
const BUDGET_S = 150;

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
    const checks = ['--seed', String(SEED), '--checks', 'all', '--warnings', 'off'];
    const { exit, printed } = await run(['--no-color', '--config-file', CONFIG, 'run', url, ...limits, ...checks]);
    // All routes but the one that the document itself comes from.
    expect(printed).toContain(`Tested: ${ROUTE_IDS.length - 1}\n`);
    expect(exit, printed).toBe(0);
  },
  (BUDGET_S + 120) * 1000,
);
