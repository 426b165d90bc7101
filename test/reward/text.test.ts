import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { innerBox, layoutLabel, measureText, outerBox, wrapLabel } from '../../server/reward/text.ts';
import { makeWidthTable, TABLE_PATH } from '../tools/make-width-table.ts';

const SEED = 16;
const FAMILY = '👩‍👩‍👧';
const graphemes = (text: string): string[] =>
  [...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)].map(({ segment }) => segment);

test('the width table is what the font file gives', () => {
  expect(readFileSync(TABLE_PATH, 'utf8')).toBe(makeWidthTable());
});

describe('measureText', () => {
  // Advance widths of DejaVu Sans, units of 1/2048 em; 16 px = 1 em.
  test.each<[string, string, number]>([
    ['nothing', '', 0],
    ['letters', 'Ab', ((1401 + 1300) * 16) / 2048],
    ['a space', ' ', (651 * 16) / 2048],
    ['an accent of its own adds nothing', 'e\u0301', (1260 * 16) / 2048],
    ['a zero-width space', 'A\u200bA', (2 * 1401 * 16) / 2048],
    ['CJK is full-width', '日本', 32],
    ['a family is one emoji', FAMILY, 16],
    ['a flag is one emoji', '🇰🇷', 16],
    ['half a surrogate pair', '\ud83d', 16],
  ])('%s', (_, text, width) => {
    expect(measureText(text)).toBeCloseTo(width, 9);
  });

  test('is the same for a text in one piece and grapheme by grapheme', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
        const sum = graphemes(text).reduce((total, each) => total + measureText(each), 0);
        expect(measureText(text)).toBeCloseTo(sum, 6);
      }),
      { seed: SEED, numRuns: 300 },
    );
  });
});

describe('wrapLabel', () => {
  test.each<[string, string, number, string[]]>([
    ['at spaces', 'the quick fox', 80, ['the quick', 'fox']],
    ['at line breaks', 'one\ntwo\r\nthree', 500, ['one', 'two', 'three']],
    ['inside a word that is too wide', 'a WWWWW b', 40, ['a', 'WW', 'WW', 'W b']],
    ['a blank label', ' \n ', 100, []],
    [
      'H10: at whole graphemes',
      `${FAMILY.repeat(3)} e\u0301e\u0301 🇰🇷🇰🇷`,
      44,
      [FAMILY.repeat(2), `${FAMILY} e\u0301e\u0301`, '🇰🇷🇰🇷'],
    ],
    ['H10: in a width of 1', `${FAMILY}é🇰🇷`, 1, [FAMILY, 'é', '🇰🇷']],
  ])('%s', (_, text, width, lines) => {
    expect(wrapLabel(text, width)).toEqual(lines);
  });

  test('keeps every grapheme whole and in order, and no line is wider than the width but for a single grapheme', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 120 }), fc.integer({ min: 1, max: 300 }), (text, width) => {
        const lines = wrapLabel(text, width);
        const visible = (parts: readonly string[]): string[] => parts.filter((part) => part.trim() !== '');
        expect(visible(lines.flatMap(graphemes))).toEqual(visible(graphemes(text)));
        for (const line of lines) {
          if (graphemes(line).length > 1) expect(measureText(line)).toBeLessThanOrEqual(width + 1e-6);
        }
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  test('a label of 256 Ki characters takes no longer than the shape has room for', () => {
    const start = performance.now();
    for (const text of ['漢'.repeat(262_144), FAMILY.repeat(30_000), 'W'.repeat(262_144), 'a '.repeat(131_072)]) {
      expect(layoutLabel({ shape: 'rectangle', w: 1000, h: 800, text }).fits).toBe(false);
    }
    expect(performance.now() - start).toBeLessThan(1500);
  });
});

describe('boxes', () => {
  test.each(['rectangle', 'ellipse', 'diamond', 'text'] as const)('outerBox undoes innerBox of a %s', (shape) => {
    const { w, h } = innerBox({ shape, ...outerBox(shape, { w: 120, h: 40 }) });
    expect(w).toBeCloseTo(120, 9);
    expect(h).toBeCloseTo(40, 9);
  });

  test.each([
    ['rectangle', 200, 100, 184, 88],
    ['ellipse', 200, 100, 100 * Math.SQRT2, 50 * Math.SQRT2],
    ['diamond', 200, 100, 100, 50],
  ] as const)('inner box of a %s', (shape, w, h, innerW, innerH) => {
    expect(innerBox({ shape, w, h }).w).toBeCloseTo(innerW, 9);
    expect(innerBox({ shape, w, h }).h).toBeCloseTo(innerH, 9);
  });
});
