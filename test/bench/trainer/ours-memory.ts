/**
 * 500 small steps of the stage `reinforce` as its command runs it, log and checkpoints included, in this process; after every
 * 50th a line of JSON says what is held. See memory.ts.
 *
 *   node --expose-gc --import tsx test/bench/trainer/ours-memory.ts URL
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import { createRng } from '../../../schemas/seed.ts';
import { saveCheckpoint } from '../../../trainer/checkpoint.ts';
import { tinyConfig } from '../../../trainer/model/config.ts';
import { createModel, disposeModel } from '../../../trainer/model/model.ts';
import { trainTokenizer } from '../../../trainer/tokenizer.ts';
import { reinforceStage, ReinforceSettings } from '../../../trainer/stages/reinforce.ts';
import { BACKEND_SETTING, openCompute, withWorkspace, WORKSPACE_SETTINGS } from '../../../trainer/workspace.ts';
import { benchVectors } from '../vectors.ts';

const STEPS = 500;
const EVERY = 50;
const MIB = 2 ** 20;
const Settings = z.strictObject({ ...ReinforceSettings.shape, ...WORKSPACE_SETTINGS, ...BACKEND_SETTING });

const folder = mkdtempSync(join(tmpdir(), 'canvas-gym-memory-'));
const settings = Settings.parse({
  ...{ url: process.argv[2], db: join(folder, 'log.db'), runs: join(folder, 'runs') },
  ...{ steps: STEPS, tasks_per_step: 2, group_size: 2, max_new_tokens: 12, rl_checkpoint_every: EVERY },
  ...{ entropy_bonus: 0.001, rl_muon_lr: 1e-4, rl_adamw_lr: 1e-5 }, // so that every step has a gradient, and moves little
});

/** What is held once the garbage of the steps so far is collected. */
function report(step: number, heapBytes: number): void {
  (globalThis as { gc?: () => void }).gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  const sizes = { wasm_mib: heapBytes / MIB, rss_mib: rss / MIB, v8_mib: heapUsed / MIB, external_mib: external / MIB };
  process.stdout.write(`${JSON.stringify({ step, tensors: tf.memory().numTensors, ...sizes })}\n`);
}

const nothing = (): void => undefined;
let heapBytes = (): number => 0;
const context = {
  startServer: () => Promise.reject(new Error('the server runs already')),
  out: nothing,
  signal: new AbortController().signal,
  progress: {
    ...{ plan: nothing, start: nothing, finish: nothing },
    update: (step: number) => {
      if (step % EVERY === 0) report(step, heapBytes());
    },
  },
};

try {
  await withWorkspace({ name: 'reinforce', schema: Settings }, settings, context, async (ws) => {
    const compute = await openCompute(ws, settings);
    heapBytes = () => compute.backend.heap.floats.buffer.byteLength;
    const tokenizer = trainTokenizer(benchVectors());
    const model = createModel(
      { ...tinyConfig(tokenizer.vocab_size), num_hidden_layers: 1 },
      compute.backend,
      createRng(1n),
    );
    await saveCheckpoint(join(folder, 'start'), { model, tokenizer });
    disposeModel(model);
    await reinforceStage(ws, compute, join(folder, 'start'), settings);
    return {};
  });
} finally {
  rmSync(folder, { recursive: true });
}
