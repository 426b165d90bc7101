/** The wasm backend and its memory, which decoding uses on every backend. */
import * as tf from '@tensorflow/tfjs-core';
import '@tensorflow/tfjs-backend-wasm';
import { WasmHeap } from '../model/wasm/heap.ts';
import type { WasmBackend } from '../model/wasm/heap.ts';
import { createWasmOps } from '../model/wasm/wasm-ops.ts';
import { useBackend, type Started } from './start.ts';

let heap: WasmHeap | undefined;

export async function startWasm(): Promise<Started> {
  const ready = await loadHeap();
  await useBackend('wasm');
  return { report: `own kernels (${ready.build}), 1 thread, at most 4 GiB`, ops: createWasmOps(ready) };
}

/** The memory of the wasm backend, which is loaded if it is not yet; tfjs's current backend stays what it was. */
export async function loadHeap(): Promise<WasmHeap> {
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
