/**
 * Depth and repeated keys of JSON, measured without recursion, so that the depth limit holds before anything that
 * recurses (JSON.stringify, structuredClone, validation) sees the value. JSON.parse itself is safe at any depth.
 */
import { MAX_DEPTH } from './limits.ts';

const QUOTE = 34;
const COLON = 58;
const BACKSLASH = 92;

export interface TextMeasure {
  /** Deepest nesting; a number or string alone has 0. */
  depth: number;
  /** `key: value` pairs as written, repeated keys included. */
  keys: number;
}

/** Measures text that JSON.parse has accepted. Linear in its length. */
export function measureText(text: string): TextMeasure {
  let depth = 0;
  let deepest = 0;
  let keys = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = closingQuote(text, i);
    else if (code === COLON) keys++;
    else if (code === 123 || code === 91) deepest = Math.max(deepest, ++depth);
    else if (code === 125 || code === 93) depth--;
  }
  return { depth: deepest, keys };
}

function closingQuote(text: string, open: number): number {
  let i = open + 1;
  while (i < text.length) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) return i;
    i += code === BACKSLASH ? 2 : 1;
  }
  return i;
}

/** Keys that a value holds, nested ones included. The value's depth must have been checked before. */
export function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) count += countKeys(item);
    return count;
  }
  const record = value as Record<string, unknown>;
  for (const key in record) {
    count++;
    const child = record[key];
    if (typeof child === 'object') count += countKeys(child);
  }
  return count;
}

/** Whether objects and arrays nest deeper than MAX_DEPTH (a cycle does). Stops at the first branch that is too deep. */
export function isTooDeep(value: unknown): boolean {
  const stack: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    if (typeof top.value !== 'object' || top.value === null) continue;
    if (top.depth >= MAX_DEPTH) return true;
    for (const child of Object.values(top.value) as unknown[]) stack.push({ value: child, depth: top.depth + 1 });
  }
  return false;
}
