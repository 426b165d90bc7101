/**
 * Choosing a vocabulary from examples: which strings become one token.
 *
 * What a tiny model learns from few tokens depends on this more than on anything else, so the vocabulary is built around
 * the task: fixed parts of the action JSON are single tokens (fragments), so are the recurring parts of prompts between
 * the labels (phrases), words are single tokens or pieces, and a word has the same tokens in a prompt and in the JSON.
 */

/** A prompt and its completion, as text. */
export interface TextPair {
  readonly prompt: string;
  readonly completion: string;
}

export interface VocabularyOptions {
  /** Words kept whole, most frequent first. */
  readonly max_words: number;
  /** Recurring parts of prompts kept whole. */
  readonly max_phrases: number;
  /** Recurring parts of completions kept whole. */
  readonly max_fragments: number;
  /** Merges of word pieces, for words that are not kept whole. */
  readonly merges: number;
  /** Times a word, phrase or fragment must occur to be kept whole. */
  readonly min_count: number;
}

export const DEFAULT_VOCABULARY_OPTIONS: VocabularyOptions = {
  max_words: 420,
  max_phrases: 120,
  max_fragments: 60,
  merges: 60,
  min_count: 3,
};

export interface Vocabulary {
  /** Matched first, longest first, anywhere in a text: fragments, phrases and separators. */
  readonly fixed: string[];
  readonly words: string[];
  /** Pairs of pieces to join, in order; a piece that ends a word carries WORD_END. */
  readonly merges: [string, string][];
}

/** Marks the last piece of a word; a private-use character, so it is told from text by escaping. */
export const WORD_END = '\uE000';

/** Pieces of action JSON that let any action be written in few tokens, whatever the examples hold. */
const JSON_PIECES = [
  ...['{"actions":[{"type":"', '"},{"type":"', '},{"type":"', '"}]}', '}]}', '"]}', '{"actions":[]}'],
  ...['","id":"', '","shape":"', '","x":', ',"y":', ',"w":', ',"h":', ',"text":"', '","text":"'],
  ...['","from":"', '","to":"', '","'],
  ...['create_shape', 'move_shape', 'resize_shape', 'set_text', 'delete_shape'].map((type) => `${type}","id":"`),
  ...['connect","from":"', 'disconnect","from":"', 'select","ids":["', 'done"}'],
  ...['rectangle', 'ellipse', 'diamond', 'text'].map((shape) => `${shape}","x":`),
];

const SEPARATORS = [', ', '. ', ': ', '; ', ' to ', ' and ', ', then ', ' -> ', '.\n', ' (', ') '];

/** Coordinates the teacher writes. */
const GRID_PX = 20;
const GRID_END_PX = 1200;

/** Chooses what becomes a token; equal examples and options give an equal vocabulary. */
export function chooseVocabulary(examples: readonly TextPair[], options: VocabularyOptions): Vocabulary {
  const parts = examples.map(cutExample);
  const fragments = mostFrequent(
    parts.flatMap((part) => part.fragments),
    options.max_fragments,
    options.min_count,
  );
  const phrases = mostFrequent(
    parts.flatMap((part) => part.phrases).filter(isSafePhrase),
    options.max_phrases,
    options.min_count,
  );
  const fixed = [...new Set([...JSON_PIECES, ...SEPARATORS, ...fragments, ...phrases])];
  const isFixed = new Set(fixed);
  const plain = parts.flatMap(({ values, phrases: all }) => [...values, ...all.filter((text) => !isFixed.has(text))]);
  const counted = plain.flatMap((text) => text.match(/[A-Za-z0-9]+/g) ?? []);
  const words = mostFrequent(
    counted.filter((word) => /[A-Za-z]/.test(word)),
    options.max_words,
    options.min_count,
  );
  const numbers = Array.from({ length: GRID_END_PX / GRID_PX + 1 }, (_, i) => String(i * GRID_PX));
  return { fixed, words: [...numbers, ...words], merges: learnMerges([...new Set(counted)].sort(), options.merges) };
}

/** Distinct strings by falling count, then by text. */
function mostFrequent(texts: readonly string[], limit: number, minCount: number): string[] {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count >= minCount)
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .slice(0, limit)
    .map(([text]) => text);
}

interface CutExample {
  /** Label texts and ids of the completion, with repeats. */
  readonly values: string[];
  /** What stands between values and coordinates in the completion. */
  readonly fragments: string[];
  /** What stands between labels in the prompt. */
  readonly phrases: string[];
}

const VALUE = /(?<="(?:id|from|to|text)":")(?:[^"\\]|\\.)*(?=")|(?<="(?:x|y)":)-?[\d.]+/g;

function cutExample({ prompt, completion }: TextPair): CutExample {
  const values = completion.match(VALUE) ?? [];
  const labels = values.filter((value) => /[^\d.-]/.test(value));
  const fragments = completion.split(VALUE).filter((fragment) => fragment !== '');
  return { values: labels, fragments, phrases: cutPrompt(prompt, labels) };
}

function cutPrompt(prompt: string, labels: readonly string[]): string[] {
  const longestFirst = [...new Set(labels)].sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
  if (longestFirst.length === 0) return [prompt];
  const pattern = longestFirst.map((label) => label.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|');
  return prompt.split(new RegExp(`(?<![A-Za-z0-9])(?:${pattern})(?![A-Za-z0-9])`, 'g')).filter((part) => part !== '');
}

/** A phrase must not begin or end inside what might be a word elsewhere, and one word alone stays a word. */
function isSafePhrase(phrase: string): boolean {
  return !/[A-Za-z0-9]$/.test(phrase) && (/^[^A-Za-z0-9]/.test(phrase) || phrase.includes(' '));
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/**
 * Byte-pair merges (Sennrich, Haddow, Birch 2016) over distinct words whose last letter carries WORD_END. The first 62
 * join each letter and digit with the mark; ties go to the pair that sorts first.
 */
function learnMerges(words: readonly string[], count: number): [string, string][] {
  const merges = Array.from(LETTERS, (letter): [string, string] => [letter, WORD_END]);
  const splits = words.map((word) => [...Array.from(word.slice(0, -1)), word.slice(-1) + WORD_END]);
  const counts = new Map<string, number>();
  const add = (pieces: readonly string[], by: 1 | -1): void => {
    for (const pair of pairsOf(pieces)) counts.set(pair, (counts.get(pair) ?? 0) + by);
  };
  for (const pieces of splits) add(pieces, 1);
  for (let i = 0; i < count; i++) {
    const pair = mostCommon(counts);
    if (pair === undefined) break;
    const [left, right] = pair.split(' ') as [string, string];
    merges.push([left, right]);
    for (const pieces of splits) {
      if (!pieces.some((piece, k) => piece === left && pieces[k + 1] === right)) continue;
      add(pieces, -1);
      joinPair(pieces, left, right);
      add(pieces, 1);
    }
  }
  return merges;
}

/** The pair that occurs most often, at least twice; of equals the one that sorts first. */
function mostCommon(counts: ReadonlyMap<string, number>): string | undefined {
  let best: string | undefined;
  let most = 2;
  for (const [pair, count] of counts) {
    if (count > most || (count === most && (best === undefined || pair < best))) [best, most] = [pair, count];
  }
  return best;
}

function pairsOf(pieces: readonly string[]): string[] {
  return pieces.slice(1).map((piece, i) => `${pieces[i]!} ${piece}`);
}

/** Joins left and right wherever they meet, in place. */
function joinPair(pieces: string[], left: string, right: string): void {
  for (let i = 0; i < pieces.length - 1; i++) {
    if (pieces[i] === left && pieces[i + 1] === right) pieces.splice(i, 2, left + right);
  }
}
