/**
 * `npm run bench:trainer`: speed of the trainer beside PyTorch, transformers and TRL, both sides in turn in one run.
 *
 *   npm run bench:trainer:setup                     installs those three (some gigabytes, in .cache/bench)
 *   npm run bench:trainer                           all benchmarks, as a table
 *   npm run bench:trainer -- --only train_wasm      one of them
 *   npm run bench:trainer -- --json FILE            also writes [{name, value, unit, reference, ratio}]
 *   npm run bench:trainer -- --rounds 5 --seconds 4
 *
 * Without the setup this project's figures stand alone, and the table says so.
 */
import { readCommand, runBenchmarks, type Benchmarks } from './command.ts';
import { reinforceMemory } from './trainer/memory.ts';
import { reinforceAgainstTrl } from './trainer/reinforce.ts';
import { sample, trainTfjsNode, trainWasm } from './trainer/speed.ts';

const BENCHMARKS: Benchmarks = {
  train_wasm: trainWasm,
  train_tfjs_node: trainTfjsNode,
  sample,
  reinforce: reinforceAgainstTrl,
  memory: reinforceMemory,
};

await runBenchmarks(BENCHMARKS, readCommand(BENCHMARKS, { rounds: 5, seconds: 4 }));
