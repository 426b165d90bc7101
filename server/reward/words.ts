/** Words as the article counts them: `[a-zA-Z][a-zA-Z0-9_-]+` in the lower-cased text. */
import type { Canvas } from '../../schemas/canvas.ts';

const WORD = /[a-z][a-z0-9_-]+/g;
const IMPORTANT_LENGTH = 4;

export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(WORD) ?? [];
}

/** Prompts come again and again, once for each completion of a group; the words of this many are kept. */
const MAX_KEPT = 1024;
const kept = new Map<string, ReadonlySet<string>>();

/** The prompt's words of 4 or more characters, each once, in the order of the prompt. */
export function importantWords(prompt: string): ReadonlySet<string> {
  const known = kept.get(prompt);
  if (known !== undefined) return known;
  const important = new Set(wordsOf(prompt).filter((word) => word.length >= IMPORTANT_LENGTH));
  if (kept.size >= MAX_KEPT) kept.clear();
  kept.set(prompt, important);
  return important;
}

/** The words that no label holds, of shapes and of arrows, in their order. */
export function missingWords(words: Iterable<string>, { shapes, arrows }: Canvas): string[] {
  let labels = '';
  for (const { text } of shapes) labels += `${text}\n`;
  for (const { text } of arrows) labels += `${text}\n`;
  labels = labels.toLowerCase();
  const missing: string[] = [];
  for (const word of words) if (!holdsWord(labels, word)) missing.push(word);
  return missing;
}

/** Whether `word` is one of `wordsOf(text)`, both in lower case; searches for that one instead of reading them all. */
export function holdsWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (!isInWord(text.charCodeAt(at + word.length)) && !isInside(text, at)) return true;
  }
  return false;
}

/** Whether a word that began before `at` goes on there: digits, `_` and `-` begin none. */
function isInside(text: string, at: number): boolean {
  for (let i = at - 1; i >= 0 && isInWord(text.charCodeAt(i)); i--) if (isLetter(text.charCodeAt(i))) return true;
  return false;
}

function isLetter(code: number): boolean {
  return code >= 97 && code <= 122;
}

/** Letters, digits, `_` and `-`; NaN, beyond the end, is none. */
function isInWord(code: number): boolean {
  return isLetter(code) || (code >= 48 && code <= 57) || code === 95 || code === 45;
}
