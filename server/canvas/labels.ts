/**
 * What becomes of labels and ids.
 *
 * Style `article` keeps both as they came. Style `lenient` cleans labels, since drivers cut text at NUL and bidi
 * overrides hide or reverse what a reader sees: control characters other than tab and line feed go, so do
 * U+202A..U+202E and U+2066..U+2069 (Unicode TR 9 embeddings, overrides, isolates), and half a surrogate pair becomes
 * U+FFFD. Letters stay in logical order. Ids with any of these are refused instead, as cleaning could make two equal.
 */
import type { Style } from './types.ts';

const UNCLEAN = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;
const REMOVED = /[^\P{Cc}\t\n]|[\u202a-\u202e\u2066-\u2069]/gu;
const LONE_SURROGATE = /\p{Cs}/gu;

/** The label in a field: a number becomes its decimal string, null and absent "", anything else undefined. */
export function toLabel(value: unknown, style: Style): string | undefined {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined;
  if (typeof value !== 'string') return undefined;
  return style === 'article' ? value : cleanLabel(value);
}

function cleanLabel(text: string): string {
  return UNCLEAN.test(text) ? text.replace(REMOVED, '').replace(LONE_SURROGATE, '\ufffd') : text;
}

export function isCleanId(id: string): boolean {
  return !UNCLEAN.test(id);
}
