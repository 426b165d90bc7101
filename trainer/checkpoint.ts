/**
 * Checkpoints: a folder in Hugging Face's layout that transformers opens (config.json, model.safetensors, tokenizer.json,
 * tokenizer_config.json, generation_config.json), and beside it what a run needs to go on (optimizer.safetensors,
 * trainer_state.json). A folder is written under another name, flushed and then renamed: it is whole or not there.
 */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Backend } from './backend.ts';
import { assertFiniteValues } from './divergence.ts';
import { fromHfConfig, fromHfWeights, toHfConfig, toHfWeights } from './model/hugging-face.ts';
import type { Model } from './model/model.ts';
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
  /** For `optimizer.restore`; absent where the checkpoint holds weights alone, as transformers writes it. */
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

/**
 * Writes a checkpoint, in place of one that is there, which stays where this fails.
 * @throws CheckpointError where it cannot be written; Diverged where a weight is not finite
 */
export async function saveCheckpoint(folder: string, parts: CheckpointParts): Promise<void> {
  const { model, tokenizer } = parts;
  const weights = await toHfWeights(model);
  for (const [name, { values }] of weights) assertFiniteValues(name, values);
  const optimizer = await parts.optimizer?.save();
  const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
  const files: [string, string | Uint8Array][] = [
    ['config.json', json(toHfConfig(model.config, specialIds(tokenizer)))],
    ['generation_config.json', json(specialIds(tokenizer))],
    ['tokenizer.json', json(tokenizer.json)],
    ['tokenizer_config.json', json(tokenizer.config_json)],
    [WEIGHTS_FILE, encodeSafetensors(weights)],
    [STATE_FILE, json({ optimizer: optimizer?.counters ?? null, state: parts.state ?? null })],
  ];
  if (optimizer) files.push(['optimizer.safetensors', encodeSafetensors(toArrays(optimizer.moments))]);
  writeFolder(folder, files);
}

/** @throws CheckpointError where the folder cannot be written; the checkpoint before it is still there */
function writeFolder(folder: string, files: readonly [string, string | Uint8Array][]): void {
  const partial = `${folder}.partial`;
  try {
    tidy(folder);
    mkdirSync(partial, { recursive: true });
    for (const [name, content] of files) writeFlushed(join(partial, name), content);
    flush(partial);
    if (existsSync(folder)) renameSync(folder, `${folder}.previous`);
    renameSync(partial, folder);
    flush(join(folder, '..'));
    tidy(folder);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    const cause = error instanceof Error ? error.message : String(error);
    const advice = 'the one before it stays, and the same command goes on from there';
    throw new CheckpointError(`the checkpoint ${folder} could not be saved (${cause}): ${advice}`, { cause: error });
  }
}

/** Finishes or undoes a save that was cut off, so that the checkpoint is at `folder` and nothing is beside it. */
function tidy(folder: string): void {
  rmSync(`${folder}.partial`, { recursive: true, force: true });
  if (!existsSync(`${folder}.previous`)) return;
  if (existsSync(folder)) rmSync(`${folder}.previous`, { recursive: true, force: true });
  else renameSync(`${folder}.previous`, folder);
}

function writeFlushed(file: string, content: string | Uint8Array): void {
  const descriptor = openSync(file, 'w');
  try {
    writeFileSync(descriptor, content);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function flush(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Whether a checkpoint is there to load. */
export function hasCheckpoint(folder: string): boolean {
  return existsSync(folder) || existsSync(`${folder}.previous`);
}

/**
 * Takes up the checkpoint of a stage where it was left, after a save that was cut off is tidied away; undefined where
 * there is none.
 * @throws CheckpointError naming the file at fault, and what to do
 */
export function resumeCheckpoint(folder: string, backend: Backend): LoadedCheckpoint | undefined {
  tidy(folder);
  if (!existsSync(folder)) return undefined;
  try {
    const loaded = loadCheckpoint(folder, backend);
    if (loaded.optimizer_state !== undefined) return loaded;
    throw new CheckpointError(`${join(folder, 'trainer_state.json')} is missing, or holds no optimizer`);
  } catch (error) {
    if (!(error instanceof CheckpointError)) throw error;
    throw new CheckpointError(`${error.message}; remove ${folder} to begin this stage anew`, { cause: error.cause });
  }
}

/**
 * Loads a checkpoint, or any folder of a Qwen3 that transformers wrote. If a crash came between the two renames of a
 * save, the one before is taken.
 * @throws CheckpointError naming the file at fault
 */
export function loadCheckpoint(folder: string, backend: Backend): LoadedCheckpoint {
  const place = existsSync(folder) ? folder : `${folder}.previous`;
  if (!existsSync(place)) throw new CheckpointError(`there is no checkpoint at ${folder}`);
  const read = createReader(place);
  const config = read.json('config.json', (json) => fromHfConfig(JsonObject.parse(json)));
  const weights = readWeights(place, read);
  const tokenizer = {
    json: read.json('tokenizer.json', (json) => JsonObject.parse(json)),
    config: read.json('tokenizer_config.json', (json) => JsonObject.parse(json)),
  };
  const trainer = existsSync(join(place, STATE_FILE))
    ? read.json(STATE_FILE, (json) => TrainerState.parse(json))
    : undefined;
  const optimizer_state = trainer?.optimizer
    ? { counters: trainer.optimizer, moments: fromArrays(read.bytes('optimizer.safetensors', decodeSafetensors)) }
    : undefined;
  return {
    tokenizer: inFile(join(place, 'tokenizer.json'), () => createTokenizer(tokenizer.json, tokenizer.config)),
    model: inFile(join(place, WEIGHTS_FILE), () => fromHfWeights(config, backend, weights)),
    optimizer_state,
    state: trainer?.state,
  };
}

const WEIGHTS_FILE = 'model.safetensors';
const STATE_FILE = 'trainer_state.json';
const JsonObject = z.record(z.string(), z.unknown());
/** Which file holds which weight, where transformers wrote several. */
const WeightIndex = z.looseObject({ weight_map: z.record(z.string(), z.string().regex(/^[\w.-]+$/)) });

function inFile<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new CheckpointError(`${file}: ${cause}`, { cause: error });
  }
}

interface Reader {
  bytes<T>(name: string, parse: (bytes: Buffer) => T): T;
  json<T>(name: string, parse: (json: unknown) => T): T;
}

function createReader(place: string): Reader {
  const bytes = <T>(name: string, parse: (bytes: Buffer) => T): T =>
    inFile(join(place, name), () => parse(readFileSync(join(place, name))));
  return { bytes, json: (name, parse) => bytes(name, (content) => parse(JSON.parse(content.toString('utf8')))) };
}

function readWeights(place: string, read: Reader): ReadonlyMap<string, NamedArray> {
  const index = `${WEIGHTS_FILE}.index.json`;
  if (!existsSync(join(place, index))) return read.bytes(WEIGHTS_FILE, decodeSafetensors);
  const files = new Set(Object.values(read.json(index, (json) => WeightIndex.parse(json)).weight_map));
  return new Map([...files].flatMap((file) => [...read.bytes(file, decodeSafetensors)]));
}

function specialIds({ pad_id, bos_id, eos_id }: Tokenizer): object {
  return { pad_token_id: pad_id, bos_token_id: bos_id, eos_token_id: eos_id };
}

function toArrays(moments: ReadonlyMap<string, Float32Array>): Map<string, NamedArray> {
  return new Map([...moments].map(([name, values]) => [name, { shape: [values.length], values }]));
}

function fromArrays(arrays: ReadonlyMap<string, NamedArray>): Map<string, Float32Array> {
  return new Map([...arrays].map(([name, { values }]) => [name, values]));
}
