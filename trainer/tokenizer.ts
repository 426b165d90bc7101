/**
 * The tokenizer: a Hugging Face tokenizer.json, run by @huggingface/tokenizers here and by transformers elsewhere, with
 * equal ids. It is a BPE with byte fallback, so any Unicode text can be written, and decode(encode(text)) is the text.
 *
 * Two things are not usual. A mark (WORD_END) is put behind every run of ASCII letters and digits before BPE and dropped
 * when decoding, so that the last piece of a word says that the word ends. And fragments, phrases and separators are
 * added tokens, matched before anything else, longest first.
 */
import { Tokenizer as HuggingFaceTokenizer } from '@huggingface/tokenizers';
import { chooseVocabulary, DEFAULT_VOCABULARY_OPTIONS, WORD_END } from './vocabulary.ts';
import type { TextPair, Vocabulary, VocabularyOptions } from './vocabulary.ts';

export const SPECIAL_TOKENS = ['<pad>', '<bos>', '<eos>'] as const;

/** What is used of the library, whose own declarations do not resolve under NodeNext. */
interface InnerTokenizer {
  encode(text: string, options: { add_special_tokens: boolean }): { ids: number[] };
  decode(ids: number[], options: { clean_up_tokenization_spaces: boolean }): string;
  token_to_id(token: string): number | undefined;
  id_to_token(id: number): string | undefined;
  get_vocab(): Map<string, number>;
}
const InnerTokenizer = HuggingFaceTokenizer as unknown as new (json: object, config: object) => InnerTokenizer;

/** Cuts a text inside each special token's name, so that no text ever becomes a control token. */
const INSIDE_SPECIAL = /(?<=<)(?=(?:pad|bos|eos)>)/;

export interface Tokenizer {
  readonly vocab_size: number;
  readonly pad_id: number;
  readonly bos_id: number;
  readonly eos_id: number;
  /** Ids of a text. No text gives <pad>, <bos> or <eos>, not even their names. */
  encode(text: string): number[];
  /** Text of ids; <pad>, <bos> and <eos> are left out. Bytes that are no UTF-8 become U+FFFD. */
  decode(ids: readonly number[]): string;
  /** Whether a token is part of a word, as opposed to a fragment, phrase, separator, number or punctuation. */
  isWord(id: number): boolean;
  /** Contents of tokenizer.json and tokenizer_config.json. */
  readonly json: object;
  readonly config_json: object;
}

/** What the policy reads for a prompt: <bos> and the prompt. */
export function encodePrompt(tokenizer: Tokenizer, prompt: string): number[] {
  return [tokenizer.bos_id, ...tokenizer.encode(prompt)];
}

/** What the policy writes: the completion and <eos>. */
export function encodeCompletion(tokenizer: Tokenizer, completion: string): number[] {
  return [...tokenizer.encode(completion), tokenizer.eos_id];
}

/** A tokenizer for the language of these examples. */
export function trainTokenizer(
  examples: readonly TextPair[],
  options: VocabularyOptions = DEFAULT_VOCABULARY_OPTIONS,
): Tokenizer {
  return createTokenizer(toTokenizerJson(chooseVocabulary(examples, options)), CONFIG_JSON);
}

const CONFIG_JSON = {
  tokenizer_class: 'PreTrainedTokenizerFast',
  pad_token: '<pad>',
  bos_token: '<bos>',
  eos_token: '<eos>',
  clean_up_tokenization_spaces: false,
};

/**
 * Takes up a tokenizer from the contents of its two files.
 * @throws Error if a special token is missing
 */
export function createTokenizer(json: object, configJson: object): Tokenizer {
  const inner = new InnerTokenizer(json, configJson);
  const special = SPECIAL_TOKENS.map((token) => {
    const id = inner.token_to_id(token);
    if (id === undefined) throw new Error(`the tokenizer has no ${token}`);
    return id;
  });
  const size = inner.get_vocab().size;
  const words = Array.from({ length: size }, (_, id) => isWordToken(inner.id_to_token(id) ?? ''));
  return {
    vocab_size: size,
    pad_id: special[0]!,
    bos_id: special[1]!,
    eos_id: special[2]!,
    encode: (text) =>
      text.split(INSIDE_SPECIAL).flatMap((part) => inner.encode(part, { add_special_tokens: false }).ids),
    decode: (ids) => {
      const plain = ids.filter((id) => !special.includes(id));
      return plain.length === 0 ? '' : inner.decode(plain, { clean_up_tokenization_spaces: false });
    },
    isWord: (id) => words[id] ?? false,
    json,
    config_json: configJson,
  };
}

function isWordToken(token: string): boolean {
  return /^[A-Za-z0-9]*[A-Za-z][A-Za-z0-9]*\uE000?$/.test(token);
}

/** Characters that stand for themselves; all others are written as UTF-8 bytes. */
const PLAIN_CHARACTERS = [
  '\n',
  ...Array.from({ length: 0x7f - 0x20 }, (_, i) => String.fromCharCode(0x20 + i)), // ASCII, printable
];

/** Bytes that occur in the UTF-8 of the other characters: ASCII controls, continuation bytes, lead bytes. */
const FALLBACK_BYTES = [...range(0x00, 0x1f), 0x7f, ...range(0x80, 0xbf), ...range(0xc2, 0xf4)];

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

/**
 * Escapes for the characters that mean something to the format itself: the mark, the escape character, and the byte
 * order mark, which some decoders drop from the front of a run of bytes.
 */
const ESCAPE = '\uE001';
const ESCAPES: readonly [string, string][] = [
  [ESCAPE, `${ESCAPE}\uE002`],
  [WORD_END, `${ESCAPE}\uE003`],
  ['\uFEFF', `${ESCAPE}\uE004`],
];

function toTokenizerJson({ fixed, words, merges }: Vocabulary): object {
  const bytes = FALLBACK_BYTES.map((byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
  const pieces = merges.map(([left, right]) => left + right);
  const whole = words.map((word) => word + WORD_END);
  const tokens = [...SPECIAL_TOKENS, ...fixed, ...bytes, ...PLAIN_CHARACTERS, WORD_END, ...pieces, ...whole];
  const ids = new Map([...new Set(tokens)].map((token, id) => [token, id]));
  const addedToken = (content: string, special: boolean) => ({
    ...{ id: ids.get(content)!, content, special },
    ...{ single_word: false, lstrip: false, rstrip: false, normalized: false },
  });
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [
      ...SPECIAL_TOKENS.map((token) => addedToken(token, true)),
      ...fixed.map((token) => addedToken(token, false)),
    ],
    normalizer: {
      type: 'Sequence',
      normalizers: [
        ...ESCAPES.map(([character, escaped]) => replace({ String: character }, escaped)),
        replace({ Regex: '(?<=[A-Za-z0-9])(?![A-Za-z0-9])' }, WORD_END),
      ],
    },
    pre_tokenizer: {
      type: 'Split',
      pattern: { Regex: `[A-Za-z0-9]+${WORD_END}` },
      behavior: 'Isolated',
      invert: false,
    },
    // For Python's readers, which prepend <bos> only where this says so; encodePrompt does it here.
    post_processor: prepend(SPECIAL_TOKENS[1], ids.get(SPECIAL_TOKENS[1])!),
    decoder: {
      type: 'Sequence',
      decoders: [
        { type: 'ByteFallback' },
        { type: 'Fuse' },
        replace({ String: WORD_END }, ''),
        ...[...ESCAPES].reverse().map(([character, escaped]) => replace({ String: escaped }, character)),
      ],
    },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: true,
      ignore_merges: true,
      vocab: Object.fromEntries(ids),
      merges,
    },
  };
}

function prepend(token: string, id: number): object {
  const special = { SpecialToken: { id: token, type_id: 0 } };
  const text = { Sequence: { id: 'A', type_id: 0 } };
  return {
    type: 'TemplateProcessing',
    single: [special, text],
    pair: [special, text, { Sequence: { id: 'B', type_id: 0 } }],
    special_tokens: { [token]: { id: token, ids: [id], tokens: [token] } },
  };
}

function replace(pattern: { String: string } | { Regex: string }, content: string): object {
  return { type: 'Replace', pattern, content };
}
