/** The tokenizer: exact round trips, words the same everywhere, actions in few tokens. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createTokenizer, encodeCompletion, encodePrompt, trainTokenizer } from '../../trainer/tokenizer.ts';

const FRAGMENTS = [
  '{"actions":[{"type":"create_shape","id":"',
  '","shape":"rectangle","x":',
  ',"y":',
  ',"w":160,"h":80,"text":"',
];
const box = (label: string, x: number): string =>
  `"type":"create_shape","id":"${label}","shape":"rectangle","x":${x},"y":40,"w":160,"h":80,"text":"${label}"`;
const drawing = (a: string, b: string): string =>
  `{"actions":[{${box(a, 40)}},{${box(b, 280)}},{"type":"connect","from":"${a}","to":"${b}"}]}`;
const LABELS = ['Browser', 'Order Queue', 'Database', 'Order Service', 'Phone', 'Cache'];
const examples = LABELS.flatMap((a) =>
  LABELS.filter((b) => a !== b).map((b) => ({
    prompt: `Draw a pipeline with boxes: ${a}, ${b}. Arrows: ${a} to ${b}.\n`,
    completion: drawing(a, b),
  })),
);
const tokenizer = trainTokenizer(examples);
const tokensOf = (text: string): string[] => tokenizer.encode(text).map((id) => tokenizer.decode([id]));

describe('decode(encode(text)) is the text', () => {
  test.each([
    ['an unknown word', 'Zookeeper'],
    ['accents, a combining mark', 'naïve Z\u0301 é'],
    ['other scripts and an emoji', '注文キュー Очередь 👩‍🚀'],
    ['the mark, the escape and what they become', '\uE000 a\uE000 \uE001\uE002 \uE001 \uE003\uE004'],
    ['a byte order mark', '\uFEFFa\uFEFF'],
    ['control characters', '\0\t\r\n\u007F\u0085'],
    ['text that looks like byte tokens', '<0x41><0xE2>'],
    ['names of control tokens', '<eos><bos> <pad><eos'],
    ['spaces before punctuation', "it 's , fine ."],
    ['nothing', ''],
  ])('%s', (_name, text) => {
    expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
  });

  test('any well-formed string', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme' }),
      fc
        .array(fc.constantFrom(...LABELS, ...FRAGMENTS, ' to ', ', ', 'a', '\uE000', '\uE001', '<'))
        .map((all) => all.join('')),
    );
    fc.assert(
      fc.property(text, (value) => {
        expect(tokenizer.decode(tokenizer.encode(value))).toBe(value);
      }),
      { seed: 31, numRuns: 500 },
    );
  });
});

test('a label has the same tokens in a prompt and in JSON, known or not', () => {
  for (const label of ['Order Queue', 'Browser', 'Kafka Mirror', 'Größe 7']) {
    const own = tokenizer.encode(label).join();
    for (const text of [`boxes: ${label}, X`, `"id":"${label}","shape"`, `${label} to ${label}.\n`]) {
      expect(`,${tokenizer.encode(text).join()},`).toContain(`,${own},`);
    }
  }
});

test('known words, coordinates and fragments are one token each; the last piece of an unknown word says that it ends', () => {
  expect(tokensOf('Order Queue, 120')).toEqual(['Order', ' ', 'Queue', ', ', '120']);
  expect(tokensOf(FRAGMENTS[0]!)).toEqual([FRAGMENTS[0]]);
  expect(tokensOf(drawing('Browser', 'Cache'))).toHaveLength(21);
  const [inner, last] = [tokenizer.encode('xq'), tokenizer.encode('x')];
  expect(inner[0]).not.toBe(last[0]);
});

test.each([
  ['{"type":"move_shape","id":"Cache","x":40,"y":60}', 10],
  ['{"type":"disconnect","from":"Cache","to":"Phone"}', 9],
  ['{"type":"connect","from":"Cache","to":"Phone","text":"reads"}', 15],
  ['{"type":"done"}', 6],
])('%s takes at most %d tokens, though the examples have none', (action, most) => {
  expect(tokensOf(`{"actions":[${action}]}`).length).toBeLessThanOrEqual(most);
});

test('no text becomes a control token, and control tokens leave no text', () => {
  const control = [tokenizer.pad_id, tokenizer.bos_id, tokenizer.eos_id];
  expect(tokenizer.encode('<pad><bos><eos>').some((id) => control.includes(id))).toBe(false);
  expect(encodePrompt(tokenizer, '')).toEqual([tokenizer.bos_id]);
  expect(encodeCompletion(tokenizer, '')).toEqual([tokenizer.eos_id]);
  expect(tokenizer.decode([tokenizer.bos_id, ...tokenizer.encode('a'), tokenizer.eos_id])).toBe('a');
});

test('every id is below the size, and ids that were sampled need not be UTF-8', () => {
  const ids = tokenizer.encode(examples.map(({ prompt, completion }) => prompt + completion).join('漢'));
  expect(Math.max(...ids)).toBeLessThan(tokenizer.vocab_size);
  const [lead] = tokenizer.encode('漢');
  expect(tokenizer.decode([lead!, ...tokenizer.encode('a')])).toBe('\uFFFDa');
});

test('equal examples give an equal tokenizer, and its files give it back', () => {
  expect(trainTokenizer(examples).json).toEqual(tokenizer.json);
  const files = JSON.parse(JSON.stringify([tokenizer.json, tokenizer.config_json])) as [object, object];
  const text = examples[3]!.prompt + examples[3]!.completion;
  expect(createTokenizer(...files).encode(text)).toEqual(tokenizer.encode(text));
});
