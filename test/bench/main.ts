/**
 * `npm run bench`: speed of the server beside what one would use instead, both sides in turn in one run.
 *
 *   npm run bench                          all benchmarks, as a table
 *   npm run bench -- --only step_c32       one of them
 *   npm run bench -- --json FILE           also writes [{name, value, unit, reference, ratio}]
 *   npm run bench -- --rounds 5 --seconds 4
 *
 * Compiles the sources first: what is measured is the package as it is installed.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ROOT } from '../rules/files.ts';
import { toJson, toTable, type Row } from './rows.ts';
import { scoreBatch64 } from './score-batch64.ts';
import { stepC32 } from './step-c32.ts';

const BENCHMARKS: Readonly<Record<string, (options: { rounds: number; seconds: number }) => Promise<Row[]>>> = {
  score_batch64: scoreBatch64,
  step_c32: stepC32,
};

function wrongUsage(message: string): never {
  console.error(message);
  process.exit(2);
}

function readOptions(): { only: string[]; json: string | undefined; rounds: number; seconds: number } {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true },
      json: { type: 'string' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '3' },
    },
  });
  const only = values.only ?? Object.keys(BENCHMARKS);
  const unknown = only.find((name) => !(name in BENCHMARKS));
  if (unknown !== undefined) wrongUsage(`no benchmark ${unknown}; there are ${Object.keys(BENCHMARKS).join(', ')}`);
  const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
  if (!(rounds >= 1 && seconds > 0)) wrongUsage('--rounds must be at least 1, --seconds over 0');
  return { only, json: values.json, rounds, seconds };
}

const options = readOptions();
const build = spawnSync(process.execPath, ['.ci/build.mjs'], { cwd: ROOT, stdio: 'inherit' });
if (build.status !== 0) process.exit(1);
const rows: Row[] = [];
for (const name of options.only) {
  console.error(`${name}: ${options.rounds} rounds of ${options.seconds} s a side ...`);
  rows.push(...((await BENCHMARKS[name]?.(options)) ?? []));
}
console.log(toTable(rows));
if (options.json !== undefined) writeFileSync(options.json, toJson(rows));
