/** Texts that a chat template has been applied to: the response is found and nothing else, whatever the template. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stripSpecialTokens, toResponseText, toUserText } from '../../server/protocols/remote-reward/chat-text.ts';

const ANSWER = '{"actions": [{"type": "done"}]}';
const ASK = 'Draw a cat & a dog.\n\nTwo boxes.';
/** What a prompt may show as an example, and what must not be scored as the answer. */
const SYSTEM = 'Answer like this: {"actions": [{"type": "example"}]}';

/** [name, prompt with a system message and the header of the answer, what ends the answer] */
const TEMPLATES = [
  [
    'ChatML',
    `<|im_start|>system\n${SYSTEM}<|im_end|>\n<|im_start|>user\n${ASK}<|im_end|>\n<|im_start|>assistant\n`,
    '<|im_end|>',
  ],
  [
    'Llama 3',
    `<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\n${SYSTEM}<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n${ASK}<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n`,
    '<|eot_id|>',
  ],
  [
    'Llama 4',
    `<|begin_of_text|><|header_start|>system<|header_end|>\n\n${SYSTEM}<|eot|><|header_start|>user<|header_end|>\n\n${ASK}<|eot|><|header_start|>assistant<|header_end|>\n\n`,
    '<|eot|>',
  ],
  [
    'Gemma',
    `<bos><start_of_turn>user\nHello<end_of_turn>\n<start_of_turn>model\n${SYSTEM}<end_of_turn>\n<start_of_turn>user\n${ASK}<end_of_turn>\n<start_of_turn>model\n`,
    '<end_of_turn>',
  ],
  ['Mistral', `<s>[SYSTEM_PROMPT]${SYSTEM}[/SYSTEM_PROMPT][INST] ${ASK} [/INST]`, '</s>'],
  ['Phi', `<|system|>\n${SYSTEM}<|end|>\n<|user|>\n${ASK}<|end|>\n<|assistant|>\n`, '<|end|><|endoftext|>'],
  ['Zephyr', `<|system|>\n${SYSTEM}</s>\n<|user|>\n${ASK}</s>\n<|assistant|>\n`, '</s>'],
  ['DeepSeek', `<｜begin▁of▁sentence｜>${SYSTEM}<｜User｜>${ASK}<｜Assistant｜>`, '<｜end▁of▁sentence｜>'],
  [
    'gpt-oss',
    `<|start|>system<|message|>${SYSTEM}<|end|><|start|>user<|message|>${ASK}<|end|><|start|>assistant<|channel|>final<|message|>`,
    '<|return|>',
  ],
] as const;

describe.each(TEMPLATES)('%s', (name, prompt, end) => {
  const query = prompt + ANSWER + end;

  test('the response follows the prompt', () => {
    expect(toResponseText(query, prompt)).toBe(ANSWER);
  });

  test('a prompt that lost its white space and special tokens is found', () => {
    const decoded = prompt
      .replace(/^(<s>|<bos>|<\|begin_of_text\|>|<｜begin▁of▁sentence｜>)/, '')
      .replaceAll('\n', ' ');
    expect(toResponseText(query, decoded)).toBe(ANSWER);
  });

  test('padding in front of the query does not matter', () => {
    expect(toResponseText(`<|endoftext|><pad> ${query}`, prompt)).toBe(ANSWER);
  });

  test('a prompt that was cut at its left is found by its end', () => {
    expect(toResponseText(query.slice(40), prompt)).toBe(ANSWER);
  });

  test('a prompt without the template is found inside its turn', () => {
    const expected = name === 'gpt-oss' ? `<|channel|>final<|message|>${ANSWER}` : ANSWER;
    expect(toResponseText(query, ASK)).toBe(expected);
  });

  test('without a prompt the text is a response as a whole', () => {
    expect(toResponseText(`Well. ${query}`, undefined)).toBe(`Well. ${prompt}${ANSWER}`.trim());
  });

  test('headers in a response move nothing', () => {
    const response = `Well. ${prompt}${ANSWER}`;
    expect(toResponseText(prompt + response + end, prompt)).toBe(response);
    expect(toResponseText(query.slice(0, 40) + prompt + response, prompt)?.endsWith(response)).toBe(true);
  });

  test("a query that was cut before the answer has none: the prompt's own examples are not taken for it", () => {
    const shots = `${prompt}${ANSWER}${end}\n${prompt.replaceAll(ASK, 'Now draw two cats')}`;
    expect(toResponseText(shots.slice(0, prompt.length + ANSWER.length), shots)).toBeUndefined();
    expect(toResponseText(shots + ANSWER, shots)).toBe(ANSWER);
  });

  test('what the user said last', () => {
    expect(toUserText(prompt)).toBe(ASK);
  });

  test('an empty response is empty', () => {
    expect(toResponseText(prompt + end, prompt)).toBe('');
  });
});

test('a prompt that is not there, without a header, is no answer', () => {
  expect(toResponseText(`${SYSTEM}\n${ANSWER}`, 'Something else')).toBeUndefined();
  expect(toResponseText(`${SYSTEM}\n${ANSWER}`, undefined)).toBe(`${SYSTEM}\n${ANSWER}`);
});

test('a text without a template is what the user said', () => {
  expect(toUserText(' Draw <s> here </s>\n')).toBe('Draw <s> here');
});

test.each([
  ['tokens at the end', `${ANSWER}<|im_end|>\n<|endoftext|>`, ANSWER],
  ['tokens in front', `<s> <|im_end|>${ANSWER}`, ANSWER],
  ['tokens inside stay: a label may hold them', '{"text": "</s> <|im_end|>"}</s>', '{"text": "</s> <|im_end|>"}'],
  ['only tokens', '<pad><pad></s>', ''],
  ['nothing', '', ''],
  ['a bracket that begins no token', '[1]<x>', '[1]<x>'],
])('special tokens: %s', (_, text, expected) => {
  expect(stripSpecialTokens(text)).toBe(expected);
});

test('a prompt with its response: the response comes back, trimmed (seeded property)', () => {
  const words = fc.string({ maxLength: 40 });
  fc.assert(
    fc.property(
      words,
      words,
      (prompt, response) => toResponseText(prompt + response, prompt) === stripSpecialTokens(response),
    ),
    { seed: 20_261_130, numRuns: 2000 },
  );
});

describe('a few-shot prompt, whose own end stands in it several times', () => {
  const RULE = 'Answer with one JSON object of actions and nothing else, please.';
  const turn = (ask: string): string => `<|im_start|>user\n${ask} ${RULE}<|im_end|>\n<|im_start|>assistant\n`;
  const system = `<|im_start|>system\nDraw. ${RULE}<|im_end|>\n`;
  const shots = `${turn('Draw a cat.')}${ANSWER}<|im_end|>\n${turn('Draw a hen.')}${ANSWER}<|im_end|>\n`;
  const prompt = `${system}${shots}${turn('Draw a dog.')}`;
  const refusal = 'I cannot draw.';
  const loud = `${prompt}${turn('Draw a dog.')}${refusal}`;

  test.each([refusal, loud, ''])('that was cut anywhere at its left: %#', (response) => {
    const latest = prompt.length - turn('').length;
    for (let cut = 0; cut <= latest; cut++) {
      expect(toResponseText(`${prompt.slice(cut)}${response}<|im_end|>`, prompt), String(cut)).toBe(response.trim());
    }
  });

  test('that was cut within a character', () => {
    expect(toResponseText(`\ufffd\ufffd${prompt.slice(300)}${refusal}`, prompt)).toBe(refusal);
  });

  test('that is text of a turn, whatever the system message ends with', () => {
    const ask = `Draw a cat. ${RULE}\n${ANSWER}\nDraw a dog. ${RULE}`;
    const query = `${system}<|im_start|>user\n${ask}<|im_end|>\n<|im_start|>assistant\n`;
    expect(toResponseText(query + refusal, ask)).toBe(refusal);
    expect(toResponseText(query + loud, ask)).toBe(stripSpecialTokens(loud));
  });

  test('of which a character differs', () => {
    const changed = prompt.replace('hen', 'h\u00e8n');
    expect(toResponseText(`<|begin|>${changed}${refusal}`, prompt)).toBe(refusal);
    expect(toResponseText(changed.slice(20) + refusal, prompt)).toBe(refusal);
  });

  test('of which too little is left', () => {
    expect(toResponseText(`${prompt.slice(-40)}${refusal}`, prompt)).toBeUndefined();
  });
});

/** The least of three times, ms. */
function bestTime(run: () => void): number {
  return Math.min(
    ...[1, 2, 3].map(() => {
      const start = performance.now();
      run();
      return performance.now() - start;
    }),
  );
}

test.each<[string, (size: number) => unknown]>([
  ['tokens alone', (size) => stripSpecialTokens('<pad>'.repeat(size))],
  ['a prompt that is not there', (size) => toResponseText('<pad>'.repeat(size), 'a'.repeat(size))],
  ['a prompt of one letter', (size) => toResponseText(`b${'a'.repeat(size)}`, `c${'a'.repeat(size)}`)],
  [
    'a prompt of one turn, again and again',
    (size) => toResponseText('to draw '.repeat(size), `! ${'to draw '.repeat(size)}`),
  ],
])('time grows with the length and no faster: %s', (_, run) => {
  expect(bestTime(() => run(200_000))).toBeLessThan(Math.max(50, 4 * bestTime(() => run(100_000))));
});
