/**
 * The memory of tfjs's wasm backend: where a tensor lies, new tensors, scratch space, and the trainer's own kernels on it.
 *
 * Why own kernels: XNNPACK's product of two 2-D operands, the backend's fastest, reaches .6 of what ours does, with
 * transpose flags or a batch axis the backend falls to a loop of a twentieth, and what lies between products (norms,
 * rotation, softmax, gates) was plain JS. They are called on places of the memory, not registered as tfjs kernels: none is an op of
 * tfjs, several outputs and saved values would each need a place in its kernel interface, and tf.customGrad takes plain functions.
 */
import * as tf from '@tensorflow/tfjs-core';
import { shareClones } from './identity.ts';
import { chooseBuild, loadKernels } from './kernels.ts';
import type { KernelBuild, Kernels, Pointer } from './kernels.ts';

/** The parts of tfjs's BackendWasm that are used here. */
export interface WasmBackend {
  readonly wasm: unknown;
  getMemoryOffset(dataId: object): number;
  makeOutput(shape: readonly number[], dtype: 'float32'): tf.TensorInfo;
}

/** The parts of the Emscripten module that are used here (pointers and lengths in bytes). */
interface WasmModule {
  readonly HEAPF32: Float32Array;
  readonly HEAP32: Int32Array;
  /** The exports; the memory is one of them. */
  readonly asm: { readonly memory: unknown };
  _malloc(bytes: number): number;
  _free(pointer: number): void;
}

/** A place in the heap: index of its first element in `floats`. */
export type Place = number;

/** A right operand of a product, packed once as the kernels read it. */
export interface PackedMatrix {
  readonly panels: Place;
  readonly rows: number;
  readonly columns: number;
}

/** A matrix in the heap, [rows, columns] once it is turned. */
export interface MatrixView {
  readonly place: Place;
  readonly rows: number;
  readonly columns: number;
  /** True if it is stored as [columns, rows]. */
  readonly isTransposed: boolean;
}

/** Kernels may read this far past the end of a row of 8, though they use nothing of it. */
const SLACK = 8;
/** Depth of a product's block; `DEPTH` of ../kernels/gemm.ts. */
const BLOCK_DEPTH = 512;

export class WasmHeap {
  readonly kernels: Kernels;
  readonly build: KernelBuild;
  readonly #backend: WasmBackend;
  readonly #module: WasmModule;
  readonly #scratch = new Map<string, { place: Place; length: number }>();
  readonly #tables = new Map<string, number>();

  constructor(backend: WasmBackend, build: KernelBuild = chooseBuild()) {
    this.#backend = backend;
    this.#module = backend.wasm as WasmModule;
    this.build = build;
    this.kernels = loadKernels(build, this.#module.asm.memory);
    shareClones();
  }

  /** The whole heap. Growing replaces it: ask again after anything that allocates. */
  get floats(): Float32Array {
    return this.#module.HEAPF32;
  }

  /** Where a tensor of the backend lies. */
  placeOf(tensor: tf.TensorInfo): Place {
    return this.#backend.getMemoryOffset(tensor.dataId) / 4;
  }

  /** The same in bytes, as kernels take it. */
  pointerOf(tensor: tf.TensorInfo): Pointer {
    return this.#backend.getMemoryOffset(tensor.dataId);
  }

  /** A new float32 tensor with whatever the memory held; the engine's tidy owns it. */
  createTensor<R extends tf.Rank>(shape: tf.ShapeMap[R]): tf.Tensor<R> {
    const info = this.#backend.makeOutput(shape, 'float32');
    return tf.engine().makeTensorFromTensorInfo(info) as tf.Tensor<R>;
  }

  /** Memory under a name, at least `length` elements, kept for the next call; its content is anyone's. */
  scratch(name: string, length: number): Place {
    const known = this.#scratch.get(name);
    if (known && known.length >= length) return known.place;
    if (known) this.free(known.place);
    const place = this.allocate(length);
    this.#scratch.set(name, { place, length });
    return place;
  }

  /** Whole numbers in scratch memory, as kernels take rows, ids and positions. */
  integers(name: string, values: ArrayLike<number>): Pointer {
    const place = this.scratch(name, values.length);
    this.#module.HEAP32.set(values, place);
    return place * 4;
  }

  /** Constants under a name: `create` gives at least `length` of them when they are first needed, or more are. */
  table(name: string, length: number, create: () => Float32Array): Pointer {
    if ((this.#tables.get(name) ?? 0) < length) {
      const values = create();
      this.floats.set(values, this.scratch(name, values.length));
      this.#tables.set(name, values.length);
    }
    return this.scratch(name, length) * 4;
  }

  allocate(length: number): Place {
    const pointer = this.#module._malloc((length + SLACK) * 4) >>> 0;
    if (pointer === 0) throw new RangeError(`the wasm heap has no room for ${length} more elements`);
    return pointer / 4;
  }

  free(place: Place): void {
    this.#module._free(place * 4);
  }

  /** out [m, n] = a [m, k] b [k, n], either of them stored the other way round. */
  matmul(a: MatrixView, b: MatrixView, out: Place): void {
    const depth = Math.min(a.columns, BLOCK_DEPTH);
    const strips = a.isTransposed ? a.rows + SLACK : 0;
    const work = this.scratch('matmul', depth * (b.columns + SLACK + strips)) * 4;
    const [c, m, n, k] = [out * 4, a.rows, b.columns, a.columns];
    this.kernels.gemm(a.place * 4, ...stepsOf(a), b.place * 4, ...stepsOf(b), c, m, n, k, 0, work);
  }

  /** out [m, columns] = a [m, rows] b, or out += a b. */
  matmulPacked(a: Place, b: PackedMatrix, out: Place, m: number, isAdded = false): void {
    this.kernels.gemmPacked(a * 4, b.panels * 4, out * 4, m, b.columns, b.rows, Number(isAdded));
  }

  /** A copy of b as the kernels read it; the caller frees its `panels`. */
  pack(b: MatrixView): PackedMatrix {
    const panels = this.allocate(b.rows * (b.columns + SLACK));
    this.kernels.packMatrix(b.place * 4, ...stepsOf(b), b.rows, b.columns, panels * 4);
    return { panels, rows: b.rows, columns: b.columns };
  }

  /** Softmax of each row; x and out may be the same place. */
  softmax(x: Place, out: Place, rows: number, columns: number): void {
    this.kernels.softmax(x * 4, out * 4, rows, columns);
  }
}

/** Elements from a row to the next and from a column to the next. */
function stepsOf({ rows, columns, isTransposed }: MatrixView): [number, number] {
  return isTransposed ? [1, rows] : [columns, 1];
}
