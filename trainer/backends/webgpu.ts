/**
 * WebGPU by Dawn (npm `webgpu`): any GPU with a Vulkan, Metal or Direct3D driver. On Linux it needs the Vulkan loader,
 * libvulkan.so.1. Chromium's software adapter serves for tests: VK_DRIVER_FILES names its vk_swiftshader_icd.json.
 */
import * as tf from '@tensorflow/tfjs-core';
import { pathToFileURL } from 'node:url';
import { batchedOps } from '../model/batched-ops.ts';
import { loadPart, requirePackages } from './packages.ts';
import { BackendUnavailable, toGib, useBackend, type Started } from './start.ts';

interface Dawn {
  readonly create: (flags: string[]) => Gpu;
  readonly globals: object;
}

interface Gpu {
  requestAdapter(): Promise<Adapter | null>;
}

interface Adapter {
  readonly info: { readonly vendor: string; readonly architecture: string; readonly description: string };
  readonly limits: { readonly maxBufferSize: number };
}

let report: string | undefined;

/** @throws BackendUnavailable if it is not installed or there is no adapter */
export async function startWebgpu(): Promise<Started> {
  report ??= await loadDawn();
  await useBackend('webgpu');
  return { report, ops: batchedOps };
}

/** The backend registers itself only where `navigator.gpu` is there when it loads. */
async function loadDawn(): Promise<string> {
  const find = requirePackages('webgpu');
  const path = pathToFileURL(find.resolve('webgpu')).href;
  const { create, globals } = await loadPart('webgpu', async () => (await import(path)) as Dawn);
  const gpu = create([]);
  const adapter = await gpu.requestAdapter();
  if (adapter === null) {
    throw new BackendUnavailable(
      'WebGPU found no adapter: install a GPU driver with Vulkan and the loader libvulkan.so.1 (Debian: apt-get install libvulkan1)',
    );
  }
  Object.assign(globalThis, globals);
  Object.defineProperty(globalThis, 'navigator', { value: { gpu }, configurable: true });
  await loadPart('webgpu', () => find('@tensorflow/tfjs-backend-webgpu') as unknown);
  tf.env().set('WEBGPU_CPU_FORWARD', false); // small tensors too: what is computed where must not depend on sizes
  const { description, architecture } = adapter.info;
  return `Dawn, ${description || architecture}, buffers up to ${toGib(adapter.limits.maxBufferSize)}`;
}
