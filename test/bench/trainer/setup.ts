/**
 * `npm run bench:trainer:setup`: PyTorch, transformers and TRL in .cache/bench/torch, as test/bench/torch/requirements.txt
 * pins them, and this project's Python client. Takes a minute and, with the CUDA libraries that PyPI's torch asks for, 6 GB.
 *
 *   npm run bench:trainer:setup -- --lock     writes requirements.txt anew from requirements.in
 */
import { buildWheel, prepare, pythonVersion, versionFault, writeLock } from '../../interop/environment.ts';
import { LEAST_PYTHON } from '../../interop/suites.ts';
import { TORCH_FOLDER, TORCH_SUITE } from './torch.ts';

if (process.argv.includes('--lock')) await writeLock(TORCH_SUITE, LEAST_PYTHON);
const version = await pythonVersion();
const fault = versionFault(LEAST_PYTHON, version);
if (fault !== undefined) throw new Error(`npm run bench:trainer:setup ${fault}`);
const python = await prepare({ name: 'torch', folder: TORCH_SUITE }, await buildWheel(), version, TORCH_FOLDER);
console.log(`installed: ${python}`);
