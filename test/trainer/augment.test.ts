import { expect, test } from 'vitest';
import { createRng } from '../../schemas/seed.ts';
import { labelWords, renameWords } from '../../trainer/augment.ts';

const isWord = (id: number): boolean => id >= 100;
const example = { prompt_ids: [1, 100, 2, 101, 3, 100, 200], completion_ids: [4, 100, 5, 101, 6, 100] };

test('label words are the words of completions, not those of prompts alone', () => {
  expect(labelWords([example, { prompt_ids: [], completion_ids: [102, 100] }], isWord)).toEqual([100, 101, 102]);
});

test('a renaming is one-to-one, the same in prompt and completion, and leaves everything else', () => {
  const words = [100, 101, 102, 103];
  const drawn = new Set<string>();
  for (let seed = 0n; seed < 50n; seed++) {
    const { prompt_ids, completion_ids } = renameWords(example, words, isWord, createRng(seed));
    const [a, b] = [completion_ids[1]!, completion_ids[3]!];
    expect(a).not.toBe(b);
    expect(words).toEqual(expect.arrayContaining([a, b]));
    expect(prompt_ids).toEqual([1, a, 2, b, 3, a, 200]);
    expect(completion_ids).toEqual([4, a, 5, b, 6, a]);
    drawn.add(`${a} ${b}`);
  }
  expect(drawn.size).toBeGreaterThan(6); // of 12 pairs
});
