/** Pictures and exports of a canvas: one function for the HTTP route, which knows the formats and their content types. */
import type { Canvas, CanvasSize } from '../../schemas/canvas.ts';
import { toPng } from './png.ts';
import { toSvg } from './svg.ts';

export const RENDER_FORMATS = ['svg', 'png'] as const;
export type RenderFormat = (typeof RENDER_FORMATS)[number];

export interface RenderOptions {
  /** The task's drawing area, px; without it a picture is as large as its content. */
  readonly size?: CanvasSize | undefined;
  readonly title?: string | undefined;
}

export interface Rendering {
  readonly content_type: string;
  readonly body: string | Uint8Array;
  /** Characters a PNG shows as empty boxes; always empty for the other formats, which bring no font. */
  readonly missing_glyphs: string[];
}

/** Throws `RenderError` where a PNG cannot be drawn in time; every other format always succeeds. */
export async function render(canvas: Canvas, format: RenderFormat, options: RenderOptions = {}): Promise<Rendering> {
  const svg = toSvg(canvas, options);
  if (format === 'svg') return { content_type: 'image/svg+xml; charset=utf-8', body: svg, missing_glyphs: [] };
  const { png, missing_glyphs } = await toPng(svg);
  return { content_type: 'image/png', body: png, missing_glyphs };
}
