/**
 * `npm run bench`: speed of the server beside what one would use instead, both sides in turn in one run.
 *
 *   npm run bench                          all benchmarks, as a table
 *   npm run bench -- --only step_c32       one of them
 *   npm run bench -- --json FILE           also writes [{name, value, unit, reference, ratio}]
 *   npm run bench -- --rounds 5 --seconds 4
 *
 * Compiles the sources first: what is measured is the package as it is installed. The trainer has a command of its own,
 * trainer.ts.
 */
import { spawnSync } from 'node:child_process';
import { ROOT } from '../rules/files.ts';
import { readCommand, runBenchmarks, type Benchmarks } from './command.ts';
import { scoreBatch64 } from './score-batch64.ts';
import { stepC32 } from './step-c32.ts';

const BENCHMARKS: Benchmarks = {
  score_batch64: scoreBatch64,
  step_c32: stepC32,
};

const command = readCommand(BENCHMARKS, { rounds: 5, seconds: 3 });
const build = spawnSync(process.execPath, ['.ci/build.mjs'], { cwd: ROOT, stdio: 'inherit' });
if (build.status !== 0) process.exit(1);
await runBenchmarks(BENCHMARKS, command);
