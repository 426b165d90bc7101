/** Remarks on a canvas that cost nothing by themselves but tell a model what a reader would stumble over. */
import type { Canvas, CanvasSize } from '../schemas/canvas.ts';
import type { Lint } from '../schemas/episode.ts';
import { layoutLabel } from './reward/text.ts';

export function computeLints(canvas: Canvas, size: CanvasSize): Lint[] {
  const lints: Lint[] = [];
  for (const shape of canvas.shapes) {
    const { id, x, y, w, h } = shape;
    if (x < 0 || y < 0 || x + w > size.w || y + h > size.h) {
      lints.push({
        code: 'outside_canvas',
        message: `shape ${id} leaves the canvas of ${size.w} x ${size.h} px`,
        shape: id,
      });
    }
    if (!layoutLabel(shape).fits) {
      lints.push({ code: 'label_does_not_fit', message: `the label of shape ${id} does not fit it`, shape: id });
    }
  }
  return lints;
}
