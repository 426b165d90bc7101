/** Trains 50 steps and samples 64 completions on one backend, and prints tokens a second of each; check-gpu.ts runs it. */
import { createRng } from '../../schemas/seed.ts';
import { createBackend, type BackendName } from '../../trainer/backend.ts';
import type { ModelConfig } from '../../trainer/model/config.ts';
import { lossAndGradients, weightedLoss } from '../../trainer/model/loss.ts';
import { createModel, readParameters } from '../../trainer/model/model.ts';
import { createOptimizer } from '../../trainer/optimizer.ts';
import { createSampler } from '../../trainer/sample.ts';

const STEPS = 50;
const WARM_UP = 5;
const [BATCH, LENGTH] = [16, 192];

/** .87 M parameters. */
const CONFIG: ModelConfig = {
  ...{ vocab_size: 512, hidden_size: 128, num_hidden_layers: 4, num_attention_heads: 4, num_key_value_heads: 4 },
  ...{ head_dim: 32, intermediate_size: 384, rms_norm_eps: 1e-5, rope_theta: 10_000, max_position_embeddings: 1024 },
  initializer_range: 0.02,
};

const rng = createRng(1n);
const randomIds = (length: number): number[] => Array.from({ length }, () => rng.int(1, CONFIG.vocab_size - 1));
const lists = (length: number): number[][] => Array.from({ length: BATCH }, () => randomIds(length));

/** The same batch again and again, whose loss must fall. */
const BATCH_OF_ALL = {
  ...{ prompt_ids: lists(1), completion_ids: lists(LENGTH) },
  columns: { weights: Array.from({ length: BATCH }, () => Array.from({ length: LENGTH }, () => 1)) },
};

const backend = await createBackend(process.argv[2] as BackendName);
process.stdout.write(`${backend.device}\n`);
const model = createModel(CONFIG, backend, createRng(2n));
const optimizer = createOptimizer(model);
const losses: number[] = [];
let startedMs = 0;
for (let step = 0; step < STEPS; step++) {
  if (step === WARM_UP) startedMs = performance.now();
  const { loss, gradients } = await lossAndGradients(model, BATCH_OF_ALL, weightedLoss(BATCH * LENGTH));
  await optimizer.apply(gradients, 1);
  losses.push(loss);
}
const trainSeconds = (performance.now() - startedMs) / 1000;
const tokensPerSecond = Math.round(((STEPS - WARM_UP) * BATCH * LENGTH) / trainSeconds);
process.stdout.write(
  `training: ${tokensPerSecond} tokens/s, loss ${losses[0]!.toFixed(3)} to ${losses.at(-1)!.toFixed(3)}\n`,
);
if (!(losses.at(-1)! < losses[0]!)) throw new Error('the loss did not fall');

const sampler = createSampler(backend.heap, CONFIG, await readParameters(model));
const prompts = Array.from({ length: 64 }, (_, i) => randomIds(20 + (i % 8)));
const sampledMs = performance.now();
const sampled = sampler.sample(prompts, { max_new_tokens: 64, temperature: 1, eos_id: 0 }, 3n);
const count = sampled.reduce((sum, { completion_ids }) => sum + completion_ids.length, 0);
const sampleSeconds = (performance.now() - sampledMs) / 1000;
process.stdout.write(`sampling at batch 64, on the wasm heap: ${Math.round(count / sampleSeconds)} tokens/s\n`);
process.exit(0);
