/**
 * The decoder without tensors, for sampling: weights packed once per policy version, activations in scratch memory of the
 * wasm heap, all of it on the trainer's kernels. The arithmetic is that of model.ts, row by row; attention is in
 * decode-attention.ts.
 */
import type { ModelConfig } from '../config.ts';
import { attentionGeometry } from '../geometry.ts';
import type { AttentionGeometry } from '../ops.ts';
import { parameterSpecs } from '../parameters.ts';
import type { PackedMatrix, Place, WasmHeap } from './heap.ts';

export interface DecoderLayer {
  readonly inputNorm: Place;
  readonly qkv: PackedMatrix;
  readonly queryNorm: Place;
  readonly keyNorm: Place;
  readonly o: PackedMatrix;
  readonly mlpNorm: Place;
  readonly gateUp: PackedMatrix;
  readonly down: PackedMatrix;
}

export class HeapDecoder {
  readonly heap: WasmHeap;
  readonly config: ModelConfig;
  readonly geometry: AttentionGeometry;
  readonly layers: readonly DecoderLayer[];
  readonly #embedding: Place;
  readonly #norm: Place;
  readonly #head: PackedMatrix;
  readonly #places: Place[] = [];

  /** `values` by the names of parameters.ts; they are copied. */
  constructor(heap: WasmHeap, config: ModelConfig, values: ReadonlyMap<string, Float32Array>) {
    this.heap = heap;
    this.config = config;
    this.geometry = attentionGeometry(config);
    const shapes = new Map(parameterSpecs(config).map((spec) => [spec.name, spec.shape]));
    const copy = (name: string): Place => this.#copy(values.get(name)!);
    const pack = (name: string): PackedMatrix => {
      const [rows, columns] = shapes.get(name)! as [number, number];
      return this.#pack(values.get(name)!, rows, columns);
    };
    this.layers = Array.from({ length: config.num_hidden_layers }, (_, layer) => ({
      inputNorm: copy(`layers.${layer}.input_norm`),
      qkv: pack(`layers.${layer}.qkv`),
      queryNorm: copy(`layers.${layer}.query_norm`),
      keyNorm: copy(`layers.${layer}.key_norm`),
      o: pack(`layers.${layer}.o`),
      mlpNorm: copy(`layers.${layer}.mlp_norm`),
      gateUp: pack(`layers.${layer}.gate_up`),
      down: pack(`layers.${layer}.down`),
    }));
    this.#embedding = copy('embedding');
    this.#norm = copy('norm');
    this.#head = this.#packHead();
  }

  dispose(): void {
    for (const place of this.#places) this.heap.free(place);
  }

  /** Embeddings of tokens, [n, D], in scratch memory that `finishLayer` updates in place. */
  embed(ids: ArrayLike<number>): Place {
    return this.#gather(this.#embedding, ids, 'decode.x');
  }

  /** Rows of x [., D], in scratch memory of their own. */
  pickRows(x: Place, rows: ArrayLike<number>): Place {
    return this.#gather(x, rows, 'decode.picked');
  }

  /** [n, (H + 2 KV) d] */
  projectQkv(layer: DecoderLayer, x: Place, n: number): Place {
    const qkv = this.heap.scratch('decode.qkv', n * layer.qkv.columns);
    this.heap.matmulPacked(this.#normalise(x, layer.inputNorm, n), layer.qkv, qkv, n);
    return qkv;
  }

  /** x += mixed o; x += mlp(x): the rest of a layer after attention, [n, D] in place. */
  finishLayer(layer: DecoderLayer, x: Place, mixed: Place, n: number): void {
    const { heap } = this;
    const { intermediate_size: inner } = this.config;
    heap.matmulPacked(mixed, layer.o, x, n, true);
    const gateUp = heap.scratch('decode.gateUp', n * 2 * inner);
    heap.matmulPacked(this.#normalise(x, layer.mlpNorm, n), layer.gateUp, gateUp, n);
    const hidden = heap.scratch('decode.hidden', n * inner);
    heap.kernels.swiglu(gateUp * 4, hidden * 4, n, inner);
    heap.matmulPacked(hidden, layer.down, x, n, true);
  }

  /** Logits, [n, V], in scratch memory. */
  logits(x: Place, n: number): Place {
    const out = this.heap.scratch('decode.logits', n * this.config.vocab_size);
    this.heap.matmulPacked(this.#normalise(x, this.#norm, n), this.#head, out, n);
    return out;
  }

  #normalise(x: Place, gain: Place, n: number): Place {
    const { hidden_size: width, rms_norm_eps: epsilon } = this.config;
    const y = this.heap.scratch('decode.normed', n * width);
    const inverse = this.heap.scratch('decode.inverse', n);
    this.heap.kernels.rmsNorm(x * 4, gain * 4, y * 4, inverse * 4, n, width, epsilon);
    return y;
  }

  #gather(table: Place, rows: ArrayLike<number>, name: string): Place {
    const width = this.config.hidden_size;
    const out = this.heap.scratch(name, rows.length * width);
    const numbers = this.heap.integers('rows', rows);
    this.heap.kernels.gatherRows(table * 4, numbers, out * 4, rows.length, width);
    return out;
  }

  #copy(values: Float32Array): Place {
    const place = this.heap.allocate(values.length);
    this.#places.push(place);
    this.heap.floats.set(values, place);
    return place;
  }

  #pack(values: Float32Array, rows: number, columns: number): PackedMatrix {
    const place = this.heap.scratch('decode.pack', values.length);
    this.heap.floats.set(values, place);
    return this.#keep(this.heap.pack({ place, rows, columns, isTransposed: false }));
  }

  /** The output layer is the embedding transposed, [D, V]. */
  #packHead(): PackedMatrix {
    const { vocab_size: columns, hidden_size: rows } = this.config;
    return this.#keep(this.heap.pack({ place: this.#embedding, rows, columns, isTransposed: true }));
  }

  #keep(matrix: PackedMatrix): PackedMatrix {
    this.#places.push(matrix.panels);
    return matrix;
  }
}
