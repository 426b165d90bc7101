/**
 * Stop strings: sampling ends when the decoded text holds one, wherever the borders of tokens lie. The ids and
 * log-probabilities of a completion stay those that were sampled, the ones that wrote the stop string included, since they
 * are what is trained on; its text ends before the stop string.
 */
import type { Tokenizer } from '../tokenizer.ts';

/** The text before the first stop string; the whole text where there is none. */
export function cutAtStop(text: string, stops: readonly string[]): string {
  const ends = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends));
}

/**
 * Says after each token whether the text of the ids so far holds a stop string. Decoding everything is left to tokens
 * that hold the last character of one, or a part of a character.
 * @throws RangeError for an empty stop string
 */
export function createStopCheck(
  tokenizer: Tokenizer,
  stops: readonly string[],
): (ids: readonly number[], last: number) => boolean {
  if (stops.includes('')) throw new RangeError('a stop string is empty');
  const endings = stops.map((stop) => stop.slice(-1));
  const canEnd = new Map<number, boolean>();
  const findCanEnd = (id: number): boolean => {
    const text = tokenizer.decode([id]);
    return text.includes('\ufffd') || endings.some((ending) => text.includes(ending));
  };
  return (ids, last) => {
    const may = canEnd.get(last) ?? findCanEnd(last);
    canEnd.set(last, may);
    if (!may) return false;
    const text = tokenizer.decode(ids);
    return stops.some((stop) => text.includes(stop));
  };
}
