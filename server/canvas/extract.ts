/**
 * Finds the answer in a text that is not JSON as a whole. One pass from left to right; the rule is in parse.ts.
 * Prose, code fences and anything else outside of braces and brackets is stepped over, and so is what stands between
 * <think> and </think>; a lone </think> voids everything before it (the opening tag then was part of the prompt).
 * A value that stops being JSON is left at the place where it does, and the search goes on from there.
 */
import { readJson, type Reading } from './json-reader.ts';

export interface Extraction {
  /** Complete objects and lists of objects that were found. */
  candidates: number;
  /** The last complete object with an `actions` array. */
  envelope: Reading | undefined;
  /** The last complete list that holds objects only. */
  list: Reading | undefined;
  /** What the text ends inside of. */
  cut: Reading | undefined;
  /** The fault to report: of an object with `actions` if there is one, else of what was read furthest. */
  fault: Reading | undefined;
  too_deep: boolean;
}

const THINK_OPEN = '<think>';
const THINK_CLOSE = '</think>';

function nothingFound(): Extraction {
  return { candidates: 0, envelope: undefined, list: undefined, cut: undefined, fault: undefined, too_deep: false };
}

/** Linear in the length of the text. */
export function extract(text: string): Extraction {
  let found = nothingFound();
  let at = 0;
  while (at < text.length && !found.too_deep) {
    const char = text[at];
    if (char === '{' || char === '[') {
      const reading = readJson(text, at);
      note(found, reading);
      at = Math.max(reading.end, at + 1);
    } else if (char === '<' && text.startsWith(THINK_OPEN, at)) {
      const close = text.indexOf(THINK_CLOSE, at);
      at = close < 0 ? text.length : close + THINK_CLOSE.length;
    } else if (char === '<' && text.startsWith(THINK_CLOSE, at)) {
      found = nothingFound();
      at += THINK_CLOSE.length;
    } else at++;
  }
  return found;
}

function note(found: Extraction, reading: Reading): void {
  switch (reading.status) {
    case 'too_deep':
      found.too_deep = true;
      return;
    case 'cut':
      found.cut = reading;
      return;
    case 'fault':
      if (weight(reading) > weight(found.fault)) found.fault = reading;
      return;
    case 'complete':
      if (reading.kind === 'object' || reading.objects_only) found.candidates++;
      if (reading.envelope) found.envelope = reading;
      if (reading.objects_only) found.list = reading;
  }
}

/** How likely a reading is what the model meant as its answer: `actions` outweighs everything, then length counts. */
export function weight(reading: Reading | undefined): number {
  if (reading === undefined) return 0;
  return reading.end - reading.start + (reading.envelope ? Number.MAX_SAFE_INTEGER / 2 : 0);
}
