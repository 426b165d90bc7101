/**
 * The memory of tfjs's wasm backend, seen from plain JS: where a tensor lies, new tensors and scratch space, and the
 * backend's own kernels (matrix product, softmax, sigmoid; all XNNPACK) called on any part of it without a tensor.
 *
 * Why: a matrix product of two 2-D operands without transpose flags runs on XNNPACK at about 30 GFLOPS on any size, the
 * flags or a batch axis fall to a loop of 1-2; and a tensor for each head of each example would cost more than the
 * product. The right operand is packed on its first use and the packing cached under its id, so scratch memory, whose
 * content changes, is registered anew for each call.
 */
import * as tf from '@tensorflow/tfjs-core';

/** The parts of tfjs's BackendWasm that are used here. */
export interface WasmBackend {
  readonly wasm: unknown;
  getMemoryOffset(dataId: object): number;
  makeOutput(shape: readonly number[], dtype: 'float32'): tf.TensorInfo;
}

/** The parts of the Emscripten module that are used here (pointers and lengths in bytes and elements). */
interface WasmModule {
  readonly HEAPF32: Float32Array;
  readonly HEAP32: Int32Array;
  _malloc(bytes: number): number;
  _free(pointer: number): void;
  _register_tensor(id: number, length: number, pointer: number): void;
  _dispose_data(id: number): void;
  _BatchMatMul(
    a: number,
    aShape: number,
    aRank: number,
    b: number,
    bShape: number,
    bRank: number,
    transposeA: number,
    transposeB: number,
    out: number,
  ): void;
  _Softmax(x: number, out: number, columns: number, rows: number): void;
  _Sigmoid(x: number, out: number): void;
}

/** Ids of the backend's own tensors count up from 1; these stay clear of them. */
const FIRST_ID = 2 ** 30;

/** A place in the heap: index of its first element in `floats`. */
export type Place = number;

/** A right operand of `matmul`, packed once and kept until released. */
export interface PackedMatrix {
  readonly id: number;
  readonly rows: number;
  readonly columns: number;
}

export class WasmHeap {
  readonly #backend: WasmBackend;
  readonly #module: WasmModule;
  readonly #shapes: number;
  readonly #scratch = new Map<string, { place: Place; length: number }>();
  #nextId = FIRST_ID;

  constructor(backend: WasmBackend) {
    this.#backend = backend;
    this.#module = backend.wasm as WasmModule;
    this.#shapes = this.#module._malloc(6 * 4);
  }

  /** The whole heap. Growing replaces it: ask again after anything that allocates. */
  get floats(): Float32Array {
    return this.#module.HEAPF32;
  }

  /** Where a tensor of the backend lies. */
  placeOf(tensor: tf.TensorInfo): Place {
    return this.#backend.getMemoryOffset(tensor.dataId) / 4;
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

  allocate(length: number): Place {
    const pointer = this.#module._malloc(Math.max(1, length) * 4) >>> 0;
    if (pointer === 0) throw new RangeError(`the wasm heap has no room for ${length} more elements`);
    return pointer / 4;
  }

  free(place: Place): void {
    this.#module._free(place * 4);
  }

  /** out [m, n] = a [m, k] b [k, n]; b is packed for this call alone. */
  matmul(a: Place, b: Place, out: Place, m: number, k: number, n: number): void {
    const id = this.#register(b, k * n);
    this.matmulPacked(a, { id, rows: k, columns: n }, out, m);
    this.#module._dispose_data(id);
  }

  /** out [m, columns] = a [m, rows] b. */
  matmulPacked(a: Place, b: PackedMatrix, out: Place, m: number): void {
    const aId = this.#register(a, m * b.rows);
    const outId = this.#register(out, m * b.columns);
    const shapes = this.#shapes;
    this.#module.HEAP32.set([1, m, b.rows, 1, b.rows, b.columns], shapes / 4);
    this.#module._BatchMatMul(aId, shapes, 3, b.id, shapes + 12, 3, 0, 0, outId);
    this.#module._dispose_data(aId);
    this.#module._dispose_data(outId);
  }

  /** Keeps b [rows, columns] packed from its first use on; its memory must stay as it is until then. */
  keepPacked(b: Place, rows: number, columns: number): PackedMatrix {
    return { id: this.#register(b, rows * columns), rows, columns };
  }

  releasePacked(b: PackedMatrix): void {
    this.#module._dispose_data(b.id);
  }

  /** Softmax of each row; x and out may be the same place. */
  softmax(x: Place, out: Place, rows: number, columns: number): void {
    this.#unary(x, out, rows * columns, (from, to) => {
      this.#module._Softmax(from, to, columns, rows);
    });
  }

  sigmoid(x: Place, out: Place, length: number): void {
    this.#unary(x, out, length, (from, to) => {
      this.#module._Sigmoid(from, to);
    });
  }

  #unary(x: Place, out: Place, length: number, kernel: (from: number, to: number) => void): void {
    const from = this.#register(x, length);
    const to = this.#register(out, length);
    kernel(from, to);
    this.#module._dispose_data(from);
    this.#module._dispose_data(to);
  }

  #register(place: Place, length: number): number {
    const id = this.#nextId++;
    this.#module._register_tensor(id, length, place * 4);
    return id;
  }
}
