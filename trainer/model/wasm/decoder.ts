/**
 * The decoder without tensors, for sampling: weights packed once per policy version, activations in scratch memory of the
 * wasm heap, products on XNNPACK. The arithmetic is that of model.ts, row by row; attention is in decode-attention.ts.
 */
import type { ModelConfig } from '../config.ts';
import { attentionGeometry } from '../geometry.ts';
import type { AttentionGeometry } from '../ops.ts';
import { parameterSpecs } from '../parameters.ts';
import type { PackedMatrix, Place, WasmHeap } from './heap.ts';
import { rmsNormInto } from './norm.ts';
import { gatherInto, transposeInto } from './rows.ts';
import { swigluForward } from './swiglu.ts';

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
  readonly #matrices: PackedMatrix[] = [];

  /** `values` by the names of parameters.ts; they are copied. */
  constructor(heap: WasmHeap, config: ModelConfig, values: ReadonlyMap<string, Float32Array>) {
    this.heap = heap;
    this.config = config;
    this.geometry = attentionGeometry(config);
    const shapes = new Map(parameterSpecs(config).map((spec) => [spec.name, spec.shape]));
    const copy = (name: string): Place => this.#copy(values.get(name)!);
    const pack = (name: string): PackedMatrix => this.#pack(copy(name), shapes.get(name)! as [number, number]);
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
    for (const matrix of this.#matrices) this.heap.releasePacked(matrix);
    for (const place of this.#places) this.heap.free(place);
  }

  /** Embeddings of tokens, [n, D], in scratch memory that `finishLayer` updates in place. */
  embed(ids: Int32Array): Place {
    const width = this.config.hidden_size;
    const x = this.heap.scratch('decode.x', ids.length * width);
    gatherInto(this.heap.floats, this.#embedding, ids, x, width);
    return x;
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
    const { hidden_size: width, intermediate_size: inner } = this.config;
    const change = heap.scratch('decode.change', n * width);
    heap.matmulPacked(mixed, layer.o, change, n);
    addInto(heap.floats, change, x, n * width);
    const gateUp = heap.scratch('decode.gateUp', n * 2 * inner);
    heap.matmulPacked(this.#normalise(x, layer.mlpNorm, n), layer.gateUp, gateUp, n);
    const hidden = heap.scratch('decode.hidden', n * inner);
    const sigmoids = heap.scratch('decode.sigmoids', n * inner);
    swigluForward(heap, { x: gateUp, sigmoids, y: hidden }, n, inner);
    heap.matmulPacked(hidden, layer.down, change, n);
    addInto(heap.floats, change, x, n * width);
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
    rmsNormInto(this.heap.floats, { x, gain, y, inverse }, n, width, epsilon);
    return y;
  }

  #copy(values: Float32Array): Place {
    const place = this.#allocate(values.length);
    this.heap.floats.set(values, place);
    return place;
  }

  #allocate(length: number): Place {
    const place = this.heap.allocate(length);
    this.#places.push(place);
    return place;
  }

  #pack(place: Place, [rows, columns]: readonly [number, number]): PackedMatrix {
    const matrix = this.heap.keepPacked(place, rows, columns);
    this.#matrices.push(matrix);
    return matrix;
  }

  /** The output layer is the embedding transposed, [D, V]. */
  #packHead(): PackedMatrix {
    const { vocab_size: vocab, hidden_size: width } = this.config;
    const turned = this.#allocate(vocab * width);
    transposeInto(this.heap.floats, this.#embedding, turned, vocab, width);
    return this.#pack(turned, [width, vocab]);
  }
}

function addInto(f: Float32Array, x: Place, y: Place, length: number): void {
  for (let i = 0; i < length; i++) f[y + i] = f[y + i]! + f[x + i]!;
}
