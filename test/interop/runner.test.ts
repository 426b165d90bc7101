/** What the interop runner reads (suites, reports of pytest, versions of Python), and that a run leaves nothing behind. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { ROOT } from '../rules/files.ts';
import { versionFault } from './environment.ts';
import { environmentOf, readReport, runGroup } from './pytest.ts';
import { readSuites, suiteNames } from './suites.ts';

const REPORT = `<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" errors="1" failures="1" skipped="1" tests="4">
<testcase classname="test_env" name="test_good[a]" time="0.1" /><testcase classname="test_env" name="test_bad" time="0.1"><failure message="assert &lt;skipped&gt;">text</failure></testcase>
<testcase classname="test_env" name="test_left" time="0"><skipped type="pytest.skip" message="no fork">x</skipped></testcase>
<testcase classname="" name="test_broken" time="0"><error message="collection failure">ImportError</error></testcase></testsuite></testsuites>`;

test('a report names each test and what came of it', () => {
  expect(readReport(REPORT)).toEqual([
    { name: 'test_env test_good[a]', status: 'passed' },
    { name: 'test_env test_bad', status: 'failed' },
    { name: 'test_env test_left', status: 'skipped' },
    { name: 'test_broken', status: 'failed' },
  ]);
});

describe('suites', () => {
  test('every folder is complete: pinned packages, a lock that holds them, pytest among them', () => {
    const suites = readSuites([]);
    expect(suites.map(({ name }) => name)).toEqual(suiteNames());
    expect(suites.length).toBeGreaterThan(3);
    for (const { name, packages } of suites)
      expect(
        packages.some((line) => line.startsWith('pytest==')),
        name,
      ).toBe(true);
  });

  test('an unknown name is refused with those that there are', () => {
    expect(() => readSuites(['gymnasium', 'gimnasium'])).toThrow(/no suite gimnasium; there are .*gymnasium/);
  });

  test.each([
    ['3.11.7', [3, 11], true],
    ['3.13.0', [3, 11], true],
    ['4.0.0', [3, 12], true],
    ['3.9.18', [3, 11], false],
    ['3.11.7', [3, 12], false],
  ] as const)('Python %s for %j: %j', (version, wanted, isEnough) => {
    const fault = versionFault(wanted, version);
    expect(fault === undefined).toBe(isEnough);
    if (!isEnough) expect(fault).toContain(`needs Python ${wanted.join('.')} or later`);
  });
});

test('the summary of .ci/run names the suites that were left out', () => {
  const folder = mkdtempSync(join(tmpdir(), 'summary-'));
  try {
    const file = join(folder, 'results.json');
    const testResults = [{ name: 'mcp', status: 'passed', assertionResults: [{ fullName: 'a', status: 'passed' }] }];
    const results = { success: true, numPassedTests: 1, numFailedTests: 0, testResults, leftOut: ['trl (NAME=1)'] };
    writeFileSync(file, JSON.stringify(results));
    const { stdout, status } = spawnSync(process.execPath, ['.ci/summary.mjs', file], { cwd: ROOT, encoding: 'utf8' });
    expect([stdout, status]).toEqual(['left out: trl (NAME=1)\n1 passed, 0 failed\n', 0]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

describe('a run of pytest', () => {
  /** Whether a process runs; one that has ended and waits for its parent to look does not. */
  const isAlive = (pid: number): boolean =>
    /^[^Z]/.test(spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim());

  test.each([
    ['that takes too long', 'wait', null],
    ['that ends', 'exit 3', 3],
  ])('%s leaves nothing behind of what it started', async (_, end, status) => {
    const folder = mkdtempSync(join(tmpdir(), 'group-'));
    try {
      const pids = join(folder, 'pids');
      const script = `sleep 300 & echo $! > '${pids}'; ${end}`;
      expect(await runGroup('bash', ['-c', script], process.env, 500)).toBe(status);
      const pid = Number(readFileSync(pids, 'utf8'));
      expect(pid).toBeGreaterThan(0);
      while (isAlive(pid)) await sleep(10); // the signal is sent, and takes effect a moment later
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('is told the server and the command, and nothing else of canvas-gym', () => {
    vi.stubEnv('CANVAS_GYM_WORKERS', '2');
    const env = environmentOf({ url: 'http://server', cli: 'node main.js' }, '/scratch');
    vi.unstubAllEnvs();
    const names = Object.keys(env).filter((name) => name.startsWith('CANVAS_GYM_'));
    expect(names.sort()).toEqual(['CANVAS_GYM_CLI', 'CANVAS_GYM_URL']);
  });
});
