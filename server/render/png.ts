/**
 * PNG of an SVG that `toSvg` made. The one file of this folder that is not pure: it finds the font on disk and holds a
 * timer. The picture is drawn on threads of libuv's pool, so that it does not hold up a request beside it, and its size is
 * bounded by pixels, not by the drawing: a drawing of any size becomes a smaller picture of all of it. A drawing that was
 * begun cannot be stopped, so its work is bounded before: by `withBoundedText`, and by few drawings at a time.
 *
 * Known limits: one font, so no CJK and few emoji (`missing_glyphs` says which characters are lost); right-to-left labels
 * are laid out by the rasteriser's own bidi algorithm in a left-to-right paragraph, as a browser would by default.
 */
import { createRequire } from 'node:module';
import { renderAsync } from '@resvg/resvg-js';
import type { Canvas } from '../../schemas/canvas.ts';
import { missingGlyphs } from './glyphs.ts';
import { encodePng } from './png-encode.ts';
import { createQueue } from './queue.ts';
import { FONT_FAMILY } from './svg.ts';

export const MAX_SIDE_PX = 2048;
export const MAX_PIXELS = 4_000_000;
/** Pictures drawn at a time, of the 4 threads of libuv's pool; and how many more may wait. */
export const MAX_DRAWING = 2;
export const MAX_WAITING = 32;
/** Waiting and drawing together. */
export const DEFAULT_TIMEOUT_MS = 10_000;
/** Most characters of all labels of a picture: three times what the largest honest drawing holds, 0.3 s of work. */
export const MAX_TEXT_LENGTH = 20_000;

const QUEUE = createQueue({ running: MAX_DRAWING, waiting: MAX_WAITING });

const FONT_FILE = createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf');
const FONT = { loadSystemFonts: false, fontFiles: [FONT_FILE], defaultFontFamily: FONT_FAMILY };

export interface PngOptions {
  /** Picture pixels for each canvas pixel, as far as the budget of 2048 px a side and 4 MP allows; default 1. */
  readonly scale?: number | undefined;
  readonly timeout_ms?: number | undefined;
}

export interface Png {
  readonly png: Uint8Array;
  readonly width: number;
  readonly height: number;
  /** Characters drawn as empty boxes: labels that hold them cannot be read from the picture. */
  readonly missing_glyphs: string[];
}

/** The renderer failed or took too long; no fault of the drawing, so an answer without a picture, never a low reward. */
export class RenderError extends Error {
  readonly code: 'render_timeout' | 'render_failed' | 'render_busy';

  constructor(code: RenderError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RenderError';
    this.code = code;
  }
}

/** Throws `RenderError`. */
export async function toPng(svg: string, options: PngOptions = {}): Promise<Png> {
  const width = pictureWidth(viewSize(svg), options.scale ?? 1);
  const timeoutMs = options.timeout_ms ?? DEFAULT_TIMEOUT_MS;
  const png = await withTimeout((signal) => QUEUE.run(() => draw(svg, width), signal) ?? refuse(), timeoutMs);
  return { ...png, missing_glyphs: missingGlyphs(textOf(svg)) };
}

function refuse(): never {
  throw new RenderError('render_busy', `${MAX_DRAWING + MAX_WAITING} pictures are drawn or wait already`);
}

/** The canvas with its longest labels cut, all at the same length, so that they hold 20,000 characters together. */
export function withBoundedText({ shapes, arrows }: Canvas): Canvas {
  const lengths = [...shapes, ...arrows].map(({ text }) => text.length);
  const longest = lengthWithin(lengths, MAX_TEXT_LENGTH);
  const cut = <T extends { text: string }>(item: T): T =>
    item.text.length <= longest ? item : { ...item, text: `${item.text.slice(0, longest)}…` };
  return { shapes: shapes.map(cut), arrows: arrows.map(cut) };
}

/** The largest length for which the sum of min(length, it) keeps within a budget; Infinity where all fit. */
function lengthWithin(lengths: number[], budget: number): number {
  let rest = budget;
  const ascending = lengths.sort((a, b) => a - b);
  for (const [i, length] of ascending.entries()) {
    const share = rest / (ascending.length - i);
    if (length > share) return Math.floor(share);
    rest -= length;
  }
  return Infinity;
}

async function draw(svg: string, pictureWidthPx: number): Promise<Omit<Png, 'missing_glyphs'>> {
  const image = await renderAsync(svg, {
    font: FONT,
    fitTo: { mode: 'width', value: pictureWidthPx },
    logLevel: 'off',
  });
  const { width, height } = image;
  return { png: await encodePng(image.pixels, width, height), width, height };
}

function viewSize(svg: string): { w: number; h: number } {
  const found = /^<svg [^>]*? width="([\d.]+)" height="([\d.]+)"/.exec(svg);
  const [w, h] = [Number(found?.[1]), Number(found?.[2])];
  if (!(w > 0 && h > 0)) throw new RenderError('render_failed', 'the SVG has no size');
  return { w, h };
}

/** Width in picture pixels: the wanted scale, or as much of it as both budgets allow. */
function pictureWidth({ w, h }: { w: number; h: number }, scale: number): number {
  const allowed = Math.min(scale, MAX_SIDE_PX / Math.max(w, h), Math.sqrt(MAX_PIXELS / (w * h)));
  return Math.max(1, Math.floor(w * allowed));
}

async function withTimeout<T>(work: (signal: AbortSignal) => Promise<T>, timeoutMs: number): Promise<T> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new RenderError('render_timeout', `the picture was not ready after ${timeoutMs} ms`));
      controller.abort();
    }, timeoutMs);
  });
  try {
    return await Promise.race([work(controller.signal), timeout]);
  } catch (error) {
    if (error instanceof RenderError) throw error;
    throw new RenderError('render_failed', 'the picture could not be drawn', { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

const ENTITIES: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&#13;': '\r', '&amp;': '&' };

function textOf(svg: string): string {
  return svg.replace(/<[^>]*>/g, '').replace(/&(?:lt|gt|amp|#13);/g, (entity) => ENTITIES[entity]!);
}
