/** Words as the article counts them: `[a-zA-Z][a-zA-Z0-9_-]+` in the lower-cased text. */
import type { Canvas } from '../../schemas/canvas.ts';

const WORD = /[a-z][a-z0-9_-]+/g;
const IMPORTANT_LENGTH = 4;

export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(WORD) ?? [];
}

/** The prompt's words of 4 or more characters, each once, in the order of the prompt. */
export function importantWords(prompt: string): Set<string> {
  const important = new Set<string>();
  for (const word of wordsOf(prompt)) if (word.length >= IMPORTANT_LENGTH) important.add(word);
  return important;
}

/** Every word of every label, of shapes and of arrows. */
export function labelWords(canvas: Canvas): Set<string> {
  const words = new Set<string>();
  for (const { text } of canvas.shapes) for (const word of wordsOf(text)) words.add(word);
  for (const { text } of canvas.arrows) for (const word of wordsOf(text)) words.add(word);
  return words;
}
