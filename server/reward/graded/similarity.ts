/**
 * How alike two labels are, from 0 to 1: `sim` of the graded reward. Symmetric, and never a substring test: a label that
 * contains the right one among others is another label.
 */
import { distance } from 'fastest-levenshtein';

/** Labels less alike than this have nothing to do with each other. */
const LEAST_SIMILARITY = 0.6;

/** A label prepared for comparison. */
export interface Label {
  /** NFKC, case-folded, invisible characters removed, white space collapsed; "" if nothing is visible. */
  readonly text: string;
  /** Sorted words and CJK bigrams; made when first needed. */
  tokens: readonly string[] | undefined;
}

const PLAIN = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;
/** Bidirectional controls, joiners, variation selectors, fillers; the Braille blank is visible to nobody either. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\u2800]/gu;
const SPACE = /\s+/g;

/** A label as readers tell it from others: letter case, width variants and invisible characters do not count. */
export function normalizeLabel(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase();
  const spaced = text.replace(SPACE, ' ').normalize('NFKC').replace(INVISIBLE, '');
  return spaced.toUpperCase().toLowerCase().replace(SPACE, ' ').trim();
}

export const toLabel = (text: string): Label => ({ text: normalizeLabel(text), tokens: undefined });

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const CJK_RUN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]+|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]+/gu;
const IS_CJK = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]/u;

function tokensOf(label: Label): readonly string[] {
  label.tokens ??= tokenize(label.text).sort();
  return label.tokens;
}

/** Words; a run of CJK characters, which has no spaces between words, gives its overlapping pairs instead. */
function tokenize(text: string): string[] {
  const tokens: string[] = [];
  for (const word of text.match(WORD) ?? []) {
    for (const run of word.match(CJK_RUN) ?? []) {
      if (IS_CJK.test(run)) pushBigrams(run, tokens);
      else tokens.push(run);
    }
  }
  return tokens;
}

function pushBigrams(run: string, tokens: string[]): void {
  const characters = Array.from(run);
  if (characters.length === 1) tokens.push(run);
  for (let i = 1; i < characters.length; i++) tokens.push(characters[i - 1]! + characters[i]!);
}

/** 1 for equal labels, else the larger of edit similarity and Dice coefficient; 0 below 0.6 and for blank labels. */
export function similarity(a: Label, b: Label): number {
  if (a.text === '' || b.text === '') return 0;
  if (a.text === b.text) return 1;
  const best = Math.max(editSimilarity(a.text, b.text), dice(tokensOf(a), tokensOf(b)));
  return best < LEAST_SIMILARITY ? 0 : best;
}

/** 1 - Levenshtein distance / longer length, in UTF-16 units; 0 where lengths or letters alone put it below 0.6. */
export function editSimilarity(a: string, b: string): number {
  const longer = Math.max(a.length, b.length);
  if (Math.min(a.length, b.length) < LEAST_SIMILARITY * longer) return 0;
  if (longer >= LONG && 1 - (longer - sharedLetters(a, b)) / longer < LEAST_SIMILARITY) return 0;
  return 1 - distance(a, b) / longer;
}

/** From here on the distance, which grows with the square of the length, costs more than counting letters. */
const LONG = 64;
const COUNTS = new Int32Array(256);

/**
 * At least the number of code units two texts have in common, in any order: no edit leaves more of the longer one
 * standing, so the distance is at least its length less this. Letters that are equal modulo 256 count as equal.
 */
function sharedLetters(a: string, b: string): number {
  COUNTS.fill(0);
  for (let i = 0; i < a.length; i++) COUNTS[a.charCodeAt(i) & 255]!++;
  let shared = 0;
  for (let i = 0; i < b.length; i++) if (COUNTS[b.charCodeAt(i) & 255]!-- > 0) shared++;
  return shared;
}

/** 2 |A and B| / (|A| + |B|) on two sorted multisets (Dice 1945, Sorensen 1948). */
function dice(a: readonly string[], b: readonly string[]): number {
  let shared = 0;
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) [shared, i, j] = [shared + 1, i + 1, j + 1];
    else if (a[i]! < b[j]!) i++;
    else j++;
  }
  return shared === 0 ? 0 : (2 * shared) / (a.length + b.length);
}
