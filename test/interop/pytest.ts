/** Runs one suite with pytest against a server, and says what came of each test. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../rules/files.ts';
import type { Suite } from './suites.ts';

const LIMIT_MS = 10 * 60_000;

/** What is tested. */
export interface Target {
  /** Address of the server. */
  url: string;
  /** Command line of `canvas-gym`, from any folder. */
  cli: string;
}

export interface TestResult {
  name: string;
  status: 'passed' | 'failed' | 'skipped';
}

const attribute = (tag: string, name: string): string => new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? '';

function statusOf(testcase: string): TestResult['status'] {
  if (/<(failure|error)\b/.test(testcase)) return 'failed';
  return testcase.includes('<skipped') ? 'skipped' : 'passed';
}

/** The tests of a JUnit report; a file that could not be collected is a failed one. */
export function readReport(xml: string): TestResult[] {
  const cases = xml.split('<testcase ').slice(1);
  return cases.map((testcase) => ({
    name: `${attribute(testcase, 'classname')} ${attribute(testcase, 'name')}`.trim(),
    status: statusOf(testcase),
  }));
}

/** What a suite is told, and what keeps it from the network and from the home folder. */
function environmentOf({ url, cli }: Target, scratch: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    CANVAS_GYM_URL: url,
    CANVAS_GYM_CLI: cli,
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONPATH: '',
    NO_PROXY: '127.0.0.1,localhost',
    HF_HOME: join(scratch, 'huggingface'),
    HF_HUB_OFFLINE: '1',
    RAY_USAGE_STATS_ENABLED: '0',
    TMPDIR: scratch,
  };
}

/** Resolves with the tests; a run without any, or that ended badly or took over ten minutes, is a failed test of its own. */
export async function runPytest(suite: Suite, python: string, target: Target): Promise<TestResult[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'interop-'));
  const report = join(scratch, 'report.xml');
  const flags = ['-q', '-rs', '-p', 'no:cacheprovider', `--junitxml=${report}`, `--rootdir=${suite.folder}`];
  try {
    const child = spawn(python, ['-P', '-m', 'pytest', ...flags, suite.folder], {
      cwd: ROOT,
      env: environmentOf(target, scratch),
      stdio: ['ignore', 'inherit', 'inherit'],
      timeout: LIMIT_MS,
      killSignal: 'SIGKILL',
    });
    const [status] = (await once(child, 'exit')) as [number | null];
    const tests = existsSync(report) ? readReport(readFileSync(report, 'utf8')) : [];
    const hasFailed = tests.some((test) => test.status === 'failed');
    const isExplained = tests.length > 0 && (status === 0 || (status === 1 && hasFailed));
    return isExplained ? tests : [...tests, { name: `pytest ended with ${String(status)}`, status: 'failed' }];
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
