/** This project's trainer as the speed benchmarks use it: what `sft` and `reinforce` call, on a backend and some threads. */
import { createBackend, type BackendName } from '../../../trainer/backend.ts';
import { loadCheckpoint } from '../../../trainer/checkpoint.ts';
import { createOptimizer, DEFAULT_OPTIMIZER_SETTINGS } from '../../../trainer/optimizer.ts';
import { createCompute } from '../../../trainer/pool/compute.ts';
import type { Workload } from './workload.ts';

export interface TrainerUnderTest {
  /** The backend and its threads, in words. */
  readonly way: string;
  /** One step on the next batch: forward, backward, clipping and AdamW. Resolves to the loss before it. */
  step(): Promise<number>;
  /** Samples `new_tokens` tokens for each of the first `batch` prompts. */
  sample(batch: number): Promise<void>;
  close(): Promise<void>;
}

/** No token has this id, so completions never end early. */
const NO_ID = -1;

/** @throws BackendUnavailable where the backend is not installed */
export async function createTrainerUnderTest(
  checkpoint: string,
  workload: Workload,
  backendName: BackendName,
  threads: number,
): Promise<TrainerUnderTest> {
  const backend = await createBackend(backendName);
  const compute = await createCompute(backend, threads);
  const { model } = loadCheckpoint(checkpoint, backend);
  const { lr, beta1, beta2, epsilon } = workload.adamw;
  const optimizer = createOptimizer(model, {
    ...DEFAULT_OPTIMIZER_SETTINGS,
    matrices: 'adamw',
    ...{ adamw_lr: lr, adamw_beta1: beta1, adamw_beta2: beta2, adamw_epsilon: epsilon, clip_norm: workload.clip_norm },
  });
  const sampler = await compute.createSampler(model);
  const settings = { max_new_tokens: workload.new_tokens, temperature: 1, eos_id: NO_ID };
  let [steps, samples] = [0, 0n];
  return {
    way: `${backend.name}, ${threads} threads`,
    step: async () => {
      const batch = workload.batches[steps++ % workload.batches.length]!;
      const weights = batch.completion_ids.map((ids) => ids.map(() => 1));
      const spec = { name: 'weighted', normaliser: weights.flat().length } as const;
      const { loss, gradients } = await compute.lossAndGradients(model, { ...batch, columns: { weights } }, spec);
      await optimizer.apply(gradients, 1);
      return loss;
    },
    sample: async (batch) => {
      const completions = await sampler.sample(workload.prompts.slice(0, batch), settings, samples++);
      const isWhole = completions.every(({ completion_ids }) => completion_ids.length === workload.new_tokens);
      if (completions.length !== batch || !isWhole) throw new Error('a completion ended early');
    },
    close: () => compute.close(),
  };
}
