/**
 * How a batch of token lists becomes rows. Nothing is padded: all tokens of a batch lie one after another in [N] rows,
 * and attention alone knows where a list begins. Completions of the same prompt, given one after another, share the
 * prompt's rows (a REINFORCE group computes its prompt once; the gradient reaches it from every completion).
 *
 *   group = [prompt rows][completion 1 without its last token][completion 2 without its last token] ...
 *
 * The last token of a completion is only predicted, never read, so it has no row.
 */
import type { ModelConfig } from './config.ts';
import type { TokenMask } from './token-mask.ts';

/** Prompts and completions, pairwise; neither may be empty. */
export interface TokenBatch {
  readonly prompt_ids: readonly (readonly number[])[];
  readonly completion_ids: readonly (readonly number[])[];
  /** What each completion token could have been, [completion][token]; absent or undefined: any token. */
  readonly token_masks?: readonly (readonly TokenMask[] | undefined)[] | undefined;
}

/** Rows that attend to all of `prefix` and to themselves up to the diagonal. Row numbers; a prefix may be empty. */
export interface Segment {
  readonly start: number;
  readonly length: number;
  readonly prefixStart: number;
  readonly prefixLength: number;
}

/** A prompt's rows and those of its completions, contiguous. */
export interface Group {
  readonly start: number;
  readonly length: number;
  readonly segments: readonly Segment[];
}

export interface Layout {
  /** Token of each row, [N]. */
  readonly ids: Int32Array;
  /** Position of each row in its own list, [N]. */
  readonly positions: Int32Array;
  readonly groups: readonly Group[];
  readonly segments: readonly Segment[];
  /** Row whose output predicts completion token k, [K]; all completion tokens in order of the batch. */
  readonly targetRows: Int32Array;
  /** The predicted tokens, [K]. */
  readonly targets: Int32Array;
}

/**
 * Lays a batch out in rows.
 * @throws RangeError if an id is not below vocab_size or a list is longer than max_position_embeddings
 */
export function createLayout(batch: TokenBatch, config: ModelConfig): Layout {
  assertBatch(batch, config);
  const builder = new LayoutBuilder();
  batch.prompt_ids.forEach((prompt, i) => {
    const isRepeat = i > 0 && isEqual(prompt, batch.prompt_ids[i - 1]!);
    if (!isRepeat) builder.startGroup(prompt);
    builder.addCompletion(batch.completion_ids[i]!);
  });
  return builder.finish();
}

/** Prompts alone, each once if given several times in a row; promptOf says which segment is whose. */
export function createPromptLayout(
  prompts: readonly (readonly number[])[],
  config: ModelConfig,
): { layout: Layout; promptOf: number[] } {
  const builder = new LayoutBuilder();
  let count = 0;
  const promptOf = prompts.map((prompt, i) => {
    assertIds(prompt, config);
    assertContext(prompt.length, config);
    const isRepeat = i > 0 && isEqual(prompt, prompts[i - 1]!);
    if (isRepeat) return count - 1;
    builder.startGroup(prompt);
    return count++;
  });
  return { layout: builder.finish(), promptOf };
}

class LayoutBuilder {
  readonly #ids: number[] = [];
  readonly #positions: number[] = [];
  readonly #groups: { start: number; segments: Segment[] }[] = [];
  readonly #targetRows: number[] = [];
  readonly #targets: number[] = [];

  startGroup(prompt: readonly number[]): void {
    const start = this.#pushRows(prompt, 0);
    this.#groups.push({ start, segments: [{ start, length: prompt.length, prefixStart: start, prefixLength: 0 }] });
  }

  addCompletion(completion: readonly number[]): void {
    const { segments } = this.#groups.at(-1)!;
    const prompt = segments[0]!;
    const length = completion.length - 1;
    const start = this.#pushRows(completion.slice(0, length), prompt.length);
    if (length > 0) segments.push({ start, length, prefixStart: prompt.start, prefixLength: prompt.length });
    completion.forEach((id, k) => {
      this.#targets.push(id);
      this.#targetRows.push(k === 0 ? prompt.start + prompt.length - 1 : start + k - 1);
    });
  }

  finish(): Layout {
    const ends = [...this.#groups.slice(1).map((group) => group.start), this.#ids.length];
    const groups = this.#groups.map((group, i) => ({ ...group, length: ends[i]! - group.start }));
    return {
      ids: Int32Array.from(this.#ids),
      positions: Int32Array.from(this.#positions),
      groups,
      segments: groups.flatMap((group) => group.segments),
      targetRows: Int32Array.from(this.#targetRows),
      targets: Int32Array.from(this.#targets),
    };
  }

  #pushRows(ids: readonly number[], position: number): number {
    const start = this.#ids.length;
    ids.forEach((id, k) => {
      this.#ids.push(id);
      this.#positions.push(position + k);
    });
    return start;
  }
}

function assertBatch(batch: TokenBatch, config: ModelConfig): void {
  if (batch.prompt_ids.length !== batch.completion_ids.length) {
    throw new RangeError(`${batch.prompt_ids.length} prompts but ${batch.completion_ids.length} completions`);
  }
  batch.prompt_ids.forEach((prompt, i) => {
    const completion = batch.completion_ids[i]!;
    if (prompt.length === 0 || completion.length === 0) throw new RangeError(`example ${i} has an empty list`);
    assertIds(prompt, config);
    assertIds(completion, config);
    assertContext(prompt.length + completion.length, config);
  });
}

/** @throws RangeError unless every id is in [0, vocab_size) */
export function assertIds(ids: readonly number[], config: ModelConfig): void {
  const bad = ids.find((id) => !(Number.isInteger(id) && id >= 0 && id < config.vocab_size));
  if (bad !== undefined) throw new RangeError(`token id ${bad} is outside the vocabulary of ${config.vocab_size}`);
}

/** @throws RangeError if a list of `length` tokens does not fit the context; exactly the context fits */
export function assertContext(length: number, config: ModelConfig): void {
  const context = config.max_position_embeddings;
  if (length > context) throw new RangeError(`${length} tokens do not fit the context of ${context}`);
}

/** Whether two lists hold the same ids: completions of prompts that are equal share their rows. */
export function isEqual(a: readonly number[], b: readonly number[]): boolean {
  return a === b || (a.length === b.length && a.every((id, i) => id === b[i]));
}
