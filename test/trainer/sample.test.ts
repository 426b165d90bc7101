/** Sampling: what is sampled is what the training forward says, it is seeded, and it stops where it must. */
import { beforeAll, describe, expect, test } from 'vitest';
import { createRng } from '../../schemas/seed.ts';
import { tinyConfig } from '../../trainer/model/config.ts';
import { computeLogprobs } from '../../trainer/model/loss.ts';
import { createModel, disposeModel, readParameters, type Model } from '../../trainer/model/model.ts';
import { createSampler } from '../../trainer/sample.ts';
import type { SampledCompletion, Sampler } from '../../trainer/sample.ts';
import { SMALL_CONFIG, createSmallModel, largestDifference, randomIds } from './model-fixture.ts';

const EOS = 2;
const SETTINGS = { max_new_tokens: 20, temperature: 1, eos_id: EOS };
const rng = createRng(9n);
const [A, B, C] = [randomIds(rng, 9), randomIds(rng, 3), randomIds(rng, 14)] as const;
const PROMPTS = [A, A, A, B, C, C];

let model: Model;
let sampler: Sampler;
beforeAll(async () => {
  model = await createSmallModel('wasm');
  sampler = createSampler(model.backend.heap, model.config, await readParameters(model));
});

describe.each([0.5, 1, 1.7])('temperature %d', (temperature) => {
  test('sampled log-probabilities are those of the training forward, to 1e-4', async () => {
    const sampled = sampler.sample(PROMPTS, { ...SETTINGS, temperature }, 5n);
    const completion_ids = sampled.map((completion) => completion.completion_ids);
    const { logprobs } = await computeLogprobs(model, { prompt_ids: PROMPTS, completion_ids }, { temperature });
    sampled.forEach((completion, i) => {
      expect(largestDifference(completion.sampled_logprobs, logprobs[i]!)).toBeLessThan(1e-4);
    });
  });
});

describe.each([
  ['top-k', { top_k: 5 }],
  ['top-p', { top_p: 0.7 }],
  ['both', { top_k: 10, top_p: 0.9 }],
])('%s', (_name, cut) => {
  test('log-probabilities are of the distribution that was drawn from, and the loss recomputes them with its masks', async () => {
    const sampled = sampler.sample(PROMPTS, { ...SETTINGS, ...cut, temperature: 1.3 }, 5n);
    const completion_ids = sampled.map((completion) => completion.completion_ids);
    const token_masks = sampled.map((completion) => completion.token_masks);
    const batch = { prompt_ids: PROMPTS, completion_ids };
    const cutOff = await computeLogprobs(model, { ...batch, token_masks }, { temperature: 1.3 });
    const whole = await computeLogprobs(model, batch, { temperature: 1.3 });
    sampled.forEach(({ sampled_logprobs }, i) => {
      expect(largestDifference(sampled_logprobs, cutOff.logprobs[i]!)).toBeLessThan(1e-4);
      expect(largestDifference(sampled_logprobs, whole.logprobs[i]!)).toBeGreaterThan(0.1);
      expect(Math.min(...whole.entropies[i]!.map((entropy, t) => entropy - cutOff.entropies[i]![t]!))).toBeGreaterThan(
        0,
      );
    });
  });
});

test('a cut that keeps one token is greedy', () => {
  const greedy = sampler.sample([A], { ...SETTINGS, temperature: 0 }, 1n);
  const cut = sampler.sample([A], { ...SETTINGS, top_k: 1 }, 1n);
  expect(cut[0]!.completion_ids).toEqual(greedy[0]!.completion_ids);
  expect(Math.max(...cut[0]!.sampled_logprobs.map(Math.abs))).toBeLessThan(1e-6);
});

test.each([
  ['top_p 0', { top_p: 0 }, RangeError],
  ['a stop string without a tokenizer', { stop: ['.'] }, Error],
  ['a grammar without a tokenizer', { grammar: { action_set: 'core', max_actions: 40 } }, Error],
] as const)('a setting is refused: %s', (_name, settings, error) => {
  expect(() => sampler.sample([A], { ...SETTINGS, ...settings }, 1n)).toThrow(error);
});

test('temperature 0 takes the likeliest token at every place', async () => {
  const [greedy] = sampler.sample([A], { ...SETTINGS, temperature: 0, max_new_tokens: 6, eos_id: -1 }, 1n);
  const { completion_ids: ids, sampled_logprobs: logprobs } = greedy!;
  for (const [place, logprob] of logprobs.entries()) {
    const others = Array.from({ length: SMALL_CONFIG.vocab_size }, (_, id) => [...ids.slice(0, place), id]);
    const all = await computeLogprobs(model, { prompt_ids: others.map(() => A), completion_ids: others });
    expect(logprob).toBeCloseTo(Math.max(...all.logprobs.map((row) => row[place]!)), 4);
  }
});

/** Equal ids; log-probabilities up to the rounding of sums whose order follows the batch. */
function expectSame(a: readonly SampledCompletion[], b: readonly SampledCompletion[]): void {
  expect(a.map(({ completion_ids }) => completion_ids)).toEqual(b.map(({ completion_ids }) => completion_ids));
  const flat = (all: readonly SampledCompletion[]) => all.flatMap(({ sampled_logprobs }) => sampled_logprobs);
  expect(largestDifference(flat(a), flat(b))).toBeLessThan(1e-5);
}

test('a seed gives the same completions, another seed others, and a row does not depend on the rows after it', () => {
  const once = sampler.sample(PROMPTS, SETTINGS, 5n);
  expect(sampler.sample(PROMPTS, SETTINGS, 5n)).toEqual(once);
  expect(sampler.sample(PROMPTS, SETTINGS, 6n)).not.toEqual(once);
  expectSame(sampler.sample(PROMPTS.slice(0, 2), SETTINGS, 5n), once.slice(0, 2));
});

test('a batch cut into parts gives what the whole gives', () => {
  const whole = sampler.sample(PROMPTS, SETTINGS, 5n);
  const parts = [
    ...sampler.sample(PROMPTS.slice(0, 2), SETTINGS, 5n, 0),
    ...sampler.sample(PROMPTS.slice(2), SETTINGS, 5n, 2),
  ];
  expectSame(parts, whole);
});

test('of the tiny model a row is the same to the bit, whatever is sampled beside it', async () => {
  const tiny = createModel({ ...tinyConfig(903), initializer_range: 0.1 }, model.backend, createRng(1n));
  const own = createSampler(tiny.backend.heap, tiny.config, await readParameters(tiny));
  const whole = own.sample(PROMPTS, SETTINGS, 5n);
  PROMPTS.forEach((prompt, i) => {
    expect(own.sample([prompt], SETTINGS, 5n, i)).toEqual([whole[i]]);
  });
  own.dispose();
  disposeModel(tiny);
});

test('members of a group differ, and more rows than are decoded at once keep their order', () => {
  const many = sampler.sample(
    Array.from({ length: 150 }, (_, i) => (i < 149 ? A : B)),
    SETTINGS,
    5n,
  );
  expect(many).toHaveLength(150);
  expect(new Set(many.map(({ completion_ids }) => completion_ids.join())).size).toBeGreaterThan(100);
  expectSame(sampler.sample([A], SETTINGS, 5n), many.slice(0, 1));
});

test('a completion ends with the end token and says stop, or is cut and says length', () => {
  const sampled = sampler.sample(
    Array.from({ length: 64 }, () => A),
    SETTINGS,
    5n,
  );
  const [stopped, cut] = [
    sampled.filter((c) => c.finish_reason === 'stop'),
    sampled.filter((c) => c.finish_reason === 'length'),
  ];
  expect(stopped.length).toBeGreaterThan(0);
  expect(cut.length).toBeGreaterThan(0);
  for (const { completion_ids: ids } of stopped) expect(ids.indexOf(EOS)).toBe(ids.length - 1);
  for (const { completion_ids: ids } of cut) expect([ids.length, ids.includes(EOS)]).toEqual([20, false]);
});

test.each([
  ['room for three', SMALL_CONFIG.max_position_embeddings - 3, 3],
  ['room for one', SMALL_CONFIG.max_position_embeddings - 1, 1],
])('the context ends a completion: %s', (_name, length, room) => {
  const [completion] = sampler.sample([randomIds(rng, length)], { ...SETTINGS, eos_id: -1 }, 1n);
  expect([completion!.completion_ids.length, completion!.finish_reason]).toEqual([room, 'length']);
});

test('a token limit far over the context takes no memory', () => {
  const settings = { ...SETTINGS, eos_id: -1 };
  const before = model.backend.heap.floats.length;
  const [completion] = sampler.sample([A], { ...settings, max_new_tokens: 1_000_000 }, 1n);
  expect(completion).toEqual(sampler.sample([A], { ...settings, max_new_tokens: 64 }, 1n)[0]);
  expect(model.backend.heap.floats.length).toBe(before);
});

test.each([
  ['no room in the context', randomIds(rng, SMALL_CONFIG.max_position_embeddings)],
  ['an id past the vocabulary', [SMALL_CONFIG.vocab_size]],
  ['no tokens', []],
])('a prompt is refused: %s', (_name, prompt) => {
  expect(() => sampler.sample([prompt], SETTINGS, 1n)).toThrow(RangeError);
});
