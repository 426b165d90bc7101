/**
 * Fits a label into a box: wrapped at whole graphemes, smaller where it has to be, and shortened with an ellipsis only
 * where even the smallest size is too large. Widths and wrapping are those of the reward (`server/reward/text.ts`).
 */
import { FONT_SIZE_PX, LINE_HEIGHT_PX, measureText, wrapLabel } from '../reward/text.ts';
import { cleanLabel } from './escape.ts';

const SMALLEST_WHOLE_WORDS_PX = 11;
const SMALLEST_PX = 8;
/** As in the reward: rounding of sums of widths must not decide whether a label fits. */
const TOLERANCE_PX = 1e-6;
/** A label beyond this many UTF-16 units is cut before it is laid out; no picture can show so much. */
const MAX_LENGTH = 600;

interface Size {
  readonly w: number;
  readonly h: number;
}

export interface FittedLabel {
  readonly lines: readonly string[];
  readonly size: number;
  readonly line_height: number;
}

const NO_LABEL: FittedLabel = { lines: [], size: FONT_SIZE_PX, line_height: LINE_HEIGHT_PX };
const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });
const BREAKS_ANYWHERE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

/** Width of a text on one line at a font size, px. */
export function textWidth(text: string, size: number): number {
  return (measureText(text) * size) / FONT_SIZE_PX;
}

/** Largest size, from `largest` down to 8 px, at which the label fits a box of w x h px. */
export function fitLabel(text: string, box: Size, largest = FONT_SIZE_PX): FittedLabel {
  const label = cut(cleanLabel(text).trim());
  if (label === '') return NO_LABEL;
  const widest = widestWord(label);
  for (let size = largest; size >= SMALLEST_WHOLE_WORDS_PX; size--) {
    if ((widest * size) / FONT_SIZE_PX > box.w + TOLERANCE_PX) continue;
    const fitted = wrapAt(label, size, box);
    if (fits(fitted, box)) return fitted;
  }
  for (let size = Math.min(largest, SMALLEST_WHOLE_WORDS_PX); size >= SMALLEST_PX; size--) {
    const fitted = wrapAt(label, size, box);
    if (fits(fitted, box)) return fitted;
  }
  return shorten(wrapAt(label, SMALLEST_PX, box), box);
}

/** Wraps at a size; reads one line more than could fit, so that a long label is not slow. */
function wrapAt(label: string, size: number, box: Size): FittedLabel {
  const lineHeight = (LINE_HEIGHT_PX * size) / FONT_SIZE_PX;
  const width = Math.max(1, ((box.w + TOLERANCE_PX) * FONT_SIZE_PX) / size);
  const lines = wrapLabel(label, width, linesIn(box, lineHeight) + 1);
  return { lines, size, line_height: lineHeight };
}

function linesIn(box: Size, lineHeight: number): number {
  return Math.floor((box.h + TOLERANCE_PX) / lineHeight);
}

function fits({ lines, size, line_height }: FittedLabel, box: Size): boolean {
  return lines.length <= linesIn(box, line_height) && lines.every((line) => isNarrow(line, size, box));
}

function isNarrow(line: string, size: number, box: Size): boolean {
  return textWidth(line, size) <= box.w + TOLERANCE_PX;
}

/** Width of the widest word that has no place to break, px at 16 px. */
function widestWord(label: string): number {
  const words = label.split(/\s+/).filter((word) => !BREAKS_ANYWHERE.test(word));
  return words.reduce((widest, word) => Math.max(widest, measureText(word)), 0);
}

/** Keeps the lines that fit and ends the last one with an ellipsis; nothing where not even one line fits. */
function shorten(label: FittedLabel, box: Size): FittedLabel {
  const count = linesIn(box, label.line_height);
  const kept = label.lines.slice(0, count);
  const last = kept.pop();
  if (last === undefined) return { ...label, lines: [] };
  const lines = [...kept, count < label.lines.length ? withEllipsis(last, label.size, box.w) : last];
  return { ...label, lines: lines.filter((line) => isNarrow(line, label.size, box)) };
}

function withEllipsis(line: string, size: number, width: number): string {
  const graphemes = [...GRAPHEMES.segment(line)].map(({ segment }) => segment);
  while (graphemes.length > 0 && textWidth(`${graphemes.join('')}…`, size) > width) graphemes.pop();
  return `${graphemes.join('').trimEnd()}…`;
}

function cut(text: string): string {
  if (text.length <= MAX_LENGTH) return text;
  let kept = '';
  for (const { segment } of GRAPHEMES.segment(text)) {
    if (kept.length + segment.length > MAX_LENGTH) break;
    kept += segment;
  }
  return `${kept}…`;
}
