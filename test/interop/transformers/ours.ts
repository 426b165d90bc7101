/**
 * What the trainer makes of a checkpoint, for the tests of this folder to compare with transformers: reads questions as JSON
 * from standard input, writes the answers as JSON.
 *
 *   node --import tsx test/interop/transformers/ours.ts FOLDER < questions.json
 */
import { json } from 'node:stream/consumers';
import { createBackend } from '../../../trainer/backend.ts';
import { CheckpointError, loadCheckpoint } from '../../../trainer/checkpoint.ts';
import { createLayout } from '../../../trainer/model/layout.ts';
import { forward, readParameters } from '../../../trainer/model/model.ts';
import { createSampler } from '../../../trainer/sample.ts';

interface Questions {
  /** Texts to encode. */
  texts: string[];
  /** Logits of each completion token, [K][V]. */
  pairs: { prompt_ids: number[]; completion_ids: number[] }[];
  /** What is written greedily, the end included. */
  prompts: number[][];
  max_new_tokens: number;
}

async function answer(folder: string, { texts, pairs, prompts, max_new_tokens }: Questions): Promise<object> {
  const backend = await createBackend('auto');
  const { model, tokenizer } = loadCheckpoint(folder, backend);
  const logits: unknown[] = [];
  for (const { prompt_ids, completion_ids } of pairs) {
    const layout = createLayout({ prompt_ids: [prompt_ids], completion_ids: [completion_ids] }, model.config);
    logits.push(await forward(model, layout).array());
  }
  const sampler = createSampler(backend.heap, model.config, await readParameters(model));
  const settings = { max_new_tokens, temperature: 0, eos_id: tokenizer.eos_id };
  const greedy = prompts.length === 0 ? [] : sampler.sample(prompts, settings, 0n);
  return {
    ids: texts.map((text) => tokenizer.encode(text)),
    logits,
    greedy: greedy.map(({ completion_ids }) => completion_ids),
  };
}

async function main(): Promise<object> {
  try {
    return await answer(process.argv[2] ?? '', (await json(process.stdin)) as Questions);
  } catch (error) {
    if (error instanceof CheckpointError) return { error: error.message };
    throw error;
  }
}

console.log(JSON.stringify(await main()));
