/**
 * The batches of SFT: an endless order of the examples, each pass over them shuffled by a stream of its own, and each
 * example in one of its many forms (augment.ts, reword.ts). All of it follows from the seed and the counters of SftState, so
 * that a run taken up again sees the same batches.
 *
 * With a ramp, training begins with what is easy: short examples, known words, the tasks' own wordings. Copying is learned
 * within few tokens there, and made-up words and other wordings then only have to extend it.
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
  /** Tokens over which examples grow from easy to all; 0 for all from the start. */
  readonly ramp_tokens: number;
}

/** Where training stands: steps from 1, and what was taken before this one. */
export interface Position {
  readonly step: number;
  readonly examples: number;
  readonly tokens: number;
}

export interface Batches {
  take(position: Position): EncodedExample[];
}

export function encodeExample(tokenizer: Tokenizer, { prompt, completion }: TextPair): EncodedExample {
  return { prompt_ids: encodePrompt(tokenizer, prompt), completion_ids: encodeCompletion(tokenizer, completion) };
}

/** Whether examples are changed as texts, and encoded anew each time. */
export function isRewritten({ made_up_share, reword_share }: Omit<RewordOptions, 'rename_share'>): boolean {
  return made_up_share > 0 || reword_share > 0;
}

/** Share of the examples, the shortest ones, that a ramp begins with. */
const FIRST_SHARE = 1 / 3;

export function createBatches(tokenizer: Tokenizer, examples: readonly TextPair[], options: BatchOptions): Batches {
  const { seed, batch_size, ramp_tokens } = options;
  const sorted = ramp_tokens === 0 ? examples : byLength(examples);
  const formOf = isRewritten(options)
    ? createRewrittenForms(tokenizer, sorted, options)
    : createRenamedForms(tokenizer, sorted, options);
  return {
    take: ({ step, examples: taken, tokens }) => {
      const rng = createRng(hash64('sft.rename', seed, step));
      const ramp = tokens < ramp_tokens ? tokens / ramp_tokens : 1;
      const share = FIRST_SHARE + (1 - FIRST_SHARE) * ramp;
      return Array.from({ length: batch_size }, (_, i) => {
        const pass = Math.floor((taken + i) / sorted.length);
        const place = orderOf(pass, sorted.length, seed)[(taken + i) % sorted.length]!;
        return formOf(ramp < 1 ? Math.floor(place * share) : place, rng, ramp);
      });
    },
  };
}

/** Shortest completions first. */
function byLength(examples: readonly TextPair[]): TextPair[] {
  return [...examples].sort((a, b) => a.completion.length - b.completion.length);
}

/** Example number `index` in a form drawn from `rng`; `ramp` is 1 where all forms may come, less where easier ones shall. */
type FormOf = (index: number, rng: Rng, ramp: number) => EncodedExample;

function createRewrittenForms(tokenizer: Tokenizer, examples: readonly TextPair[], options: RewordOptions): FormOf {
  const rewriter = createRewriter(examples, options);
  return (index, rng, ramp) => encodeExample(tokenizer, rewriter.rewrite(index, rng, ramp));
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
