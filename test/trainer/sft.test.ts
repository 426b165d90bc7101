/** SFT: it learns to copy, resumes to the same bytes, and stops where it should. */
import * as tf from '@tensorflow/tfjs-core';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRng } from '../../schemas/seed.ts';
import { createBackend } from '../../trainer/backend.ts';
import type { Backend } from '../../trainer/backend.ts';
import { loadCheckpoint, saveCheckpoint } from '../../trainer/checkpoint.ts';
import { createModel } from '../../trainer/model/model.ts';
import { createOptimizer } from '../../trainer/optimizer.ts';
import { createCompute, type Compute } from '../../trainer/pool/compute.ts';
import { learningRateFactor, runSft, SftSettings, SFT_START } from '../../trainer/sft.ts';
import type { SftParts, SftState } from '../../trainer/sft.ts';
import { trainTokenizer } from '../../trainer/tokenizer.ts';
import { SMALL_CONFIG } from './model-fixture.ts';

const WORDS = 'red blue green gold pink grey teal plum'.split(' ');
const rng = createRng(4n);
const createExamples = (count: number) =>
  Array.from({ length: count }, () => {
    const words = rng.shuffle(WORDS).slice(0, 2).join(', ');
    return { prompt: `Say: ${words}.\n`, completion: words };
  });
const examples = createExamples(40);
const validation = createExamples(12);
const tokenizer = trainTokenizer(examples);
const settingsOf = (settings: object) => SftSettings.parse({ batch_size: 8, warmup_steps: 5, ...settings });
const root = mkdtempSync(join(tmpdir(), 'sft-'));

let backend: Backend;
let compute: Compute;
beforeAll(async () => {
  backend = await createBackend('wasm');
  compute = await createCompute(backend, 1);
});
afterAll(() => {
  rmSync(root, { recursive: true });
});

function createParts(onStep: SftParts['onStep'] = () => undefined): SftParts {
  const config = { ...SMALL_CONFIG, vocab_size: tokenizer.vocab_size, initializer_range: 0.02 };
  const model = createModel(config, backend, createRng(1n));
  return { compute, model, tokenizer, optimizer: createOptimizer(model), examples, validation, onStep };
}

test('it learns to copy words and stops when validation is good', async () => {
  const seen: Readonly<Record<string, number>>[] = [];
  const settings = settingsOf({ max_tokens: 200_000, sft_validate_every: 10, stop_at_exact: 0.9 });
  const end = await runSft(
    createParts((_, metrics) => void seen.push(metrics)),
    settings,
  );
  expect(seen.at(-1)!['validation/exact']).toBeGreaterThanOrEqual(0.9);
  expect(seen.at(-1)!['loss/sft']).toBeLessThan(seen[0]!['loss/sft']! / 3);
  expect(end.tokens).toBeLessThan(settings.max_tokens);
  expect(end.is_finished).toBe(true);
  const tensors = seen.map((metrics) => metrics['perf/tensors']);
  expect(new Set(tensors.slice(1)).size).toBe(1);
});

test('stopped after any step and taken up from the checkpoint, it ends in the same bytes', async () => {
  const settings = settingsOf({ max_tokens: 1300, stop_at_exact: 1 });
  const straight = createParts();
  const end = await runSft(straight, settings);
  const saved = (name: string, parts: SftParts) => saveCheckpoint(join(root, name), { ...parts, state: null });
  await saved('straight', straight);

  class Stopped extends Error {}
  const stopped: SftParts = createParts(async (state) => {
    if (state.optimizer_step !== 6) return; // within the second pass over the examples
    await saveCheckpoint(join(root, 'middle'), { ...stopped, state });
    throw new Stopped();
  });
  await expect(runSft(stopped, settings)).rejects.toThrow(Stopped);

  const loaded = loadCheckpoint(join(root, 'middle'), backend);
  const resumed = { ...createParts(), model: loaded.model, optimizer: createOptimizer(loaded.model) };
  resumed.optimizer.restore(loaded.optimizer_state!);
  expect(await runSft(resumed, settings, loaded.state as SftState)).toEqual(end);
  await saved('resumed', resumed);
  for (const file of ['model.safetensors', 'optimizer.safetensors', 'trainer_state.json']) {
    const [a, b] = [readFileSync(join(root, 'straight', file)), readFileSync(join(root, 'resumed', file))];
    expect(b.equals(a), file).toBe(true);
  }
});

test('updates that stay non-finite end the run, and the weights are as they were', async () => {
  const parts = createParts();
  parts.model.parameters.get('norm')!.assign(tf.fill([SMALL_CONFIG.hidden_size], NaN));
  await expect(runSft(parts, settingsOf({ max_tokens: 100_000 }))).rejects.toThrow('not finite');
  expect([parts.optimizer.optimizer_step, parts.optimizer.skipped_steps]).toEqual([0, 3]);
});

test('a run that was stopped between such updates does not begin to count anew', async () => {
  const poison = (parts: SftParts) => {
    parts.model.parameters.get('norm')!.assign(tf.fill([SMALL_CONFIG.hidden_size], NaN));
    return parts;
  };
  const settings = settingsOf({ max_tokens: 100_000 });
  const states: SftState[] = [];
  const stop = (state: SftState): void => {
    states.push(state);
    if (states.length === 2) throw new Error('stopped');
  };
  await expect(runSft(poison(createParts(stop)), settings)).rejects.toThrow('stopped');
  const resumed = poison(createParts());
  await expect(runSft(resumed, settings, states.at(-1))).rejects.toThrow('not finite');
  expect(resumed.optimizer.skipped_steps).toBe(1);
});

test('a run whose last updates were all skipped is not taken for a finished one', async () => {
  const states: SftState[] = [];
  const parts = createParts((state) => void states.push(state));
  parts.model.parameters.get('norm')!.assign(tf.fill([SMALL_CONFIG.hidden_size], NaN));
  const almost = { ...SFT_START, skipped_in_a_row: 2 };
  await expect(runSft(parts, settingsOf({ max_tokens: 1 }), almost)).rejects.toThrow('not finite');
  expect(states).toMatchObject([{ skipped_in_a_row: 3, is_finished: false }]);
});

test('no examples is an error, a finished run takes no step', async () => {
  await expect(runSft({ ...createParts(), examples: [] }, settingsOf({}))).rejects.toThrow('no examples');
  const done = { ...SFT_START, is_finished: true };
  expect(await runSft(createParts(), settingsOf({}), done)).toEqual(done);
});

test.each([
  ['the first step of the warm-up', 1, 0, 1 / 50],
  ['after the warm-up', 50, 0, 1],
  ['where the decay begins', 200, 700, 1],
  ['half-way through the decay', 300, 850, 0.5],
  ['at the end', 400, 1000, 0],
])('the learning rate %s', (_name, step, tokens, factor) => {
  const settings = SftSettings.parse({ max_tokens: 1000, warmup_steps: 50, decay_share: 0.3 });
  expect(learningRateFactor(step, tokens, settings)).toBeCloseTo(factor, 10);
});

/** Weights after three steps of 8 examples. */
async function weightsAfterThreeSteps(settings: object): Promise<Float32Array[]> {
  const stop = (state: SftState): void => {
    if (state.optimizer_step === 3) throw new Error('enough');
  };
  const parts = createParts(stop);
  await expect(runSft(parts, settingsOf({ max_tokens: 100_000, ...settings }))).rejects.toThrow('enough');
  return Promise.all([...parts.model.parameters.values()].map((value) => value.data<'float32'>()));
}

const largestDifference = (a: readonly Float32Array[], b: readonly Float32Array[]): number =>
  Math.max(...a.map((values, i) => values.reduce((most, x, k) => Math.max(most, Math.abs(x - b[i]![k]!)), 0)));

test('a batch of 8 in parts trains as a whole one does', async () => {
  const lengths = examples.map(({ prompt, completion }) => tokenizer.encode(prompt + completion).length + 2);
  const whole = await weightsAfterThreeSteps({});
  const parts = await weightsAfterThreeSteps({ micro_batch_tokens: 4 * Math.max(...lengths) });
  expect(largestDifference(whole, parts)).toBeLessThan(1e-5);
  expect(largestDifference(whole, await weightsAfterThreeSteps({ batch_size: 4 }))).toBeGreaterThan(1e-3);
});

test('weight on the prompt changes what is learned, and is nothing at 0', async () => {
  const without = await weightsAfterThreeSteps({});
  expect(largestDifference(without, await weightsAfterThreeSteps({ prompt_weight: 0 }))).toBe(0);
  expect(largestDifference(without, await weightsAfterThreeSteps({ prompt_weight: 0.5 }))).toBeGreaterThan(1e-3);
});

test.each([
  ['constant', [1, 1, 1, 1]],
  ['linear', [1, 1, 0.5, 0]],
  ['cosine', [1, 1, 0.5, 0]],
] as const)('the schedule %s from its full rate to the end', (schedule, expected) => {
  const settings = settingsOf({ max_tokens: 1000, warmup_steps: 1, decay_share: 0.4, schedule });
  const factors = [0, 600, 800, 1000].map((tokens) => learningRateFactor(10, tokens, settings));
  for (const [i, factor] of factors.entries()) expect(factor).toBeCloseTo(expected[i]!, 10);
});

test('half a cosine is above the line at first and below it at last', () => {
  const settings = settingsOf({ max_tokens: 1000, warmup_steps: 1, decay_share: 1, schedule: 'cosine' });
  expect(learningRateFactor(10, 250, settings)).toBeCloseTo(0.8536, 4);
  expect(learningRateFactor(10, 750, settings)).toBeCloseTo(0.1464, 4);
});
