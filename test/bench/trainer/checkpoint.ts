/**
 * The policy that reinforcement learning starts from: made once by this project's own `teach` and `sft`, on level 1, and kept
 * in .cache/bench. Stopped early, since a policy that has learned everything has nothing left to gain.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../rules/files.ts';
import { plainEnvironment } from '../../tools/processes.ts';
import { say } from '../command.ts';

const TASKS = 2000;
const TOKENS = 400_000;
const LAYERS = 4;

/** Folder of the checkpoint. The first call takes a few minutes. @throws Error where a command fails */
export function sftCheckpoint(): string {
  const runs = join(ROOT, `.cache/bench/sft-${LAYERS}-layers-${TOKENS}-tokens`);
  const folder = join(runs, 'sft/sft');
  if (existsSync(join(runs, 'sft/summary.json'))) return folder;
  say('  making the SFT checkpoint, once ...');
  const places = ['--runs', runs, '--db', join(runs, 'log.db')];
  canvasGym('teach', '--tasks', String(TASKS), '--run-id', 'teach', ...places);
  const dataset = join(runs, 'teach/dataset.jsonl');
  const size = ['--layers', String(LAYERS), '--max-tokens', String(TOKENS), '--stop-at-exact', '1'];
  canvasGym('sft', '--dataset', dataset, '--run-id', 'sft', '--backend', 'wasm', ...size, ...places);
  return folder;
}

function canvasGym(...args: readonly string[]): void {
  const command = ['--import', 'tsx', 'clients/cli/main.ts', ...args];
  const { status } = spawnSync(process.execPath, command, {
    ...{ cwd: ROOT, env: plainEnvironment(), stdio: ['ignore', 'ignore', 'inherit'] },
  });
  if (status !== 0) throw new Error(`canvas-gym ${args.join(' ')} ended with ${status}`);
}
