/** PNG: a file any decoder reads, ink where the drawing has it, bounded in pixels and time, and honest about its font. */
import { readFileSync } from 'node:fs';
import { PNG } from 'pngjs';
import { expect, test } from 'vitest';
import type { Canvas } from '../../schemas/canvas.ts';
import { COVERAGE } from '../../server/render/coverage.ts';
import { missingGlyphs } from '../../server/render/glyphs.ts';
import { render } from '../../server/render/index.ts';
import {
  MAX_DRAWING,
  MAX_PIXELS,
  MAX_SIDE_PX,
  MAX_TEXT_LENGTH,
  MAX_WAITING,
  RenderError,
  toPng,
  withBoundedText,
} from '../../server/render/png.ts';
import { toSvg } from '../../server/render/svg.ts';
import { encodeRanges, fontFile, fontRanges } from '../tools/font-coverage.ts';
import { caseCanvas, shape } from './scenes.ts';

const SIZE = { w: 600, h: 400 };

async function draw(canvas: Canvas, size = SIZE): Promise<PNG> {
  const { body } = await render(canvas, 'png', { size });
  return PNG.sync.read(Buffer.from(body as Uint8Array));
}

/** Share of the pixels of a rectangle that are not white. */
function ink(png: PNG, x: number, y: number, w: number, h: number): number {
  let count = 0;
  for (let row = y; row < y + h; row++) {
    for (let column = x; column < x + w; column++) {
      const at = 4 * (row * png.width + column);
      if (Math.min(png.data[at]!, png.data[at + 1]!, png.data[at + 2]!) < 250) count++;
    }
  }
  return count / (w * h);
}

/** Pixels darker than any fill: text, border, arrow. */
function dark(png: PNG, x: number, y: number, w: number, h: number): number {
  let count = 0;
  for (let row = y; row < y + h; row++) {
    for (let column = x; column < x + w; column++) if (png.data[4 * (row * png.width + column)]! < 128) count++;
  }
  return count;
}

test('shapes, labels and arrows leave ink where they stand, and nowhere else', async () => {
  const shapes = [
    shape('box', 20, 20, { text: '' }),
    shape('oval', 400, 20, { shape: 'ellipse', text: '' }),
    shape('rhomb', 20, 300, { shape: 'diamond', text: '' }),
    shape('words', 400, 300, { shape: 'text', text: 'words' }),
  ];
  const png = await draw({ shapes, arrows: [{ from: 'box', to: 'oval', text: '' }] });
  expect([png.width, png.height]).toEqual([600, 400]);
  expect(ink(png, 20, 20, 100, 60)).toBeGreaterThan(0.98);
  expect(ink(png, 400, 20, 100, 60)).toBeCloseTo(Math.PI / 4, 1);
  expect(ink(png, 20, 300, 100, 60)).toBeCloseTo(0.5, 1);
  expect(dark(png, 30, 30, 80, 40)).toBe(0);
  expect(dark(png, 400, 300, 100, 60)).toBeGreaterThan(60);
  expect(dark(png, 130, 48, 260, 4)).toBeGreaterThan(260);
  expect(ink(png, 130, 100, 460, 180)).toBe(0);
});

test('a label in the middle of its shape', async () => {
  const png = await draw({ shapes: [shape('a', 100, 100, { w: 200, h: 100, text: 'HHHH' })], arrows: [] });
  const columns = Array.from({ length: 180 }, (_, i) => 110 + i).filter((x) => dark(png, x, 110, 1, 80) > 0);
  const rows = Array.from({ length: 80 }, (_, i) => 110 + i).filter((y) => dark(png, 110, y, 180, 1) > 0);
  expect((columns[0]! + columns.at(-1)!) / 2).toBeCloseTo(199.5, -0.5);
  expect(Math.abs((rows[0]! + rows.at(-1)!) / 2 - 149.5)).toBeLessThan(1.5);
});

test('the same drawing gives the same bytes', async () => {
  const canvas = caseCanvas('B14');
  const [first, second] = await Promise.all([render(canvas, 'png'), render(canvas, 'png')]);
  expect(Buffer.compare(first.body as Uint8Array, second.body as Uint8Array)).toBe(0);
});

test('H04: labels the font cannot draw are reported, since they come out alike', async () => {
  const canvas = caseCanvas('H04');
  const { missing_glyphs } = await render(canvas, 'png');
  expect(missing_glyphs).toEqual(['开', '始', '終', '了']);
  const other = {
    ...canvas,
    shapes: canvas.shapes.map((each, i) => ({ ...each, text: i === 0 ? '終了' : each.text })),
  };
  expect((await draw(canvas)).data.equals((await draw(other)).data)).toBe(true);
});

test.each([
  ['Latin, Greek, Cyrillic, Hebrew, Arabic, arrows', 'Año Ωμέγα Жизнь שלום مرحبا → ≤ €', []],
  ['emoji', 'ship it 🚀🚀 ok', ['🚀']],
  ['joiners and variation selectors are no glyphs', 'e\u0301 a\u200d \ufe0f\u00ad', []],
  ['Hangul', '결제', ['결', '제']],
])('missing glyphs: %s', (_, text, missing) => {
  expect(missingGlyphs(text)).toEqual(missing);
});

test('the coverage table is that of the installed font', () => {
  expect(encodeRanges(fontRanges(readFileSync(fontFile())))).toBe(COVERAGE);
});

test.each([
  ['H05: two boxes 20 000 px apart', caseCanvas('H05')],
  ['B06: astronomical coordinates', caseCanvas('B06')],
  ['a line of boxes', { shapes: [shape('a', 0, 0), shape('b', 90_000, 0)], arrows: [] }],
])('the picture keeps within its pixel budget and time: %s', async (_, canvas) => {
  const before = process.cpuUsage(); // of all threads, so that what else runs on the machine does not count
  const { png, width, height } = await toPng(toSvg(canvas), { scale: 3 });
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(1000);
  expect(Math.max(width, height)).toBeLessThanOrEqual(MAX_SIDE_PX);
  expect(width * height).toBeLessThanOrEqual(MAX_PIXELS);
  expect(PNG.sync.read(Buffer.from(png))).toMatchObject({ width, height });
});

test('a render that takes too long is a render_timeout, and the event loop goes on meanwhile', async () => {
  const shapes = Array.from({ length: 400 }, (_, i) => shape(`s${i}`, (i % 20) * 400, Math.floor(i / 20) * 200));
  const svg = toSvg({ shapes, arrows: [] });
  await expect(toPng(svg, { timeout_ms: 1 })).rejects.toMatchObject({ code: 'render_timeout' });
});

test('labels together are bounded: the longest are cut, all at one length, the others stay', () => {
  const texts = ['short', 'x'.repeat(30_000), 'y'.repeat(15_000)];
  const shapes = texts.map((text, i) => shape(`s${i}`, 0, 0, { text }));
  const arrows = [{ from: 's0', to: 's1', text: 'z'.repeat(15_000) }];
  const { shapes: cut, arrows: cutArrows } = withBoundedText({ shapes, arrows });
  const each = Math.floor((MAX_TEXT_LENGTH - 5) / 3) + 1; // with the ellipsis
  expect([...cut, ...cutArrows].map(({ text }) => text.length)).toEqual([5, each, each, each]);
  expect(cut[1]!.text.endsWith('x…')).toBe(true);
  const honest = { shapes: [shape('a', 0, 0, { text: 'w'.repeat(MAX_TEXT_LENGTH) })], arrows: [] };
  expect(withBoundedText(honest)).toEqual(honest);
});

test('the worst drawing a canvas can hold takes seconds of work, not minutes', async () => {
  const shapes = Array.from({ length: 1000 }, (_, i) =>
    shape(`s${i}`, (i % 40) * 25, Math.floor(i / 40) * 25, { w: 1000, h: 1000, text: 'word '.repeat(190) }),
  );
  const before = process.cpuUsage();
  const svg = toSvg(withBoundedText({ shapes, arrows: [] }));
  await toPng(svg, { timeout_ms: 60_000 });
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1e6).toBeLessThan(5);
});

test('pictures beyond those that may wait are turned away, and one that gives up leaves its place', async () => {
  const svg = toSvg({ shapes: [shape('a', 0, 0)], arrows: [] });
  const places = MAX_DRAWING + MAX_WAITING;
  const all = Array.from({ length: places + 1 }, (_, i) => toPng(svg, i < MAX_DRAWING ? {} : { timeout_ms: 60_000 }));
  await expect(all[places]).rejects.toMatchObject({ code: 'render_busy' });
  expect(await Promise.all(all.slice(0, places))).toHaveLength(places);
  const hasty = Array.from({ length: places }, () => toPng(svg, { timeout_ms: 0 }).catch((error: unknown) => error));
  for (const error of await Promise.all(hasty)) expect(error).toMatchObject({ code: 'render_timeout' });
  expect((await toPng(svg)).width).toBeGreaterThan(0);
});

test('an SVG that cannot be drawn is a render_failed', async () => {
  await expect(toPng('<svg width="10" height="10"><g></svg>')).rejects.toBeInstanceOf(RenderError);
  await expect(toPng('<svg width="10" height="10"><g></svg>')).rejects.toMatchObject({ code: 'render_failed' });
  await expect(toPng('<svg/>')).rejects.toMatchObject({ code: 'render_failed' });
});
