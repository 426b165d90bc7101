/** Checkpoints: everything comes back, transformers' names and shapes, whole or not at all. */
import * as tf from '@tensorflow/tfjs-core';
import {
  cpSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createBackend } from '../../trainer/backend.ts';
import type { Backend } from '../../trainer/backend.ts';
import {
  CheckpointError,
  hasCheckpoint,
  loadCheckpoint,
  resumeCheckpoint,
  saveCheckpoint,
} from '../../trainer/checkpoint.ts';
import { Diverged } from '../../trainer/divergence.ts';
import { computeLogprobs, lossAndGradients, weightedLoss } from '../../trainer/model/loss.ts';
import { cloneModel, type Model } from '../../trainer/model/model.ts';
import { decodeSafetensors, encodeSafetensors, SafetensorsError } from '../../trainer/model/safetensors.ts';
import { createOptimizer } from '../../trainer/optimizer.ts';
import type { Optimizer } from '../../trainer/optimizer.ts';
import { trainTokenizer } from '../../trainer/tokenizer.ts';
import { createLossBatch, createSmallModel } from './model-fixture.ts';

const root = mkdtempSync(join(tmpdir(), 'checkpoint-'));
const tokenizer = trainTokenizer([{ prompt: 'a', completion: 'b' }]);
let backend: Backend;
let model: Model;
let optimizer: Optimizer;
let count = 0;

beforeAll(async () => {
  backend = await createBackend('wasm');
  model = await createSmallModel(backend);
  optimizer = createOptimizer(model);
  const { gradients } = await lossAndGradients(model, createLossBatch(), weightedLoss(1));
  await optimizer.apply(gradients, 1);
});
afterAll(() => {
  rmSync(root, { recursive: true });
});

async function save(state: unknown = { at: 1 }, folder = join(root, String(count++))): Promise<string> {
  await saveCheckpoint(folder, { model, tokenizer, optimizer, state });
  return folder;
}

test('model, tokenizer, optimizer and state come back exactly', async () => {
  const loaded = loadCheckpoint(await save({ rng: [1, -2], step: 3 }), backend);
  const batch = createLossBatch();
  expect(await computeLogprobs(loaded.model, batch)).toEqual(await computeLogprobs(model, batch));
  expect(loaded.model.config).toEqual(model.config);
  expect(loaded.tokenizer.json).toEqual(tokenizer.json);
  expect(loaded.optimizer_state).toEqual(await optimizer.save());
  expect(loaded.state).toEqual({ rng: [1, -2], step: 3 });
});

test('the folder has the files, names and shapes of a Qwen3ForCausalLM, [out, in] and tied', async () => {
  const folder = await save();
  expect(JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'))).toMatchObject({
    architectures: ['Qwen3ForCausalLM'],
    tie_word_embeddings: true,
    eos_token_id: tokenizer.eos_id,
  });
  const weights = decodeSafetensors(readFileSync(join(folder, 'model.safetensors')));
  const shapes = Object.fromEntries([...weights].map(([name, { shape }]) => [name, shape]));
  expect(shapes).toMatchObject({
    'model.embed_tokens.weight': [40, 24],
    'model.layers.1.self_attn.q_proj.weight': [32, 24],
    'model.layers.1.self_attn.k_proj.weight': [16, 24],
    'model.layers.1.self_attn.q_norm.weight': [8],
    'model.layers.1.self_attn.o_proj.weight': [24, 32],
    'model.layers.1.mlp.gate_proj.weight': [20, 24],
    'model.layers.1.mlp.down_proj.weight': [24, 20],
    'model.layers.1.post_attention_layernorm.weight': [24],
    'model.norm.weight': [24],
  });
  expect(shapes).not.toHaveProperty('lm_head.weight');
  expect(weights.size).toBe(2 + 2 * 11);
});

test('a save replaces the one before and leaves nothing else', async () => {
  const folder = await save({ at: 1 }, join(root, 'replaced', 'here'));
  writeFileSync(join(folder, 'stray'), '');
  await save({ at: 2 }, folder);
  expect(loadCheckpoint(folder, backend).state).toEqual({ at: 2 });
  expect(readdirSync(join(root, 'replaced'))).toEqual(['here']);
  expect(readdirSync(folder)).not.toContain('stray');
});

test('a crash while writing leaves the one before', async () => {
  const folder = await save({ at: 1 });
  renameSync(await save({ at: 2 }), `${folder}.partial`);
  truncateSync(join(`${folder}.partial`, 'model.safetensors'), 100);
  expect(loadCheckpoint(folder, backend).state).toEqual({ at: 1 });
});

test('a crash between the two renames leaves the one before', async () => {
  const folder = await save({ at: 1 });
  renameSync(folder, `${folder}.previous`);
  expect(hasCheckpoint(folder)).toBe(true);
  expect(loadCheckpoint(folder, backend).state).toEqual({ at: 1 });
  await save({ at: 2 }, folder);
  expect(loadCheckpoint(folder, backend).state).toEqual({ at: 2 });
});

test('a run that is taken up tidies what a save that was cut off left beside its checkpoint', async () => {
  const parent = join(root, 'tidied');
  const folder = await save({ at: 2 }, join(parent, 'sft'));
  cpSync(folder, `${folder}.previous`, { recursive: true });
  cpSync(folder, `${folder}.partial`, { recursive: true });
  expect(resumeCheckpoint(folder, backend)?.state).toEqual({ at: 2 });
  expect(readdirSync(parent)).toEqual(['sft']);
  renameSync(folder, `${folder}.previous`);
  expect(resumeCheckpoint(folder, backend)?.state).toEqual({ at: 2 });
  expect(readdirSync(parent)).toEqual(['sft']);
  expect(resumeCheckpoint(join(parent, 'rl'), backend)).toBeUndefined();
});

test('weights that are not finite are not saved, and the checkpoint before them stays', async () => {
  const folder = await save({ at: 1 });
  const broken = cloneModel(model);
  const gain = broken.parameters.get('norm')!;
  gain.assign(tf.mul(gain, NaN));
  await expect(saveCheckpoint(folder, { model: broken, tokenizer, optimizer, state: { at: 2 } })).rejects.toThrow(
    Diverged,
  );
  expect(loadCheckpoint(folder, backend).state).toEqual({ at: 1 });
});

test('a folder without a state, as transformers writes it, is loaded but is no run to take up', async () => {
  const folder = await save();
  rmSync(join(folder, 'trainer_state.json'));
  rmSync(join(folder, 'optimizer.safetensors'));
  expect(loadCheckpoint(folder, backend)).toMatchObject({ state: undefined, optimizer_state: undefined });
  expect(() => resumeCheckpoint(folder, backend)).toThrow(
    /trainer_state.json is missing.*remove .* to begin this stage/,
  );
});

test.each(['config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json', 'optimizer.safetensors'])(
  'a checkpoint without %s is an error that names it',
  async (name) => {
    const folder = await save();
    rmSync(join(folder, name));
    expect(() => loadCheckpoint(folder, backend)).toThrow(name);
  },
);

describe('what is not whole is an error that names the file', () => {
  test.each([
    'config.json',
    'model.safetensors',
    'tokenizer.json',
    'tokenizer_config.json',
    'trainer_state.json',
    'optimizer.safetensors',
  ])('%s cut', async (name) => {
    const folder = await save();
    truncateSync(join(folder, name), 12);
    const load = () => loadCheckpoint(folder, backend);
    expect(load).toThrow(CheckpointError);
    expect(load).toThrow(name);
  });

  test('weights that do not fit the configuration', async () => {
    const folder = await save();
    const file = join(folder, 'config.json');
    const config = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...config, vocab_size: 41 }));
    expect(() => loadCheckpoint(folder, backend)).toThrow('model.embed_tokens.weight is [40, 24]');
  });

  test('no checkpoint', () => {
    expect(hasCheckpoint(join(root, 'none'))).toBe(false);
    expect(() => loadCheckpoint(join(root, 'none'), backend)).toThrow(CheckpointError);
  });
});

describe('safetensors', () => {
  const arrays = new Map([
    ['a', { shape: [2, 2], values: Float32Array.from([1, -0, 3e38, 1e-45]) }],
    ['b', { shape: [], values: Float32Array.from([5]) }],
    ['c', { shape: [0], values: new Float32Array(0) }],
  ]);
  const bytes = encodeSafetensors(arrays);

  test('values come back bit by bit', () => {
    expect(decodeSafetensors(bytes)).toEqual(arrays);
  });

  test('floats of 16 bits are read exactly', () => {
    const halves: [string, number, number][] = [
      ['BF16', 0x3f80, 1],
      ['BF16', 0xc228, -42],
      ['BF16', 0x0001, 2 ** -133],
      ['F16', 0x3c00, 1],
      ['F16', 0xd140, -42],
      ['F16', 0x0001, 2 ** -24],
      ['F16', 0x7bff, 65504],
      ['F16', 0x7c00, Infinity],
    ];
    for (const [dtype, bits, value] of halves) {
      const header = Buffer.from(JSON.stringify({ x: { dtype, shape: [1], data_offsets: [0, 2] } }));
      const file = Buffer.alloc(8 + header.length + 2);
      file.writeBigUInt64LE(BigInt(header.length));
      header.copy(file, 8);
      file.writeUInt16LE(bits, 8 + header.length);
      expect(decodeSafetensors(file).get('x')!.values, `${dtype} ${bits}`).toEqual(Float32Array.of(value));
    }
  });

  test('any cut is noticed', () => {
    for (let length = 0; length < bytes.length; length++) {
      expect(() => decodeSafetensors(bytes.subarray(0, length)), `${length} bytes`).toThrow(SafetensorsError);
    }
  });

  test('so are bytes too many', () => {
    expect(() => decodeSafetensors(Buffer.concat([bytes, Buffer.from([0])]))).toThrow(SafetensorsError);
  });
});
