/**
 * tfjs's `Identity` on the wasm backend without its copy. The engine clones every tensor that a gradient keeps; on the other
 * backends a clone shares its data, here it copied them: each activation of the model once a step. Safe as long as no
 * tensor that can have a clone is written in place; the kernels write into new tensors only (and AdamW's moments, which
 * nobody clones).
 */
import * as tf from '@tensorflow/tfjs-core';

/** The parts of tfjs's BackendWasm that are used here. */
interface SharingBackend {
  incRef(dataId: object): void;
}

/** Replaces the kernel; to be called once the backend is loaded, any number of times. */
export function shareClones(): void {
  tf.unregisterKernel('Identity', 'wasm');
  tf.registerKernel({
    kernelName: 'Identity',
    backendName: 'wasm',
    kernelFunc: ({ inputs, backend }) => {
      const x = inputs['x']!;
      (backend as SharingBackend).incRef(x.dataId);
      return { dataId: x.dataId, shape: x.shape, dtype: x.dtype };
    },
  });
}
