/**
 * Checks the trainer on a CUDA GPU, as one command for a person who has one: `npm run check:gpu`.
 *
 * Sets tfjs-node-gpu up with CUDA's libraries where that is not done, says what is found, holds the GPU's numbers against
 * cpu's, trains 50 steps, samples, and prints both speeds beside wasm's. Exit code 1 with what to change where something
 * is missing, the numbers differ by more than float32 explains, or TensorFlow did not compute on the GPU.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { cudaFault, findCuda } from '../../trainer/backends/cuda.ts';
import { findPackages } from '../../trainer/backends/packages.ts';
import { faultsOf, toDifferences, toTable } from '../trainer/backends/differences.ts';
import { computeApart } from '../trainer/backends/in-process.ts';

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

function sayWhatIsThere(): void {
  const { driver, cards, libraries } = findCuda();
  say(`driver: ${driver ?? 'none'}`);
  say(`cards: ${cards.join('; ') || 'none'}`);
  say(`CUDA libraries: ${libraries.map(({ file, isFound }) => `${file} ${isFound ? 'found' : 'MISSING'}`).join(', ')}`);
  say(`tfjs-node-gpu: ${findPackages('tfjs-node-gpu') === undefined ? 'not set up' : 'set up'}`);
}

/** @throws Error naming what keeps TensorFlow from the GPU */
function assertGpu(): void {
  const cuda = findCuda();
  const hasHardware = cuda.driver !== undefined && cuda.cards.length > 0;
  const isComplete = findPackages('tfjs-node-gpu') !== undefined && cudaFault(cuda) === undefined;
  if (hasHardware && !isComplete) {
    const { status } = spawnSync('npm', ['run', '--silent', 'setup:native:gpu'], { stdio: 'inherit' });
    if (status !== 0) throw new Error('npm run setup:native:gpu failed');
  }
  const fault = cudaFault(findCuda());
  if (fault !== undefined) throw new Error(`no GPU found: ${fault}`);
}

/** @throws Error if a number is too far off, or TensorFlow fell back to the CPU */
async function checkNumbers(): Promise<void> {
  const reference = await computeApart('cpu', {});
  const numbers = await computeApart('tfjs-node-gpu', {});
  say(numbers.device);
  if (numbers.device.includes('ON THE CPU')) throw new Error('TensorFlow did not take the GPU');
  const differences = toDifferences(numbers, reference);
  say(`\nLargest differences from cpu:\n\n${toTable([['tfjs-node-gpu', differences]])}\n`);
  const faults = faultsOf(differences);
  if (faults.length > 0) {
    throw new Error(
      `more than float32 explains: ${faults.join(', ')}. NVIDIA_TF32_OVERRIDE=0 turns its shorter products off`,
    );
  }
}

/** @throws Error if one of the two cannot train or sample */
function compareSpeeds(): void {
  const script = fileURLToPath(new URL('gpu-speed.ts', import.meta.url));
  for (const name of ['wasm', 'tfjs-node-gpu']) {
    const { status } = spawnSync(process.execPath, ['--import', 'tsx', script, name], { stdio: 'inherit' });
    if (status !== 0) throw new Error(`training on ${name} failed`);
  }
}

try {
  if (!existsSync('package.json')) throw new Error('run it at the root of the repository');
  sayWhatIsThere();
  assertGpu();
  await checkNumbers();
  compareSpeeds();
  say('check:gpu passed');
} catch (error) {
  process.stderr.write(`check:gpu failed: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
