/** PyTorch, transformers and TRL: where they are installed, and the processes that run them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../rules/files.ts';
import { openSide, type Side } from './side.ts';

export const TORCH_SUITE = 'test/bench/torch';
/** Made by `npm run bench:trainer:setup`. */
export const TORCH_FOLDER = join(ROOT, '.cache/bench/torch');
const PYTHON = join(TORCH_FOLDER, 'bin/python');

/** Said where PyTorch is not installed. */
export const NO_TORCH = 'not compared: PyTorch is not installed (npm run bench:trainer:setup)';

/** A script of test/bench/torch; undefined where PyTorch is not installed. */
export function openTorch(script: string, args: readonly string[]): Side | undefined {
  return existsSync(PYTHON) ? openSide(PYTHON, [join(TORCH_SUITE, script), ...args]) : undefined;
}
