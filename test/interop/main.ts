/**
 * `npm run test:interop`: the packages that people train with, as they are on PyPI, against one compiled server on a socket.
 *
 *   npm run test:interop                            every suite; torch suites where CANVAS_GYM_TORCH=1
 *   npm run test:interop -- gymnasium datasets      these
 *   npm run test:interop -- --url http://HOST:8000  against a server that runs already
 *   npm run test:interop -- --json FILE             also write the results in the form of vitest's
 *   npm run test:interop -- --lock NAME             write NAME's requirements.txt anew from its requirements.in
 *
 * The first run installs about 2 GB into .cache/interop (one or two minutes); later ones take what is there. Ends with 1 where a test
 * failed or was skipped, or a package could not be installed.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import pMap from 'p-map';
import { ROOT } from '../rules/files.ts';
import { startCompiled } from '../tools/processes.ts';
import { buildWheel, prepare, pythonVersion, versionFault, writeLock } from './environment.ts';
import { runPytest, type Target, type TestResult } from './pytest.ts';
import { LEAST_PYTHON, pythonOf, readSuites, SUITES_FOLDER, type Suite } from './suites.ts';

interface Result {
  suite: Suite;
  tests: readonly TestResult[];
  seconds: number;
  /** Why it did not run, or did not run whole. */
  note: string;
}

const TORCH = 'CANVAS_GYM_TORCH=1';
const isTorchWanted = process.env['CANVAS_GYM_TORCH'] === '1';
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const countOf = (results: readonly Result[], ...statuses: readonly TestResult['status'][]): number =>
  results.flatMap(({ tests }) => tests).filter(({ status }) => statuses.includes(status)).length;

/** The Python of each suite's environment, or why there is none. */
async function prepareAll(suites: readonly Suite[]): Promise<Map<Suite, string | Error>> {
  const version = await pythonVersion();
  const tooOld = versionFault(LEAST_PYTHON, version);
  if (tooOld !== undefined) throw new Error(`npm run test:interop ${tooOld}`);
  const wheel = await buildWheel();
  const made = await pMap(
    suites,
    async (suite): Promise<[Suite, string | Error]> => {
      const fault = versionFault(suite.python, version);
      if (fault !== undefined) return [suite, new Error(fault)];
      say(`preparing ${suite.name} (${suite.packages.join(', ')})`);
      try {
        return [suite, await prepare(suite, wheel, version)];
      } catch (error) {
        return [suite, new Error(`could not be installed: ${messageOf(error)}`)];
      }
    },
    { concurrency: 2 },
  );
  return new Map(made);
}

async function runSuite(suite: Suite, python: string | Error | undefined, target: Target): Promise<Result> {
  if (python === undefined) {
    return { suite, tests: [], seconds: 0, note: `left out: set ${TORCH} to install torch and run it` };
  }
  if (python instanceof Error) {
    return { suite, tests: [{ name: 'environment', status: 'failed' }], seconds: 0, note: python.message };
  }
  say(`\n==> ${suite.name}`);
  const start = performance.now();
  const tests = await runPytest(suite, python, target);
  const note = tests.some(({ status }) => status === 'skipped') ? 'skipped tests count as failures' : '';
  return { suite, tests, seconds: (performance.now() - start) / 1000, note };
}

/** What to test: the server at `url` and the sources, or this checkout's server, compiled as it is published. */
async function withTarget<T>(url: string | undefined, work: (target: Target) => Promise<T>): Promise<T> {
  const node = `'${process.execPath}'`;
  if (url !== undefined)
    return work({ url, cli: `${node} --import '${import.meta.resolve('tsx')}' '${ROOT}clients/cli/main.ts'` });
  const build = spawnSync(process.execPath, ['.ci/build.mjs'], { cwd: ROOT, stdio: 'inherit' });
  if (build.status !== 0) throw new Error('the sources do not compile');
  const server = await startCompiled();
  try {
    return await work({ url: `http://127.0.0.1:${server.port}`, cli: `${node} '${ROOT}dist/clients/cli/main.js'` });
  } finally {
    await server.stop();
  }
}

function toTable(results: readonly Result[]): string {
  const rows = results.map((result) => [
    result.suite.name,
    String(countOf([result], 'passed')),
    String(countOf([result], 'failed', 'skipped')),
    result.seconds.toFixed(0),
    result.suite.packages.filter((name) => !name.startsWith('pytest')).join(' '),
  ]);
  const table = [['suite', 'passed', 'failed', 's', 'packages'], ...rows];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  const pad = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[0]!) : column < 4 ? cell.padStart(widths[column]!) : cell;
  const notes = results.filter(({ note }) => note !== '').map(({ suite, note }) => `${suite.name}: ${note}`);
  return [...table.map((row) => row.map(pad).join('  ')), ...notes].join('\n');
}

/** The results in the form of vitest's, for .ci/summary.mjs, which names the suites that were left out. */
function toJson(results: readonly Result[]): string {
  const leftOut = results.filter(({ tests }) => tests.length === 0).map(({ suite }) => `${suite.name} (${TORCH})`);
  const ran = results.filter(({ tests }) => tests.length > 0);
  const testResults = ran.map((result) => ({
    name: result.suite.folder,
    status: countOf([result], 'failed') > 0 ? 'failed' : 'passed',
    message: result.note,
    assertionResults: result.tests.map(({ name, status }) => ({ fullName: `${result.suite.name} ${name}`, status })),
  }));
  const numFailedTests = countOf(ran, 'failed');
  return JSON.stringify({
    success: numFailedTests === 0,
    numPassedTests: countOf(ran, 'passed'),
    numFailedTests,
    testResults,
    leftOut,
  });
}

async function runAll(names: readonly string[], url: string | undefined, json: string | undefined): Promise<number> {
  const suites = readSuites(names);
  const pythons = await prepareAll(suites.filter((suite) => isTorchWanted || !suite.isTorch));
  const results = await withTarget(url, (target) =>
    pMap(suites, (suite) => runSuite(suite, pythons.get(suite), target), { concurrency: 1 }),
  );
  if (json !== undefined) writeFileSync(json, toJson(results));
  const [passed, failed] = [countOf(results, 'passed'), countOf(results, 'failed', 'skipped')];
  console.log(`\n${toTable(results)}\n\n${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0 ? 0 : 1;
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { url: { type: 'string' }, json: { type: 'string' }, lock: { type: 'boolean', default: false } },
  });
  if (!values.lock) return runAll(positionals, values.url, values.json);
  if (positionals.length === 0) throw new Error('--lock needs the name of a suite');
  for (const name of positionals) {
    const folder = `${SUITES_FOLDER}/${name}`;
    await writeLock(folder, pythonOf(folder));
    say(`wrote ${folder}/requirements.txt`);
  }
  return 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 2;
}
