/**
 * Depth, repeated keys and length of JSON. The depth limit holds before anything that recurses without one sees the value
 * (JSON.stringify, structuredClone, validation); JSON.parse itself is safe at any depth.
 */
import { MAX_DEPTH } from './limits.ts';

const QUOTE = 34;
const COLON = 58;
const BACKSLASH = 92;

/** What `countKeys` returns for a value that nests deeper than MAX_DEPTH. */
export const TOO_DEEP = -1;

/** Keys in a value, nested ones included, or TOO_DEEP. A cycle is too deep; the first branch that is ends the walk. */
export function countKeys(value: unknown, depth = 0): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (depth >= MAX_DEPTH) return TOO_DEEP;
  return Array.isArray(value) ? countInList(value, depth) : countInRecord(value as Record<string, unknown>, depth);
}

function countInList(list: readonly unknown[], depth: number): number {
  let count = 0;
  for (const item of list) {
    const inside = countKeys(item, depth + 1);
    if (inside === TOO_DEEP) return TOO_DEEP;
    count += inside;
  }
  return count;
}

function countInRecord(record: Record<string, unknown>, depth: number): number {
  let count = 0;
  for (const key in record) {
    count++;
    const child = record[key];
    if (typeof child !== 'object') continue;
    const inside = countKeys(child, depth + 1);
    if (inside === TOO_DEEP) return TOO_DEEP;
    count += inside;
  }
  return count;
}

/** Whether JSON text writes more `key: value` pairs than its value has keys, so that one key hides another. */
export function hidesKeys(text: string, keys: number): boolean {
  return hasMoreColons(text, keys) && countWrittenKeys(text) > keys;
}

/** Searching with `indexOf` takes a fifth of the time of a look at each character. */
function hasMoreColons(text: string, most: number): boolean {
  let colons = 0;
  for (let at = text.indexOf(':'); at >= 0; at = text.indexOf(':', at + 1)) if (++colons > most) return true;
  return false;
}

/** Colons outside of strings, in text that JSON.parse has accepted. */
function countWrittenKeys(text: string): number {
  let keys = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = closingQuote(text, i);
    else if (code === COLON) keys++;
  }
  return keys;
}

function closingQuote(text: string, open: number): number {
  let i = open + 1;
  while (i < text.length && text.charCodeAt(i) !== QUOTE) i += text.charCodeAt(i) === BACKSLASH ? 2 : 1;
  return i;
}

/** What numbers and signs count, characters. */
const SCALAR_LENGTH = 4;

function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return Array.isArray(value) ? value.length : SCALAR_LENGTH;
}

/** Whether a parsed value has more characters than a limit, about; looks no further than that, and bears any nesting. */
export function isLongerThan(root: unknown, limit: number): boolean {
  const open: unknown[] = [root];
  let length = 0;
  while (open.length > 0) {
    const value = open.pop();
    length += lengthOf(value);
    if (length > limit) return true;
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value)) for (const key in value) length += key.length;
    for (const item of Object.values(value)) open.push(item);
  }
  return length > limit;
}
