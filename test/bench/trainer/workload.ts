/**
 * What both sides of the speed benchmarks compute: the model, the batches and the optimizer's settings, in files that both
 * read. Lists are all of one length, so that neither side gains or loses by padding; ids are random, since speed does not
 * depend on them.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRng, hash64, type Rng } from '../../../schemas/seed.ts';
import type { Backend } from '../../../trainer/backend.ts';
import { saveCheckpoint } from '../../../trainer/checkpoint.ts';
import { tinyConfig, type ModelConfig } from '../../../trainer/model/config.ts';
import type { TokenBatch } from '../../../trainer/model/layout.ts';
import { createModel, disposeModel } from '../../../trainer/model/model.ts';
import { trainTokenizer } from '../../../trainer/tokenizer.ts';

/** D 128, 4 layers, 4 heads of 32, FFN 384, tied: .92 M parameters. */
export const BENCH_CONFIG: ModelConfig = { ...tinyConfig(512), num_hidden_layers: 4 };

const BATCHES = 4;
const BATCH_SIZE = 16;
const PROMPT = 64;
const COMPLETION = 128;
const SAMPLE_PROMPTS = 64;
const SAMPLE_PROMPT = 32;
/** Ids below are padding, begin and end. */
const FIRST_ID = 4;

/** What is written for both sides, keys as Python reads them. */
export interface Workload {
  readonly batches: readonly TokenBatch[];
  /** For sampling: a batch of n takes the first n. */
  readonly prompts: readonly (readonly number[])[];
  readonly new_tokens: number;
  readonly adamw: { readonly lr: number; readonly beta1: number; readonly beta2: number; readonly epsilon: number };
  readonly clip_norm: number;
}

export function createWorkload(): Workload {
  const rng = createRng(hash64('bench.workload'));
  return {
    batches: Array.from({ length: BATCHES }, () => ({
      prompt_ids: randomLists(rng, BATCH_SIZE, PROMPT),
      completion_ids: randomLists(rng, BATCH_SIZE, COMPLETION),
    })),
    prompts: randomLists(rng, SAMPLE_PROMPTS, SAMPLE_PROMPT),
    new_tokens: 128,
    adamw: { lr: 1e-3, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 },
    clip_norm: 1,
  };
}

function randomLists(rng: Rng, count: number, length: number): number[][] {
  const last = BENCH_CONFIG.vocab_size - 1;
  return Array.from({ length: count }, () => Array.from({ length }, () => rng.int(FIRST_ID, last)));
}

/** The workload and a checkpoint with random weights, as files of `folder`. */
export async function writeWorkload(
  folder: string,
  backend: Backend,
): Promise<{ workload: string; checkpoint: string }> {
  const [workload, checkpoint] = [join(folder, 'workload.json'), join(folder, 'random')];
  mkdirSync(folder, { recursive: true });
  writeFileSync(workload, JSON.stringify(createWorkload()));
  const model = createModel(BENCH_CONFIG, backend, createRng(hash64('bench.model')));
  const tokenizer = trainTokenizer([{ prompt: 'a', completion: '{}' }]); // a checkpoint has one; ids here are no text
  await saveCheckpoint(checkpoint, { model, tokenizer });
  disposeModel(model);
  return { workload, checkpoint };
}

export const tokensOf = ({ prompt_ids, completion_ids }: TokenBatch): number =>
  [...prompt_ids, ...completion_ids].reduce((sum, ids) => sum + ids.length, 0);

/**
 * Floating-point operations that a training step on a batch needs: a multiplication and an addition for each weight a row
 * meets and each pair of rows attention joins, once forward and twice backward (Kaplan et al. 2020, arXiv 2001.08361,
 * section 2.1, with attention's own products).
 *
 *   6 (N L W_qkv + (N (L - 1) + K) (W_o + W_gate_up + W_down) + K V D) + 12 L H d P
 *
 * N rows (the last token of a list is never read), K predicted tokens, P pairs of a row with itself or one before it in its
 * list. After the last attention only the K rows that predict are needed.
 */
export function trainingFlops(config: ModelConfig, { prompt_ids, completion_ids }: TokenBatch): number {
  const { hidden_size: D, num_hidden_layers: L, head_dim: d, intermediate_size: F, vocab_size: V } = config;
  const [H, KV] = [config.num_attention_heads, config.num_key_value_heads];
  const rows = prompt_ids.map((prompt, i) => prompt.length + completion_ids[i]!.length - 1);
  const N = rows.reduce((sum, length) => sum + length, 0);
  const K = completion_ids.reduce((sum, ids) => sum + ids.length, 0);
  const P = rows.reduce((sum, length) => sum + (length * (length + 1)) / 2, 0);
  const qkv = D * (H + 2 * KV) * d;
  const rest = H * d * D + 2 * D * F + F * D;
  return 6 * (N * L * qkv + (N * (L - 1) + K) * rest + K * V * D) + 12 * L * H * d * P;
}
