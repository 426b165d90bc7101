/**
 * Every backend against cpu, as `.ci/run` sets them up: tfjs-node and tfjs-node-gpu by setup:native, webgpu by setup:webgpu
 * on Chromium's software adapter. What is missing fails here.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ALLOWED, faultsOf, toDifferences, toTable, type Differences } from './backends/differences.ts';
import { computeApart } from './backends/in-process.ts';
import type { Numbers } from './backends/numbers.ts';
import { softwareVulkan } from './backends/vulkan.ts';

const rows: [string, Differences][] = [];
let cpu: Numbers;
beforeAll(async () => {
  cpu = await computeApart('cpu', {});
});
afterAll(() => {
  process.stdout.write(`\nLargest differences from cpu:\n\n${toTable(rows)}\n\n`);
});

test.each(['cpu', 'wasm', 'tfjs-node', 'tfjs-node-gpu', 'webgpu'] as const)(
  '%s gives the numbers of cpu: logits, losses, gradients, weights after SFT and REINFORCE',
  { timeout: 400_000 },
  async (name) => {
    const numbers = name === 'cpu' ? cpu : await computeApart(name, name === 'webgpu' ? softwareVulkan() : {});
    expect(numbers.device).toMatch(new RegExp(`^backend ${name}: `));
    const differences = toDifferences(numbers, cpu);
    rows.push([name, differences]);
    expect(faultsOf(differences), JSON.stringify({ differences, ALLOWED })).toEqual([]);
  },
);

test('tfjs-node-gpu says where it computes', async () => {
  const { device } = await computeApart('tfjs-node-gpu', { NVIDIA_VISIBLE_DEVICES: 'none', CUDA_VISIBLE_DEVICES: '' });
  expect(device).toContain('ON THE CPU: ');
});
