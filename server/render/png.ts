/**
 * PNG of an SVG that `toSvg` made. The one file of this folder that is not pure: it finds the font on disk and holds a
 * timer. The picture is drawn on threads of libuv's pool, so that it does not hold up a request beside it, and its size is
 * bounded by pixels, not by the drawing: a drawing of any size becomes a smaller picture of all of it.
 *
 * Known limits: one font, so no CJK and few emoji (`missing_glyphs` says which characters are lost); right-to-left labels
 * are laid out by the rasteriser's own bidi algorithm in a left-to-right paragraph, as a browser would by default.
 */
import { createRequire } from 'node:module';
import { renderAsync } from '@resvg/resvg-js';
import { missingGlyphs } from './glyphs.ts';
import { encodePng } from './png-encode.ts';
import { FONT_FAMILY } from './svg.ts';

export const MAX_SIDE_PX = 2048;
export const MAX_PIXELS = 4_000_000;
export const DEFAULT_TIMEOUT_MS = 10_000;

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
  readonly code: 'render_timeout' | 'render_failed';

  constructor(code: 'render_timeout' | 'render_failed', message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RenderError';
    this.code = code;
  }
}

/** Throws `RenderError`. */
export async function toPng(svg: string, options: PngOptions = {}): Promise<Png> {
  const width = pictureWidth(viewSize(svg), options.scale ?? 1);
  const png = await withTimeout(draw(svg, width), options.timeout_ms ?? DEFAULT_TIMEOUT_MS);
  return { ...png, missing_glyphs: missingGlyphs(textOf(svg)) };
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

async function withTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new RenderError('render_timeout', `the picture was not ready after ${timeoutMs} ms`));
    }, timeoutMs);
  });
  try {
    return await Promise.race([work, timeout]);
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
