/**
 * Where the numbers are computed. One flag chooses; `auto` takes the fastest that is here by our measurements
 * (trainer/LOG.md) and says why. A backend that was asked for and is not there is an error that says how to install it:
 * nothing falls back in silence.
 *
 *   wasm            own kernels on the memory of tfjs's wasm backend; always there, and what decodes for all of them
 *   cpu             plain JavaScript, the reference of the tests
 *   tfjs-node       TensorFlow on the CPU            npm run setup:native
 *   tfjs-node-gpu   TensorFlow with CUDA             npm run setup:native:gpu, checked by npm run check:gpu
 *   webgpu          any GPU, by Dawn                 npm run setup:webgpu
 *
 * It works in worker threads as it does in the main one; TensorFlow must be loaded in the main thread first, since only
 * that one can set its environment.
 */
import * as tf from '@tensorflow/tfjs-core';
import '@tensorflow/tfjs-backend-cpu';
import '@tensorflow/tfjs-layers'; // in Node, the gradients of tfjs-core's own ops come with it
import { cpus } from 'node:os';
import { cudaFault, findCuda } from './backends/cuda.ts';
import { findPackages } from './backends/packages.ts';
import { useBackend, type Started } from './backends/start.ts';
import { startTensorflow } from './backends/tensorflow.ts';
import { loadHeap, startWasm } from './backends/wasm.ts';
import { startWebgpu } from './backends/webgpu.ts';
import type { Ops } from './model/ops.ts';
import { plainOps } from './model/plain-ops.ts';
import type { WasmHeap } from './model/wasm/heap.ts';

export { BackendUnavailable } from './backends/start.ts';

export const BACKEND_NAMES = ['auto', 'wasm', 'cpu', 'tfjs-node', 'tfjs-node-gpu', 'webgpu'] as const;
export type BackendName = (typeof BACKEND_NAMES)[number];

export interface Backend {
  readonly name: Exclude<BackendName, 'auto'>;
  /** One line for the user: backend, engine, device, threads, memory, processor, and with `auto` why it was taken. */
  readonly device: string;
  readonly ops: Ops;
  /** Memory of the wasm backend, which decoding uses whatever backend trains. */
  readonly heap: WasmHeap;
}

const STARTERS: Record<Backend['name'], () => Promise<Started>> = {
  wasm: startWasm,
  cpu: async () => {
    await useBackend('cpu');
    return { report: 'plain JavaScript, 1 thread, slow', ops: plainOps };
  },
  'tfjs-node': () => startTensorflow('tfjs-node'),
  'tfjs-node-gpu': () => startTensorflow('tfjs-node-gpu'),
  webgpu: startWebgpu,
};

/**
 * Loads a backend, makes it tfjs's current one and runs one op on it. tfjs-node-gpu without a GPU computes on the CPU, and
 * its `device` says so and why.
 * @throws BackendUnavailable with what to install
 */
export async function createBackend(name: BackendName): Promise<Backend> {
  tf.enableProdMode(); // no banner, no debug checks
  const { name: chosen, why } = name === 'auto' ? chooseFastest() : { name, why: '' };
  const heap = await loadHeap();
  const { report, ops } = await STARTERS[chosen]();
  const processor = cpus()[0]?.model.trim() ?? 'unknown processor';
  return { name: chosen, device: `backend ${chosen}${why}: ${report}, ${processor}`, ops, heap };
}

/** What `auto` takes: a GPU by CUDA where everything for it is here, else wasm. */
function chooseFastest(): { name: Backend['name']; why: string } {
  if (findPackages('tfjs-node-gpu') === undefined) {
    return { name: 'wasm', why: ' (the fastest without a GPU; no tfjs-node-gpu is installed)' };
  }
  const fault = cudaFault(findCuda());
  if (fault === undefined) return { name: 'tfjs-node-gpu', why: ' (the fastest: a GPU is here)' };
  return { name: 'wasm', why: ` (the fastest without a GPU; ${fault})` };
}
