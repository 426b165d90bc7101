/** The backends that are always there give the same numbers; what is not there, or runs out of memory, says what to do. */
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, expect, test } from 'vitest';
import { BackendUnavailable, createBackend } from '../../trainer/backend.ts';
import { cudaFault, type Cuda } from '../../trainer/backends/cuda.ts';
import { explainMemory, OutOfMemory } from '../../trainer/backends/memory.ts';
import { requirePackages } from '../../trainer/backends/packages.ts';
import { ALLOWED, faultsOf, toDifferences } from './backends/differences.ts';
import { computeNumbers, type Numbers } from './backends/numbers.ts';

let cpu: Numbers;
beforeAll(async () => {
  cpu = await computeNumbers(await createBackend('cpu'));
});

test('wasm gives the numbers of cpu: logits, losses, gradients, weights after SFT and REINFORCE', async () => {
  const wasm = await computeNumbers(await createBackend('wasm'));
  expect(faultsOf(toDifferences(wasm, cpu))).toEqual([]);
});

test('cpu samples with the log-probabilities that it recomputes', () => {
  expect(cpu.logprob_difference).toBeLessThan(ALLOWED.logprobs);
});

test('a number that is off is named', () => {
  const off = { ...cpu, loss: cpu.loss + 1e-3, logits: cpu.logits.slice(1) };
  expect(faultsOf(toDifferences(off, cpu))).toEqual(['logits', 'loss']);
});

test.each(['tfjs-node', 'tfjs-node-gpu', 'webgpu'] as const)('%s, where missing, says how to install it', (name) => {
  const command = { 'tfjs-node': 'setup:native,', 'tfjs-node-gpu': 'setup:native:gpu', webgpu: 'setup:webgpu' }[name];
  const load = (): unknown => requirePackages(name, () => undefined);
  expect(load).toThrow(BackendUnavailable);
  expect(load).toThrow(command);
});

test('auto says which backend it took and why', async () => {
  const { name, device } = await createBackend('auto');
  expect(device).toMatch(new RegExp(`^backend ${name} \\(the fastest`));
});

const FULL: Cuda = {
  driver: '570.1',
  cards: ['NVIDIA H200, 143771 MiB'],
  libraries: [{ file: 'a.so', isFound: true }],
};

test.each([
  ['a driver', { ...FULL, driver: undefined }, 'no NVIDIA driver'],
  ['a card', { ...FULL, cards: [] }, 'shows no GPU'],
  ['a library', { ...FULL, libraries: [{ file: 'libcudnn.so.9', isFound: false }] }, 'libcudnn.so.9'],
])('a machine without %s is told so', (_, cuda, words) => {
  expect(cudaFault(FULL)).toBeUndefined();
  expect(cudaFault(cuda)).toContain(words);
});

test('a full memory is an error that says what to make smaller', async () => {
  await createBackend('cpu');
  const fill = (): unknown => tf.fill([100_000, 1_000_000], 1);
  expect(fill).toThrow(RangeError);
  const explain = (): unknown => {
    try {
      return fill();
    } catch (error) {
      return explainMemory(error);
    }
  };
  expect(explain()).toBeInstanceOf(OutOfMemory);
  expect(explain()).toMatchObject({ message: expect.stringContaining('--batch_size') as string });
});

test('other errors stay what they are', () => {
  const error = new TypeError('x is undefined');
  expect(explainMemory(error)).toBe(error);
});
