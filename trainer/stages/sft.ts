/** The stage `sft`: the tiny model learns the data set from nothing. */
import { z } from 'zod';
import { createRng, hash64 } from '../../schemas/seed.ts';
import { resumeCheckpoint, saveCheckpoint } from '../checkpoint.ts';
import type { Example } from '../dataset.ts';
import { tinyConfig } from '../model/config.ts';
import { createModel, disposeModel } from '../model/model.ts';
import { createRewriter } from '../reword.ts';
import { createOptimizer, DEFAULT_OPTIMIZER_SETTINGS } from '../optimizer.ts';
import type { Compute } from '../pool/compute.ts';
import { runSft, SFT_START, SftSettings, type SftState } from '../sft.ts';
import { onlyFinite } from '../statistics.ts';
import { isRewritten } from '../sft-batches.ts';
import { trainTokenizer, type Tokenizer } from '../tokenizer.ts';
import { DEFAULT_VOCABULARY_OPTIONS } from '../vocabulary.ts';
import { Interrupted, type Workspace } from '../workspace.ts';
import { timed } from './timed.ts';

const Count = z.number().int().positive();

export const SftStageSettings = SftSettings.omit({ seed: true }).extend({
  layers: Count.default(2).meta({ description: 'Layers of the tiny model', unit: 'layers' }),
  context: Count.default(1024).meta({ description: 'Longest prompt and completion together', unit: 'tokens' }),
  tokenizer_words: Count.default(420).meta({ description: 'Words that are one token each, at most', unit: 'words' }),
  tokenizer_pieces: Count.default(60).meta({
    description: 'Pieces that other words are made of, beside letters',
    unit: 'pieces',
  }),
  validation: z
    .number()
    .int()
    .min(0)
    .default(96)
    .meta({ description: 'Examples kept for validation', unit: 'examples' }),
  sft_checkpoint_every: Count.default(100).meta({ description: 'Steps between checkpoints', unit: 'steps' }),
  muon_lr: z.number().positive().default(0.02).describe('Learning rate of the matrices (Muon)'),
  adamw_lr: z.number().positive().default(2e-3).describe('Learning rate of embedding and gains (AdamW)'),
});
export type SftStageSettings = z.output<typeof SftStageSettings>;

/**
 * Trains the tiny model from nothing on the examples.
 * @returns the checkpoint's folder
 * @throws CheckpointError, Interrupted, Diverged; Error where no examples are left to train on
 */
export async function sftStage(
  ws: Workspace,
  compute: Compute,
  examples: readonly Example[],
  settings: SftStageSettings & { seed: number },
): Promise<string> {
  const folder = ws.run.file('sft');
  const loaded = resumeCheckpoint(folder, compute.backend);
  const start: SftState = { ...SFT_START, ...(loaded?.state as SftState | undefined) };
  if (start.is_finished) {
    if (loaded) disposeModel(loaded.model);
    return folder;
  }
  const tokenizer = loaded?.tokenizer ?? trainStageTokenizer(examples, settings);
  const config = {
    ...tinyConfig(tokenizer.vocab_size),
    num_hidden_layers: settings.layers,
    max_position_embeddings: settings.context,
  };
  const model = loaded?.model ?? createModel(config, compute.backend, createRng(hash64('init', settings.seed)));
  const { muon_lr, adamw_lr } = settings;
  const optimizer = createOptimizer(model, { ...DEFAULT_OPTIMIZER_SETTINGS, muon_lr, adamw_lr }, compute.orthogonalise);
  if (loaded?.optimizer_state) optimizer.restore(loaded.optimizer_state);
  ws.store.deleteAfter(ws.run.run_id, 'sft', start.optimizer_step);

  await timed(ws, 'sft', start.optimizer_step, async (mark) => {
    ws.progress.start('sft', settings.max_tokens, 'tokens', start.tokens);
    const parts = { compute, model, tokenizer, optimizer, ...splitExamples(examples, settings) };
    const onStep = async (state: SftState, metrics: Readonly<Record<string, number>>): Promise<void> => {
      ws.store.recordMetrics(ws.run.run_id, 'sft', state.optimizer_step, onlyFinite(metrics));
      ws.progress.update(state.tokens, { loss: metrics['loss/sft']! });
      const isStopped = !state.is_finished && ws.shouldStop();
      const isDue = state.is_finished || state.optimizer_step % settings.sft_checkpoint_every === 0;
      const isGood = state.skipped_in_a_row === 0; // else the weights may be past saving
      if ((isDue || isStopped) && isGood) await saveCheckpoint(folder, { model, tokenizer, optimizer, state });
      if (isDue) mark();
      if (isStopped) throw new Interrupted(`step ${state.optimizer_step}`);
    };
    await runSft({ ...parts, onStep }, settings, start);
    ws.progress.finish();
  });
  optimizer.dispose();
  disposeModel(model);
  return folder;
}

/** Examples of which the tokenizer sees a rewritten form too; its pieces are those of made-up words as well. */
const REWRITTEN_FOR_TOKENIZER = 2000;
/** Times a word must occur to be kept whole, where made-up words are among them. */
const REWRITTEN_MIN_COUNT = 8;

function trainStageTokenizer(examples: readonly Example[], settings: SftStageSettings & { seed: number }): Tokenizer {
  const { tokenizer_words: max_words, tokenizer_pieces: merges, seed } = settings;
  const options = { ...DEFAULT_VOCABULARY_OPTIONS, max_words, merges };
  if (!isRewritten(settings)) return trainTokenizer(examples, options);
  const some = createRng(hash64('sft.tokenizer', seed)).shuffle(examples).slice(0, REWRITTEN_FOR_TOKENIZER);
  const rewriter = createRewriter(some, settings);
  const forms = some.map((_, i) => rewriter.rewrite(i, createRng(hash64('sft.tokenizer', seed, i))));
  return trainTokenizer([...examples, ...forms], { ...options, min_count: REWRITTEN_MIN_COUNT });
}

/** Validation examples of all families, drawn by the seed, and the rest to train on. */
function splitExamples(examples: readonly Example[], { seed, validation }: SftStageSettings & { seed: number }) {
  if (examples.length <= validation) {
    throw new Error(`${examples.length} examples, of which --validation ${validation} leaves none to train on`);
  }
  const shuffled = createRng(hash64('sft.validation', seed)).shuffle(examples);
  return { validation: shuffled.slice(0, validation), examples: shuffled.slice(validation) };
}
