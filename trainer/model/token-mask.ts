/**
 * Which tokens could have been drawn at a place: grammar, top-k and top-p take tokens away before one is sampled. The
 * log-probabilities that training recomputes must be of the same distribution, softmax over the tokens that were left, or
 * the policy that is improved is not the one that acted and the importance ratio is wrong from the first update on. So
 * sampling hands the masks on and the loss applies them to the logits (DeepSeek-V3.2, arXiv 2512.02556, 3.1, "Keep
 * Sampling Mask"). The gradient is that of the masked policy with the masks held fixed.
 */
import * as tf from '@tensorflow/tfjs-core';

/** Bit id % 32 of word floor(id / 32) is set where the token could have been drawn. */
export type TokenMask = Uint32Array;

/** What a masked logit becomes: exp of it is 0 at any temperature over 1e-8. */
export const MASKED = -1e30;

/** A mask that allows `ids` alone. */
export function createTokenMask(vocabSize: number, ids: Iterable<number>): TokenMask {
  const mask = new Uint32Array(Math.ceil(vocabSize / 32));
  for (const id of ids) mask[id >>> 5] = mask[id >>> 5]! | (1 << (id & 31));
  return mask;
}

export function isAllowed(mask: TokenMask, id: number): boolean {
  return ((mask[id >>> 5]! >>> (id & 31)) & 1) === 1;
}

/**
 * Logits [K, V] with MASKED where a token could not be drawn; the same tensor where nothing is masked.
 * @param masks [completion][token] in the order of the rows, undefined for a completion whose tokens were drawn from all
 * @throws RangeError where a token has no mask among others that have one, or one that does not allow it
 */
export function maskLogits(
  logits: tf.Tensor2D,
  completions: readonly (readonly number[])[],
  masks: readonly (readonly TokenMask[] | undefined)[] | undefined,
): tf.Tensor2D {
  if (masks === undefined || masks.every((mask) => mask === undefined)) return logits;
  const [count, vocab] = logits.shape;
  const change = new Float32Array(count * vocab);
  let row = 0;
  completions.forEach((completion, i) => {
    completion.forEach((id, t) => {
      const own = masks[i];
      const mask = own?.[t];
      if (own && !(mask && isAllowed(mask, id))) throw new RangeError(`the mask of token ${t} does not allow it`);
      if (mask) maskRow(mask, change.subarray(row * vocab, (row + 1) * vocab));
      row++;
    });
  });
  return tf.add(logits, tf.tensor2d(change, [count, vocab]));
}

/** Writes MASKED over the places of a row of [V] that the mask does not allow. */
export function maskRow(mask: TokenMask, row: Float32Array): void {
  for (let id = 0; id < row.length; id++) if (!isAllowed(mask, id)) row[id] = MASKED;
}
