/**
 * The batches of SFT: an endless order of the examples, each pass over them shuffled by a stream of its own, and each
 * example in one of its many forms (augment.ts, reword.ts). All of it follows from the seed, the step and how many examples
 * were taken, so that a run taken up again sees the same batches.
 */
import { createRng, hash64, type Rng } from '../schemas/seed.ts';
import { labelWords, renameWords } from './augment.ts';
import { createRewriter, type RewordOptions } from './reword.ts';
import { encodeCompletion, encodePrompt, type Tokenizer } from './tokenizer.ts';
import type { TextPair } from './vocabulary.ts';

export interface EncodedExample {
  readonly prompt_ids: readonly number[];
  readonly completion_ids: readonly number[];
}

export interface BatchOptions extends RewordOptions {
  readonly seed: number;
  readonly batch_size: number;
}

export interface Batches {
  /** The batch of a step (from 1), `taken` examples into the order. */
  take(step: number, taken: number): EncodedExample[];
}

export function encodeExample(tokenizer: Tokenizer, { prompt, completion }: TextPair): EncodedExample {
  return { prompt_ids: encodePrompt(tokenizer, prompt), completion_ids: encodeCompletion(tokenizer, completion) };
}

/** Whether examples are changed as texts, and encoded anew each time. */
export function isRewritten({ made_up_share, reword_share }: Omit<RewordOptions, 'rename_share'>): boolean {
  return made_up_share > 0 || reword_share > 0;
}

export function createBatches(tokenizer: Tokenizer, examples: readonly TextPair[], options: BatchOptions): Batches {
  const { seed, batch_size } = options;
  const formOf = isRewritten(options)
    ? createRewrittenForms(tokenizer, examples, options)
    : createRenamedForms(tokenizer, examples, options);
  return {
    take: (step, taken) => {
      const rng = createRng(hash64('sft.rename', seed, step));
      return Array.from({ length: batch_size }, (_, i) => {
        const pass = Math.floor((taken + i) / examples.length);
        return formOf(orderOf(pass, examples.length, seed)[(taken + i) % examples.length]!, rng);
      });
    },
  };
}

type FormOf = (index: number, rng: Rng) => EncodedExample;

function createRewrittenForms(tokenizer: Tokenizer, examples: readonly TextPair[], options: RewordOptions): FormOf {
  const rewriter = createRewriter(examples, options);
  return (index, rng) => encodeExample(tokenizer, rewriter.rewrite(index, rng));
}

function createRenamedForms(
  tokenizer: Tokenizer,
  examples: readonly TextPair[],
  { rename_share }: RewordOptions,
): FormOf {
  const encoded = examples.map((example) => encodeExample(tokenizer, example));
  const isWord = (id: number): boolean => tokenizer.isWord(id);
  const words = labelWords(encoded, isWord);
  return (index, rng) =>
    rng.next() < rename_share ? renameWords(encoded[index]!, words, isWord, rng) : encoded[index]!;
}

let lastOrder: { key: string; order: readonly number[] } | undefined;

function orderOf(pass: number, length: number, seed: number): readonly number[] {
  const key = `${seed}/${pass}/${length}`;
  if (lastOrder?.key !== key) {
    const rng = createRng(hash64('sft.order', seed, pass));
    lastOrder = { key, order: rng.shuffle(Array.from({ length }, (_, i) => i)) };
  }
  return lastOrder.order;
}
