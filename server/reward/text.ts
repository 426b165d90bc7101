/**
 * Label metrics: how wide a text is, how it wraps, and how much room a shape has for it. DejaVu Sans at 16 px.
 *
 * Reward and renderer both measure with these, so that a label which counts as fitting also fits in the picture.
 * Left out: kerning, ligatures and contextual Arabic forms (a fraction of a letter), and hyphenation.
 */
import type { Shape } from '../../schemas/canvas.ts';
import type { ShapeKind } from '../../schemas/action.ts';
import { UNITS_PER_EM, WIDTH_RUNS } from './width-table.ts';

export const FONT_SIZE_PX = 16;
export const LINE_HEIGHT_PX = 20;

/** Horizontal and vertical room, px, that a rectangle keeps free around its label (both sides together). */
const PADDING_X = 16;
const PADDING_Y = 12;

const UNIT_PX = FONT_SIZE_PX / UNITS_PER_EM;
/** CJK, emoji and all else that the font lacks is drawn with a fallback font, one em wide. */
const FULL_WIDTH_UNITS = UNITS_PER_EM;
const WIDTHS = decodeWidths();
const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** Code units segmented at once; no grapheme of a natural language is nearly as long. */
const SLICE_LENGTH = 64;
const EMOJI = /\p{Emoji_Presentation}|\p{Regional_Indicator}|\uFE0F/u;
const ZERO_WIDTH = /[\p{M}\p{Default_Ignorable_Code_Point}\p{Cc}]/gu;
/** White space other than single spaces, which `wrapLabel` breaks at or folds. */
const NEEDS_SPLITTING = /[\t\n\v\f\r\u2028\u2029]| {2}/;
const LINE_BREAK = /\r\n|[\n\v\f\r\u2028\u2029]/;

/** Width of a text on one line, px; 0 for none. Reads no further than `enoughPx`, beyond which it may be too small. */
export function measureText(text: string, enoughPx = Infinity): number {
  const enough = enoughPx / UNIT_PX;
  let units = 0;
  for (let i = 0; i < text.length && units <= enough; i++) {
    const code = text.charCodeAt(i);
    if (!standsAlone(code)) return measureGraphemes(text, enough) * UNIT_PX;
    units += WIDTHS[code]!;
  }
  return units * UNIT_PX;
}

/**
 * Lines of a label in a width of `maxWidthPx` (px > 0): broken at line breaks and spaces, and inside a word, between
 * graphemes, only where the word alone is too wide. A grapheme wider than the width still gets a line of its own.
 * Stops after `maxLines` lines; a blank label has none.
 */
export function wrapLabel(text: string, maxWidthPx: number, maxLines = Infinity): string[] {
  const label = text.trim();
  if (label === '') return [];
  if (maxLines >= 1 && !NEEDS_SPLITTING.test(label) && measureText(label, maxWidthPx) <= maxWidthPx) return [label];
  const lines: string[] = [];
  for (const paragraph of label.split(LINE_BREAK)) {
    wrapParagraph(paragraph, maxWidthPx, maxLines, lines);
    if (lines.length >= maxLines) return lines.slice(0, maxLines);
  }
  return lines;
}

function wrapParagraph(paragraph: string, maxWidthPx: number, maxLines: number, lines: string[]): void {
  let line = '';
  let width = 0;
  for (const word of paragraph.trim().split(/[ \t]+/)) {
    const wordWidth = measureText(word, maxWidthPx);
    if (line !== '' && width + SPACE_PX + wordWidth <= maxWidthPx) {
      line += ` ${word}`;
      width += SPACE_PX + wordWidth;
      continue;
    }
    if (line !== '') lines.push(line);
    if (lines.length >= maxLines) return;
    line = wordWidth <= maxWidthPx ? word : breakWord(word, maxWidthPx, maxLines, lines);
    width = line === word ? wordWidth : measureText(line);
  }
  lines.push(line);
}

/** Adds the full lines of a word that is too wide, and returns the rest, which is not empty. */
function breakWord(word: string, maxWidthPx: number, maxLines: number, lines: string[]): string {
  let line = '';
  let width = 0;
  for (const segment of graphemes(word)) {
    const segmentWidth = measureText(segment);
    if (line !== '' && width + segmentWidth > maxWidthPx) {
      lines.push(line);
      if (lines.length >= maxLines) return segment;
      line = '';
      width = 0;
    }
    line += segment;
    width += segmentWidth;
  }
  return line;
}

/** Whether a code unit is a grapheme and a glyph by itself whatever follows it, short of a mark. */
function standsAlone(code: number): boolean {
  if (code < 0x300) return code >= 0x20 && (code < 0x7f || code >= 0xa0) && code !== 0xad;
  if (code < 0x590) return code >= 0x370 && (code < 0x483 || code > 0x489);
  if (code >= 0x4e00 && code <= 0x9fff) return true;
  if (code >= 0xac00 && code <= 0xd7a3) return true;
  return code >= 0x3041 && code <= 0x30ff && code !== 0x3099 && code !== 0x309a;
}

/**
 * The graphemes of a text in order, in linear time. Plain letters need no Intl.Segmenter, which is slow and takes quadratic
 * time on a long text (87 s for 400 KB), so it gets slices, and the last grapheme of a slice, which may be cut, is taken up
 * again with the next one.
 */
function* graphemes(text: string): Generator<string, void> {
  for (let start = 0; start < text.length;) {
    if (standsAlone(text.charCodeAt(start)) && (start + 1 === text.length || standsAlone(text.charCodeAt(start + 1)))) {
      yield text[start++]!;
      continue;
    }
    const slice = text.slice(start, start + SLICE_LENGTH);
    const isLast = start + slice.length === text.length;
    let read = 0;
    for (const { segment, index } of GRAPHEMES.segment(slice)) {
      if (!isLast && index > 0 && index + segment.length === slice.length) break;
      yield segment;
      read += segment.length;
    }
    start += read;
  }
}

function measureGraphemes(text: string, enough: number): number {
  let units = 0;
  for (const grapheme of graphemes(text)) {
    units += graphemeUnits(grapheme);
    if (units > enough) break;
  }
  return units;
}

function graphemeUnits(grapheme: string): number {
  if (EMOJI.test(grapheme)) return FULL_WIDTH_UNITS;
  let units = 0;
  for (const character of grapheme.replace(ZERO_WIDTH, '')) {
    units += character.length === 1 ? WIDTHS[character.charCodeAt(0)]! : FULL_WIDTH_UNITS;
  }
  return units;
}

/** Units of every code unit; surrogates and characters that the font lacks are full-width. */
function decodeWidths(): Uint16Array {
  const widths = new Uint16Array(0x10000).fill(FULL_WIDTH_UNITS);
  let code = 0;
  for (const run of WIDTH_RUNS.trim().split(/\s/)) {
    const [width = 0, gap = 0, count = 1] = run.split(',').map((digits) => parseInt(digits, 36));
    widths.fill(width, code + gap, code + gap + count);
    code += gap + count;
  }
  return widths;
}

const SPACE_PX = measureText(' ');

/**
 * Room for the label in a shape, px. The largest rectangle that a label of any proportion is sure of: an ellipse's has
 * its box's proportions and touches the curve, a diamond's touches the middles of its sides. A bare text has no border.
 */
export function innerBox(shape: Pick<Shape, 'shape' | 'w' | 'h'>): { w: number; h: number } {
  const { w, h } = shape;
  if (shape.shape === 'ellipse') return { w: w * Math.SQRT1_2, h: h * Math.SQRT1_2 };
  if (shape.shape === 'diamond') return { w: w / 2, h: h / 2 };
  if (shape.shape === 'text') return { w, h };
  return { w: Math.max(0, w - PADDING_X), h: Math.max(0, h - PADDING_Y) };
}

/** The opposite of `innerBox`: size of the smallest shape of a kind whose inner box is w x h px. */
export function outerBox(kind: ShapeKind, inner: { w: number; h: number }): { w: number; h: number } {
  const { w, h } = inner;
  if (kind === 'ellipse') return { w: w * Math.SQRT2, h: h * Math.SQRT2 };
  if (kind === 'diamond') return { w: w * 2, h: h * 2 };
  if (kind === 'text') return { w, h };
  return { w: w + PADDING_X, h: h + PADDING_Y };
}

/** A wrapped label's block: w and h in px, and whether it lies within its shape's inner box. */
export interface TextBlock {
  w: number;
  h: number;
  fits: boolean;
}

/** Rounding of sums of widths must not decide whether a label fits. */
const TOLERANCE_PX = 1e-6;

/** Wraps a shape's label into its inner box. Reads no more lines than could fit, so that no label is slow. */
export function layoutLabel(shape: Pick<Shape, 'shape' | 'w' | 'h' | 'text'>): TextBlock {
  const inner = innerBox(shape);
  const maxLines = Math.floor((inner.h + TOLERANCE_PX) / LINE_HEIGHT_PX);
  if (inner.w <= 0) return { w: shape.w, h: shape.h, fits: false };
  const lines = wrapLabel(shape.text, inner.w + TOLERANCE_PX, maxLines + 1);
  const w = lines.reduce((widest, line) => Math.max(widest, measureText(line)), 0);
  return { w, h: lines.length * LINE_HEIGHT_PX, fits: lines.length <= maxLines && w <= inner.w + TOLERANCE_PX };
}
