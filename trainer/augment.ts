/**
 * Renaming: for SFT, an example's label words are replaced by other label words, the same in prompt and completion.
 *
 * A prompt's labels come from one trade, so that a model can guess them from each other without reading the prompt. Under
 * random names the only way to lower the loss is to copy, which is the ability that counts; see LOG.md for what it gave.
 * The renamed diagram is the same diagram (cf. isomorphic perturbation testing, Helff et al. 2026, arXiv
 * 2604.15149).
 */
import type { Rng } from '../schemas/seed.ts';

interface Example {
  readonly prompt_ids: readonly number[];
  readonly completion_ids: readonly number[];
}

/** Every word token that occurs in a completion: what labels are made of. In order of first use. */
export function labelWords(examples: readonly Example[], isWord: (id: number) => boolean): number[] {
  return [...new Set(examples.flatMap(({ completion_ids }) => completion_ids.filter(isWord)))];
}

/** The example under a random one-to-one renaming of its label words; ids that are no label words stay. */
export function renameWords<E extends Example>(
  example: E,
  words: readonly number[],
  isWord: (id: number) => boolean,
  rng: Rng,
): E {
  const own = [...new Set(example.completion_ids.filter(isWord))];
  const names = new Map<number, number>();
  const taken = new Set<number>();
  for (const id of own) {
    const name = drawFree(words, taken, rng);
    taken.add(name);
    names.set(id, name);
  }
  const rename = (ids: readonly number[]): number[] => ids.map((id) => names.get(id) ?? id);
  return { ...example, prompt_ids: rename(example.prompt_ids), completion_ids: rename(example.completion_ids) };
}

function drawFree(words: readonly number[], taken: ReadonlySet<number>, rng: Rng): number {
  for (;;) {
    const word = rng.pick(words);
    if (!taken.has(word)) return word;
  }
}
