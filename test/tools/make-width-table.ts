/**
 * Makes server/reward/width-table.ts, the advance widths of DejaVu Sans, from the font file itself.
 *
 * Run: npx tsx test/tools/make-width-table.ts. A test compares the file with what this makes.
 * Left out: kerning and ligatures (a label is measured letter by letter), and characters beyond U+FFFF.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

export const TABLE_PATH = fileURLToPath(new URL('../../server/reward/width-table.ts', import.meta.url));

/** Characters that follow each other and are equally wide. */
interface Run {
  start: number;
  count: number;
  width: number;
}

const tableOffset = (font: Buffer, tag: string): number => {
  for (let i = 0; i < font.readUInt16BE(4); i++) {
    const entry = 12 + 16 * i;
    if (font.toString('latin1', entry, entry + 4) === tag) return font.readUInt32BE(entry + 8);
  }
  throw new Error(`the font has no table ${tag}`);
};

/** The cmap subtable of format 12: groups of (first character, last character, first glyph). */
function glyphGroups(font: Buffer): [number, number, number][] {
  const cmap = tableOffset(font, 'cmap');
  for (let i = 0; i < font.readUInt16BE(cmap + 2); i++) {
    const subtable = cmap + font.readUInt32BE(cmap + 8 + 8 * i);
    if (font.readUInt16BE(subtable) !== 12) continue;
    return Array.from({ length: font.readUInt32BE(subtable + 12) }, (_, group) => {
      const at = subtable + 16 + 12 * group;
      return [font.readUInt32BE(at), font.readUInt32BE(at + 4), font.readUInt32BE(at + 8)];
    });
  }
  throw new Error('the font has no cmap of format 12');
}

function widthRuns(font: Buffer): Run[] {
  const hmtx = tableOffset(font, 'hmtx');
  const lastWidth = font.readUInt16BE(tableOffset(font, 'hhea') + 34) - 1;
  const runs: Run[] = [];
  for (const [first, last, glyph] of glyphGroups(font)) {
    for (let code = first; code <= Math.min(last, 0xffff); code++) {
      const width = font.readUInt16BE(hmtx + 4 * Math.min(glyph + code - first, lastWidth));
      const run = runs.at(-1);
      if (run?.width === width && run.start + run.count === code) run.count++;
      else runs.push({ start: code, count: 1, width });
    }
  }
  return runs;
}

const number = (value: number): string => value.toString(36);

function encodeRuns(runs: readonly Run[]): string {
  let end = 0;
  const words = runs.map(({ start, count, width }) => {
    const gap = start - end;
    end = start + count;
    return gap === 0 && count === 1 ? number(width) : `${number(width)},${number(gap)},${number(count)}`;
  });
  return words.join(' ');
}

const inLines = (text: string): string => text.replaceAll(/(.{1,114})(?: |$)/g, '$1\n').trimEnd();

/** The source of server/reward/width-table.ts. */
export function makeWidthTable(): string {
  const font = readFileSync(createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'));
  const unitsPerEm = font.readUInt16BE(tableOffset(font, 'head') + 18);
  return `/**
 * Advance widths of DejaVu Sans 2.37, made by test/tools/make-width-table.ts from the font file. Do not edit.
 *
 * Runs of equally wide characters up to U+FFFF, in base 36: \`width\`, or \`width,gap,count\` where the run does not start
 * right after the last one or is longer than one character.
 */
export const UNITS_PER_EM = ${unitsPerEm};

export const WIDTH_RUNS = \`
${inLines(encodeRuns(widthRuns(font)))}
\`;
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(TABLE_PATH, makeWidthTable());
