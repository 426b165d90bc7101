/** Small text tools of the prompt writers. */
import type { Rng } from '../../../schemas/seed.ts';

/** Replaces each {key}; values are not searched again. Throws on a key that has no value, which is a fault of a wording. */
export function fill(pattern: string, values: Readonly<Record<string, string>>): string {
  return pattern.replace(/\{(\w+)\}/g, (_, key: string) => {
    const value = values[key];
    if (value === undefined) throw new Error(`wording asks for {${key}}: ${pattern}`);
    return value;
  });
}

export const quote = (label: string): string => `"${label}"`;
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** How prose refers to each box: its label in quotes, with "the first" or "the second" where two share it. */
export function toNames(labels: readonly string[]): string[] {
  return labels.map((label, i) => {
    if (labels.indexOf(label) === labels.lastIndexOf(label)) return quote(label);
    return `the ${labels.indexOf(label) === i ? 'first' : 'second'} ${quote(label)}`;
  });
}

/** Says how "the first" and "the second" are counted, where two boxes share a label; `pattern` has a placeholder `name`. */
export function explainRepeats(labels: readonly string[], pattern: string): string[] {
  const repeated = labels.find((label, i) => labels.indexOf(label) < i);
  return repeated === undefined ? [] : [fill(pattern, { name: quote(repeated) })];
}

/** "A", "A and B", "A, B and C". */
export function enumerate(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)!}`;
}

/** Swaps two neighbouring inner letters. */
function misspellWord(word: string, rng: Rng): string {
  const at = rng.int(1, word.length - 3);
  return word.slice(0, at) + word.charAt(at + 1) + word.charAt(at) + word.slice(at + 2);
}

/** Misspells each word of five letters or more outside quotation marks with chance `share`; names stay as they are. */
export function misspell(text: string, rng: Rng, share: number): string {
  const quotedOrWord = /"[^"]*"|[a-z]{5,}/g;
  return text.replace(quotedOrWord, (match) =>
    match.startsWith('"') || rng.next() >= share ? match : misspellWord(match, rng),
  );
}
