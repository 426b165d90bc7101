/**
 * TensorFlow by tfjs-node or tfjs-node-gpu. The GPU package without a GPU, a driver or a CUDA library computes on the CPU,
 * as TensorFlow itself does, and the report says why; `npm run check:gpu` is the command that fails there.
 *
 * A process has one TensorFlow: the second would meet the first one's libraries. Worker threads share it, and its settings
 * come from the environment of the process, which only the main thread can set: load it there first.
 */
import * as tf from '@tensorflow/tfjs-core';
import { availableParallelism, totalmem } from 'node:os';
import util from 'node:util';
import { batchedOps } from '../model/batched-ops.ts';
import { cudaFault, findCuda } from './cuda.ts';
import { loadPart, PACKAGES, requirePackages } from './packages.ts';
import { BackendUnavailable, toGib, useBackend, type Started } from './start.ts';

export type TensorflowName = 'tfjs-node' | 'tfjs-node-gpu';

/** Set where the user has not: errors alone are printed, memory of the GPU is taken as needed, oneDNN's kernels are used. */
const ENVIRONMENT = { TF_CPP_MIN_LOG_LEVEL: '2', TF_FORCE_GPU_ALLOW_GROWTH: 'true', TF_ENABLE_ONEDNN_OPTS: '1' };

/** The parts of tfjs-node's backend that are used here. */
interface NodeBackend {
  readonly isUsingGpuDevice: boolean;
  readonly binding: { readonly TF_Version: string };
}

let loaded: TensorflowName | undefined;

/** @throws BackendUnavailable if it is not installed, does not load, or the other one is loaded */
export async function startTensorflow(name: TensorflowName): Promise<Started> {
  if (loaded !== undefined && loaded !== name) {
    throw new BackendUnavailable(
      `${loaded} is loaded, and a process has one TensorFlow: use ${name} in another process`,
    );
  }
  if (loaded === undefined) {
    const find = requirePackages(name);
    for (const [key, value] of Object.entries(ENVIRONMENT)) process.env[key] ??= value;
    restoreUtil();
    await loadPart(name, () => find(PACKAGES[name][0]) as unknown);
    loaded = name;
  }
  await useBackend('tensorflow');
  return { report: describe(name), ops: batchedOps };
}

/** Whether TensorFlow computes on a GPU; only once it is started. */
export const isOnGpu = (): boolean => nodeBackend().isUsingGpuDevice;

const nodeBackend = (): NodeBackend => tf.backend() as unknown as NodeBackend;

function describe(name: TensorflowName): string {
  const version = `TensorFlow ${nodeBackend().binding.TF_Version}`;
  const threads = Number(process.env['TF_NUM_INTRAOP_THREADS'] ?? availableParallelism());
  const onCpu = `${version}, ${threads} threads, ${toGib(totalmem())}`;
  if (name === 'tfjs-node') return onCpu;
  const cuda = findCuda();
  if (isOnGpu()) return `${version}, ${cuda.cards.join('; ')}, driver ${cuda.driver ?? 'unknown'}`;
  return `${onCpu}, ON THE CPU: ${cudaFault(cuda) ?? 'TensorFlow found no GPU it can use; its messages say more with TF_CPP_MIN_LOG_LEVEL=0'}`;
}

/** tfjs-node 4.22 calls two functions that Node 23 took out of util. */
function restoreUtil(): void {
  const old: Record<string, (value: unknown) => boolean> = {
    isNullOrUndefined: (value) => value === null || value === undefined,
    isArray: (value) => Array.isArray(value),
  };
  for (const [name, is] of Object.entries(old)) if (!(name in util)) Object.defineProperty(util, name, { value: is });
}
