/** The report of a small quickstart in a real browser without a network: curves and drawings show, and no error is logged. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../rules/files.ts';
import { openPage } from './chromium.ts';

const SMALL = [
  ...['--tasks', '40', '--max-tokens', '4000', '--validation', '4', '--steps', '2', '--tasks-per-step', '2'],
  ...['--group-size', '2', '--max-new-tokens', '24', '--eval-tasks', '4', '--eval-max-new-tokens', '24'],
];

test('the report of a quickstart stands alone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'report-'));
  try {
    const places = ['--runs', folder, '--db', join(folder, 'log.db'), '--run-id', 'small'];
    const command = ['--import', 'tsx', 'clients/cli/main.ts', 'quickstart', ...SMALL, ...places];
    execFileSync(process.execPath, command, { cwd: ROOT, stdio: 'pipe' });
    const page = await openPage(`file://${join(folder, 'small/report.html')}`);
    expect(page.errors).toEqual([]);
    for (const policy of ['teacher', 'sft', 'reinforce']) expect(page.dom).toContain(policy);
    expect(page.dom.match(/<svg/g)?.length).toBeGreaterThan(3);
    expect(page.dom.match(/<details class="said">/g)?.length).toBeGreaterThan(6);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
