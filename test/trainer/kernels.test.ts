/** The kernels' wasm files: both builds are what their sources give, are small, and bring nothing into tfjs's memory. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBackend } from '../../trainer/backend.ts';
import { WasmHeap } from '../../trainer/model/wasm/heap.ts';
import type { WasmBackend } from '../../trainer/model/wasm/heap.ts';
import { chooseBuild } from '../../trainer/model/wasm/kernels.ts';
import { createWasmOps } from '../../trainer/model/wasm/wasm-ops.ts';
import { computeLogprobs } from '../../trainer/model/loss.ts';
import { ROOT } from '../rules/files.ts';
import { createLossBatch, createSmallModel, largestDifference } from './model-fixture.ts';

const NAMES = ['kernels.wasm', 'kernels-relaxed.wasm'];
const folder = mkdtempSync(join(tmpdir(), 'canvas-gym-kernels-'));
beforeAll(() => {
  execFileSync(process.execPath, ['.ci/build-kernels.mjs', folder], { cwd: ROOT, stdio: 'inherit' });
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

test.each(NAMES)('%s is what building it again gives', (name) => {
  const committed = readFileSync(join(ROOT, 'trainer/model/wasm', name));
  expect(committed.equals(readFileSync(join(folder, name)))).toBe(true);
  expect(committed.length).toBeLessThan(20_000);
});

/** Ids of the sections of a wasm file; 11 is data, 12 the count of data. */
function sectionIds(bytes: Uint8Array): number[] {
  const ids: number[] = [];
  let at = 8;
  const readLength = (): number => {
    for (let value = 0, shift = 0; ; shift += 7) {
      const byte = bytes[at++]!;
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    ids.push(bytes[at++]!);
    const length = readLength();
    at += length;
  }
  return ids;
}

test.each(NAMES)('%s has no data segment, memory or global of its own', (name) => {
  const ids = sectionIds(readFileSync(join(ROOT, 'trainer/model/wasm', name)));
  expect(ids).toContain(10);
  for (const id of [5, 6, 11, 12]) expect(ids).not.toContain(id);
});

test('the device line says which build is used; the plain one gives the same log-probabilities', async () => {
  const backend = await createBackend('wasm');
  expect(backend.device).toContain(chooseBuild());
  const model = await createSmallModel(backend);
  const { logprobs } = await computeLogprobs(model, createLossBatch());
  const plain = new WasmHeap(tf.backend() as unknown as WasmBackend, 'plain SIMD');
  const other = { ...model, backend: { ...backend, ops: createWasmOps(plain) } };
  const again = await computeLogprobs(other, createLossBatch());
  expect(largestDifference(again.logprobs.flat(), logprobs.flat())).toBeLessThan(1e-5);
});
