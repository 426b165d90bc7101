/** The quick search for a word against reading all words, on texts made of what could confuse it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { holdsWord, importantWords, missingWords, wordsOf } from '../../server/reward/words.ts';

const SEED = 20260501;
const PIECES = [
  'api',
  'ap',
  'i',
  'a',
  'API',
  'Apis',
  '1',
  '_',
  '-',
  ' ',
  '\n',
  'é',
  '\u0130',
  '\u212a',
  'gateway',
  'gate',
  '9gate',
  '-api',
];
const pieces = fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((parts) => parts.join(''));

test(`holdsWord agrees with wordsOf (seed ${SEED})`, () => {
  fc.assert(
    fc.property(pieces, pieces, (text, other) => {
      const lower = text.toLowerCase();
      for (const word of wordsOf(`${other} ${text}`)) expect(holdsWord(lower, word)).toBe(wordsOf(text).includes(word));
    }),
    { seed: SEED, numRuns: 3000 },
  );
});

test('a word is found in labels of shapes and of arrows, never across two of them', () => {
  const shape = { id: 'a', shape: 'rectangle', x: 0, y: 0, w: 9, h: 9, text: 'Data' } as const;
  const canvas = {
    shapes: [shape, { ...shape, id: 'b', text: 'base' }],
    arrows: [{ from: 'a', to: 'b', text: 'reads' }],
  };
  expect(missingWords(['data', 'reads', 'database', 'base'], canvas)).toEqual(['database']);
});

test('important words are each once, in order, whatever was asked before', () => {
  for (let i = 0; i < 3000; i++) importantWords(`prompt number${i}`);
  expect([...importantWords('show the Login, then the login page and the Page2')]).toEqual([
    'show',
    'login',
    'then',
    'page',
    'page2',
  ]);
});
