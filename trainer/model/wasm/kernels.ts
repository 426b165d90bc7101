/**
 * The trainer's own kernels (../kernels, AssemblyScript) as a module instance on the memory of tfjs's wasm backend. Two
 * builds: with relaxed SIMD, whose multiply-add is one instruction, where the runtime has it, else with plain SIMD. An
 * instance keeps nothing, so each thread has its own.
 */
import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';

/** A place in the memory, in bytes. */
export type Pointer = number;

/** Places in bytes, sizes in elements; what each argument is stands beside the kernel's source. */
type Kernel = (...args: number[]) => void;

/** The exports of ../kernels/index.ts. */
export interface Kernels {
  readonly adamw: Kernel;
  readonly addInto: Kernel;
  readonly attentionBackward: Kernel;
  readonly attentionForward: Kernel;
  readonly decodeAttention: Kernel;
  readonly gatherRows: Kernel;
  readonly gemm: Kernel;
  readonly gemmPacked: Kernel;
  readonly packMatrix: Kernel;
  readonly rmsNorm: Kernel;
  readonly rmsNormBackward: Kernel;
  readonly rotateHeads: Kernel;
  readonly rotateHeadsBackward: Kernel;
  readonly scatterAdd: Kernel;
  readonly softmax: Kernel;
  readonly swiglu: Kernel;
  readonly swigluBackward: Kernel;
  readonly tokenStatistics: Kernel;
  readonly tokenStatisticsBackward: Kernel;
}

export type KernelBuild = 'relaxed SIMD' | 'plain SIMD';

const FILES: Readonly<Record<KernelBuild, string>> = {
  'relaxed SIMD': 'kernels-relaxed.wasm',
  'plain SIMD': 'kernels.wasm',
};

/** The parts of the WebAssembly interface that are used here; the compiler's library has them for browsers only. */
interface WebAssemblyInterface {
  validate(bytes: Uint8Array): boolean;
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: { env: { memory: unknown } }) => { readonly exports: unknown };
}
const wasm = (globalThis as unknown as { WebAssembly: WebAssemblyInterface }).WebAssembly;

/** The build that this runtime can run. Node 20 has relaxed SIMD behind a flag, which must be set before compiling. */
export function chooseBuild(): KernelBuild {
  const bytes = readBuild('relaxed SIMD');
  if (!wasm.validate(bytes)) setFlagsFromString('--experimental-wasm-relaxed-simd');
  return wasm.validate(bytes) ? 'relaxed SIMD' : 'plain SIMD';
}

export function loadKernels(build: KernelBuild, memory: unknown): Kernels {
  const module = new wasm.Module(readBuild(build));
  return new wasm.Instance(module, { env: { memory } }).exports as Kernels;
}

function readBuild(build: KernelBuild): Uint8Array {
  return readFileSync(new URL(`./${FILES[build]}`, import.meta.url));
}
