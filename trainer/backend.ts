/**
 * Where the numbers are computed. One flag chooses; `auto` takes the fastest that is always there (wasm). A backend that
 * was asked for and is not there is an error that says how to install it: nothing falls back in silence.
 */
import * as tf from '@tensorflow/tfjs-core';
import '@tensorflow/tfjs-backend-cpu';
import '@tensorflow/tfjs-backend-wasm';
import '@tensorflow/tfjs-layers'; // in Node, the gradients of tfjs-core's own ops come with it
import { cpus } from 'node:os';
import type { Ops } from './model/ops.ts';
import { plainOps } from './model/plain-ops.ts';
import { WasmHeap } from './model/wasm/heap.ts';
import type { WasmBackend } from './model/wasm/heap.ts';
import { createWasmOps } from './model/wasm/wasm-ops.ts';

export const BACKEND_NAMES = ['auto', 'wasm', 'cpu', 'tfjs-node', 'tfjs-node-gpu', 'webgpu'] as const;
export type BackendName = (typeof BACKEND_NAMES)[number];

export interface Backend {
  readonly name: Exclude<BackendName, 'auto'>;
  /** One line for the user: backend and device. */
  readonly device: string;
  readonly ops: Ops;
  /** Memory of the wasm backend, which decoding uses whatever backend trains. */
  readonly heap: WasmHeap;
}

/** A backend that was asked for cannot run here. */
export class BackendUnavailable extends Error {
  readonly code = 'backend_unavailable';
}

let heap: WasmHeap | undefined;

/**
 * Loads a backend, makes it tfjs's current one and runs one op on it.
 * @throws BackendUnavailable with what to install
 */
export async function createBackend(name: BackendName): Promise<Backend> {
  const chosen = name === 'auto' ? 'wasm' : name;
  tf.enableProdMode(); // no banner, no debug checks
  const wasmHeap = await loadWasm();
  if (chosen === 'wasm') {
    await useBackend('wasm');
    return { name: chosen, device: describe('wasm (XNNPACK, 1 thread)'), ops: createWasmOps(wasmHeap), heap: wasmHeap };
  }
  const device = await LOADERS[chosen]();
  return { name: chosen, device: describe(device), ops: plainOps, heap: wasmHeap };
}

const LOADERS: Record<Exclude<BackendName, 'auto' | 'wasm'>, () => Promise<string>> = {
  cpu: async () => {
    await useBackend('cpu');
    return 'cpu (plain JavaScript, slow)';
  },
  'tfjs-node': () => loadNative('@tensorflow/tfjs-node', 'npm i @tensorflow/tfjs-node'),
  'tfjs-node-gpu': () => loadNative('@tensorflow/tfjs-node-gpu', 'npm i @tensorflow/tfjs-node-gpu, with CUDA'),
  webgpu: async () => {
    await importPackage('@tensorflow/tfjs-backend-webgpu', 'npm i @tensorflow/tfjs-backend-webgpu webgpu');
    const dawn = await importPackage('webgpu', 'npm i webgpu');
    const { create, globals } = dawn as { create: (flags: string[]) => unknown; globals: object };
    Object.assign(globalThis, globals);
    Object.defineProperty(globalThis, 'navigator', { value: { gpu: create([]) }, configurable: true });
    await useBackend('webgpu');
    return 'webgpu (Dawn)';
  },
};

async function loadNative(packageName: string, install: string): Promise<string> {
  const binding = (await importPackage(packageName, install)) as {
    node?: { isGPUPackage?: boolean };
    backend?: () => { isUsingGpuDevice?: boolean };
  };
  await useBackend('tensorflow');
  const isOnGpu = binding.backend?.().isUsingGpuDevice === true;
  if (packageName.endsWith('gpu') && !isOnGpu) {
    throw new BackendUnavailable(
      'tfjs-node-gpu is installed but found no GPU: a CUDA library or the driver is missing',
    );
  }
  return isOnGpu ? 'tensorflow on a CUDA GPU' : 'tensorflow on the CPU';
}

async function importPackage(name: string, install: string): Promise<unknown> {
  try {
    return await import(name);
  } catch (error) {
    const cause = error instanceof Error ? error.message.split('\n')[0] : String(error);
    throw new BackendUnavailable(`${name} cannot be loaded (${cause}). To install it: ${install}`, { cause: error });
  }
}

async function loadWasm(): Promise<WasmHeap> {
  if (heap) return heap;
  const before = tf.engine().backendName as string | undefined; // its type forgets that none may be set yet
  await withoutNewListeners(() => useBackend('wasm'));
  heap = new WasmHeap(tf.backend() as unknown as WasmBackend);
  if (before !== undefined) await tf.setBackend(before);
  return heap;
}

/** Emscripten's start-up code leaves handlers that print 20 kB of its source before any uncaught error: take them off. */
async function withoutNewListeners(load: () => Promise<void>): Promise<void> {
  const before = ERROR_EVENTS.map((event) => process.listeners(event as 'uncaughtException'));
  await load();
  ERROR_EVENTS.forEach((event, i) => {
    for (const listener of process.listeners(event as 'uncaughtException')) {
      if (!before[i]!.includes(listener)) process.removeListener(event, listener);
    }
  });
}

const ERROR_EVENTS = ['uncaughtException', 'unhandledRejection'] as const;

/** Makes a backend current and checks that it can add. */
async function useBackend(name: string): Promise<void> {
  const isSet = await tf.setBackend(name);
  if (!isSet || (await addOnePlusTwo()) !== 3) throw new BackendUnavailable(`tfjs's backend ${name} did not start`);
}

function describe(device: string): string {
  return `backend ${device}, ${cpus()[0]?.model.trim() ?? 'unknown processor'}`;
}

async function addOnePlusTwo(): Promise<number | undefined> {
  const sum = tf.add(1, 2);
  const [value] = await sum.data<'float32'>();
  sum.dispose();
  return value;
}
