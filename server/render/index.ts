/** Pictures and exports of a canvas: one function for the HTTP route, which knows the formats and their content types. */
import type { Canvas, CanvasSize } from '../../schemas/canvas.ts';
import type { RenderFormat } from '../../schemas/requests.ts';
import { toExcalidraw } from './excalidraw.ts';
import { toMermaid } from './mermaid.ts';
import { toPng, withBoundedText } from './png.ts';
import { toSvg } from './svg.ts';
import { toTldraw } from './tldraw.ts';

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
  switch (format) {
    case 'svg':
      return text('image/svg+xml; charset=utf-8', toSvg(canvas, options));
    case 'png': {
      const { png, missing_glyphs } = await toPng(toSvg(withBoundedText(canvas), options));
      return { content_type: 'image/png', body: png, missing_glyphs };
    }
    case 'tldraw':
      return text('application/json', JSON.stringify(toTldraw(canvas)));
    case 'excalidraw':
      return text('application/json', JSON.stringify(toExcalidraw(canvas)));
    case 'mermaid':
      return text('text/plain; charset=utf-8', toMermaid(canvas));
  }
}

function text(contentType: string, body: string): Rendering {
  return { content_type: contentType, body, missing_glyphs: [] };
}
