/** Stop strings: found across the borders of tokens, and the text ends before them. */
import { expect, test } from 'vitest';
import { createStopCheck, cutAtStop } from '../../../trainer/decoding/stop.ts';
import { trainTokenizer } from '../../../trainer/tokenizer.ts';

const tokenizer = trainTokenizer([{ prompt: 'Boxes: cat, dog.', completion: '{"actions":[]}' }]);

/** Tokens read until the check says stop, as text. */
function readUntilStop(text: string, stops: readonly string[]): string {
  const isStop = createStopCheck(tokenizer, stops);
  const ids = tokenizer.encode(text);
  const last = ids.findIndex((id, i) => isStop(ids.slice(0, i + 1), id));
  return tokenizer.decode(last < 0 ? ids : ids.slice(0, last + 1));
}

test.each([
  ['inside a token', '{"actions":[{"type":"', ['act'], '{"actions":[{"type":"'],
  ['across tokens', 'cat; dog and more', ['t; do'], 'cat; do'],
  ['at the first of two', 'one two three', ['three', 'two'], 'one two'],
  ['of several bytes', 'a データ b', ['デ'], 'a デ'],
  ['not there', 'one two', ['three'], 'one two'],
])('a stop string %s', (_name, text, stops, read) => {
  expect(readUntilStop(text, stops)).toBe(read);
});

test.each([
  ['abc|def', ['|'], 'abc'],
  ['abc|def;', [';', '|'], 'abc'],
  ['abc', ['|'], 'abc'],
  ['abc', [], 'abc'],
])('the text of %s with %o', (text, stops, cut) => {
  expect(cutAtStop(text, stops)).toBe(cut);
});

test('an empty stop string is refused', () => {
  expect(() => createStopCheck(tokenizer, [''])).toThrow(RangeError);
});
