/** Runs one suite with pytest against a server, and says what came of each test. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ROOT } from '../rules/files.ts';
import { plainEnvironment } from '../tools/processes.ts';
import type { Suite } from './suites.ts';

const LIMIT_MS = 10 * 60_000;

/** What suites import beside their own folder: fixtures, the drawing, servers of their own; and a server with faults. */
const SHARED = ['test/interop/shared', 'test/python'].map((folder) => join(ROOT, folder)).join(delimiter);

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

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
export function environmentOf({ url, cli }: Target, scratch: string): NodeJS.ProcessEnv {
  return {
    ...plainEnvironment(),
    CANVAS_GYM_URL: url,
    CANVAS_GYM_CLI: cli,
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONPATH: SHARED,
    NO_PROXY: '127.0.0.1,localhost',
    HF_HOME: join(scratch, 'huggingface'),
    HF_HUB_OFFLINE: '1',
    RAY_USAGE_STATS_ENABLED: '0',
    TMPDIR: scratch,
  };
}

/** Ends what pytest started and left behind: Ray, nginx, replicas. They are in its group, which outlives it. */
function killGroup(child: ChildProcess): void {
  try {
    process.kill(-child.pid!, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // nobody is left
  }
}

/** Its status, null where it was killed: after `limitMs`, or when this process is told to end. Nothing that it started outlives it. */
export async function runGroup(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  limitMs: number,
): Promise<number | null> {
  const child = spawn(command, args, { cwd: ROOT, env, stdio: ['ignore', 'inherit', 'inherit'], detached: true });
  const kill = (): void => {
    killGroup(child);
  };
  const interrupted = (signal: NodeJS.Signals): void => {
    kill();
    process.kill(process.pid, signal); // as if nobody had listened
  };
  const timer = setTimeout(kill, limitMs);
  for (const signal of SIGNALS) process.once(signal, interrupted);
  try {
    const [status] = (await once(child, 'exit')) as [number | null];
    return status;
  } finally {
    clearTimeout(timer);
    for (const signal of SIGNALS) process.off(signal, interrupted);
    kill();
  }
}

/** Resolves with the tests; a run without any, or that ended badly or took over ten minutes, is a failed test of its own. */
export async function runPytest(suite: Suite, python: string, target: Target): Promise<TestResult[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'interop-'));
  const report = join(scratch, 'report.xml');
  const plugins = ['-p', 'no:cacheprovider', '-p', 'suite_fixtures'];
  const flags = ['-q', '-rs', ...plugins, `--junitxml=${report}`, `--rootdir=${suite.folder}`];
  try {
    const command = ['-P', '-m', 'pytest', ...flags, suite.folder];
    const status = await runGroup(python, command, environmentOf(target, scratch), LIMIT_MS);
    const tests = existsSync(report) ? readReport(readFileSync(report, 'utf8')) : [];
    const hasFailed = tests.some((test) => test.status === 'failed');
    const isExplained = tests.length > 0 && (status === 0 || (status === 1 && hasFailed));
    return isExplained ? tests : [...tests, { name: `pytest ended with ${String(status)}`, status: 'failed' }];
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
