/**
 * Writes server/render/coverage.ts: which code points the font of the PNG pictures has glyphs for.
 * Run: npx tsx test/tools/font-coverage.ts
 * Reads the font's `cmap` table, format 12 (https://learn.microsoft.com/typography/opentype/spec/cmap); other formats are
 * left out, since DejaVu Sans has it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/** Code points with a glyph, as sorted, disjoint [first, last] ranges. */
export function fontRanges(font: Buffer): [number, number][] {
  const groups = cmapGroups(font).sort(([a], [b]) => a - b);
  const ranges: [number, number][] = [];
  for (const [first, last] of groups) {
    const previous = ranges.at(-1);
    if (previous && first <= previous[1] + 1) previous[1] = Math.max(previous[1], last);
    else ranges.push([first, last]);
  }
  return ranges;
}

function cmapGroups(font: Buffer): [number, number][] {
  const table = format12(font, tableOffset(font, 'cmap'));
  const count = font.readUInt32BE(table + 12);
  return Array.from({ length: count }, (_, i) => {
    const group = table + 16 + 12 * i;
    return [font.readUInt32BE(group), font.readUInt32BE(group + 4)];
  });
}

function tableOffset(font: Buffer, tag: string): number {
  for (let i = 0; i < font.readUInt16BE(4); i++) {
    const record = 12 + 16 * i;
    if (font.toString('latin1', record, record + 4) === tag) return font.readUInt32BE(record + 8);
  }
  throw new Error(`the font has no table ${tag}`);
}

function format12(font: Buffer, cmap: number): number {
  for (let i = 0; i < font.readUInt16BE(cmap + 2); i++) {
    const subtable = cmap + font.readUInt32BE(cmap + 4 + 8 * i + 4);
    if (font.readUInt16BE(subtable) === 12) return subtable;
  }
  throw new Error('the font has no cmap of format 12');
}

/** Gap to the previous range and length of each range, in base 36: short, and diffs stay readable. */
export function encodeRanges(ranges: readonly (readonly [number, number])[]): string {
  let end = 0;
  return ranges
    .map(([first, last]) => {
      const gap = first - end;
      end = last;
      return first === last ? gap.toString(36) : `${gap.toString(36)}+${(last - first).toString(36)}`;
    })
    .join(' ');
}

export function fontFile(): string {
  return createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf');
}

function main(): void {
  const encoded = encodeRanges(fontRanges(readFileSync(fontFile())));
  const lines = encoded.match(/.{1,110}(?: |$)/g) ?? [];
  const source = [
    '/**',
    ' * Code points DejaVu Sans has glyphs for, made by test/tools/font-coverage.ts. Each word is the gap to the range before',
    ' * it and, after "+", one less than the length of the range; both in base 36.',
    ' */',
    'export const COVERAGE =',
    lines.map((line) => `  '${line}'`).join(' +\n') + ';',
    '',
  ];
  writeFileSync(new URL('../../server/render/coverage.ts', import.meta.url), source.join('\n'));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
