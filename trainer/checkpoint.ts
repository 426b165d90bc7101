/**
 * Checkpoints: a folder in Hugging Face's layout that transformers opens (config.json, model.safetensors, tokenizer.json,
 * tokenizer_config.json, generation_config.json), and beside it what a run needs to go on (optimizer.safetensors,
 * trainer_state.json). A folder is written under another name, flushed and then renamed: it is whole or not there.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Backend } from './backend.ts';
import { ModelConfig } from './model/config.ts';
import { buildModel, readParameter } from './model/model.ts';
import type { Model } from './model/model.ts';
import { parameterSpecs } from './model/parameters.ts';
import type { ParameterSpec } from './model/parameters.ts';
import { decodeSafetensors, encodeSafetensors } from './model/safetensors.ts';
import type { NamedArray } from './model/safetensors.ts';
import type { Optimizer, OptimizerState } from './optimizer.ts';
import { createTokenizer } from './tokenizer.ts';
import type { Tokenizer } from './tokenizer.ts';

export interface CheckpointParts {
  readonly model: Model;
  readonly tokenizer: Tokenizer;
  readonly optimizer?: Optimizer;
  /** Counters, settings, random streams: any JSON the run wants back. */
  readonly state?: unknown;
}

export interface LoadedCheckpoint {
  readonly model: Model;
  readonly tokenizer: Tokenizer;
  /** For `optimizer.restore`; absent where the checkpoint holds weights alone. */
  readonly optimizer_state: OptimizerState | undefined;
  readonly state: unknown;
}

/** A checkpoint that is missing, cut or does not fit its own configuration. */
export class CheckpointError extends Error {
  readonly code = 'checkpoint_invalid';
}

const TrainerState = z.strictObject({
  optimizer: z.strictObject({ optimizer_step: z.number().int(), skipped_steps: z.number().int() }).nullable(),
  state: z.unknown(),
});

/** Writes a checkpoint, in place of one that is there. */
export async function saveCheckpoint(folder: string, parts: CheckpointParts): Promise<void> {
  const { model, tokenizer } = parts;
  const optimizer = await parts.optimizer?.save();
  const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
  const files: [string, string | Uint8Array][] = [
    ['config.json', json(toHfConfig(model.config, tokenizer))],
    ['generation_config.json', json(specialIds(tokenizer))],
    ['tokenizer.json', json(tokenizer.json)],
    ['tokenizer_config.json', json(tokenizer.config_json)],
    ['model.safetensors', encodeSafetensors(await toHfWeights(model))],
    ['trainer_state.json', json({ optimizer: optimizer?.counters ?? null, state: parts.state ?? null })],
  ];
  if (optimizer) files.push(['optimizer.safetensors', encodeSafetensors(toArrays(optimizer.moments))]);
  writeFolder(folder, files);
}

function writeFolder(folder: string, files: readonly [string, string | Uint8Array][]): void {
  const partial = `${folder}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true });
  for (const [name, content] of files) writeFlushed(join(partial, name), content);
  flush(partial);
  const previous = `${folder}.previous`;
  if (existsSync(folder)) {
    rmSync(previous, { recursive: true, force: true });
    renameSync(folder, previous);
  }
  renameSync(partial, folder);
  flush(join(folder, '..'));
  rmSync(previous, { recursive: true, force: true });
}

function writeFlushed(file: string, content: string | Uint8Array): void {
  const descriptor = openSync(file, 'w');
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
  fsyncSync(descriptor);
  closeSync(descriptor);
}

function flush(folder: string): void {
  const descriptor = openSync(folder, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/** Whether a checkpoint is there to load. */
export function hasCheckpoint(folder: string): boolean {
  return existsSync(folder) || existsSync(`${folder}.previous`);
}

/**
 * Loads a checkpoint. If a crash came between the two renames of a save, the one before is taken.
 * @throws CheckpointError naming the file at fault
 */
export function loadCheckpoint(folder: string, backend: Backend): LoadedCheckpoint {
  const place = existsSync(folder) ? folder : `${folder}.previous`;
  if (!existsSync(place)) throw new CheckpointError(`there is no checkpoint at ${folder}`);
  const read = <T>(name: string, parse: (bytes: Buffer) => T): T => {
    try {
      return parse(readFileSync(join(place, name)));
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error);
      throw new CheckpointError(`${join(place, name)}: ${cause}; remove ${place} to begin anew`, { cause: error });
    }
  };
  const readJson = <T>(name: string, schema: z.ZodType<T>): T =>
    read(name, (bytes) => schema.parse(JSON.parse(bytes.toString('utf8'))));
  const config = readJson('config.json', HfConfig);
  const weights = read('model.safetensors', decodeSafetensors);
  const trainer = readJson('trainer_state.json', TrainerState);
  return {
    model: read('model.safetensors', () => fromHfWeights(config, backend, weights)),
    tokenizer: createTokenizer(readJson('tokenizer.json', JsonObject), readJson('tokenizer_config.json', JsonObject)),
    optimizer_state: trainer.optimizer
      ? { counters: trainer.optimizer, moments: fromArrays(read('optimizer.safetensors', decodeSafetensors)) }
      : undefined,
    state: trainer.state,
  };
}

const JsonObject = z.record(z.string(), z.unknown());

/** The parts of config.json that are ours; what else is there must be what this decoder does. */
const HfConfig = z
  .looseObject({
    model_type: z.literal('qwen3'),
    tie_word_embeddings: z.literal(true),
    attention_bias: z.literal(false),
  })
  .transform((config) => Object.fromEntries(CONFIG_KEYS.map((key) => [key, config[key]])))
  .pipe(ModelConfig);
const CONFIG_KEYS = Object.keys(ModelConfig.shape);

function toHfConfig(config: ModelConfig, tokenizer: Tokenizer): object {
  return {
    architectures: ['Qwen3ForCausalLM'],
    model_type: 'qwen3',
    ...config,
    ...specialIds(tokenizer),
    hidden_act: 'silu',
    attention_bias: false,
    attention_dropout: 0,
    tie_word_embeddings: true,
    use_cache: true,
    use_sliding_window: false,
    torch_dtype: 'float32',
  };
}

function specialIds({ pad_id, bos_id, eos_id }: Tokenizer): object {
  return { pad_token_id: pad_id, bos_token_id: bos_id, eos_token_id: eos_id };
}

/** Weights under transformers' names and in torch's [out, in] order. */
async function toHfWeights(model: Model): Promise<Map<string, NamedArray>> {
  const weights = new Map<string, NamedArray>();
  for (const spec of parameterSpecs(model.config)) {
    const values = await readParameter(model, spec.name);
    if (spec.kind !== 'matrix') {
      weights.set(spec.parts[0]!.hfName, { shape: spec.shape, values });
      continue;
    }
    forEachPart(spec, (hfName, offset, columns) => {
      const [rows, width] = spec.shape as [number, number];
      const part = new Float32Array(rows * columns);
      for (let column = 0; column < columns; column++) {
        for (let row = 0; row < rows; row++) part[column * rows + row] = values[row * width + offset + column]!;
      }
      weights.set(hfName, { shape: [columns, rows], values: part });
    });
  }
  return weights;
}

function forEachPart(spec: ParameterSpec, visit: (hfName: string, offset: number, columns: number) => void): void {
  let offset = 0;
  for (const { hfName, columns } of spec.parts) {
    visit(hfName, offset, columns);
    offset += columns;
  }
}

function fromHfWeights(config: ModelConfig, backend: Backend, weights: ReadonlyMap<string, NamedArray>): Model {
  return buildModel(config, backend, (spec, size) => {
    if (spec.kind !== 'matrix') return takeWeight(weights, spec.parts[0]!.hfName, spec.shape);
    const [rows, width] = spec.shape as [number, number];
    const values = new Float32Array(size);
    forEachPart(spec, (hfName, offset, columns) => {
      const part = takeWeight(weights, hfName, [columns, rows]);
      for (let column = 0; column < columns; column++) {
        for (let row = 0; row < rows; row++) values[row * width + offset + column] = part[column * rows + row]!;
      }
    });
    return values;
  });
}

function takeWeight(weights: ReadonlyMap<string, NamedArray>, name: string, shape: readonly number[]): Float32Array {
  const found = weights.get(name);
  if (!found) throw new CheckpointError(`${name} is missing`);
  if (found.shape.join() !== shape.join()) {
    throw new CheckpointError(`${name} is [${found.shape.join(', ')}], the configuration wants [${shape.join(', ')}]`);
  }
  return found.values;
}

function toArrays(moments: ReadonlyMap<string, Float32Array>): Map<string, NamedArray> {
  return new Map([...moments].map(([name, values]) => [name, { shape: [values.length], values }]));
}

function fromArrays(arrays: ReadonlyMap<string, NamedArray>): Map<string, Float32Array> {
  return new Map([...arrays].map(([name, { values }]) => [name, values]));
}
