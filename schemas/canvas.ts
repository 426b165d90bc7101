/** The canvas: shapes in z-order (later ones on top) and arrows in the order they were drawn. Units are canvas pixels. */
import { z } from 'zod';
import { ShapeKind } from './action.ts';

export const Shape = z.strictObject({
  id: z.string().min(1),
  shape: ShapeKind,
  x: z.number().describe('Left edge, canvas pixels'),
  y: z.number().describe('Top edge, canvas pixels'),
  w: z.number().positive().describe('Width, canvas pixels'),
  h: z.number().positive().describe('Height, canvas pixels'),
  text: z.string().describe('Label, "" for none'),
});
export type Shape = z.infer<typeof Shape>;

export const Arrow = z.strictObject({
  from: z.string().min(1).describe('Id of the shape it starts at'),
  to: z.string().min(1).describe('Id of the shape it ends at'),
  text: z.string().describe('Label, "" for none'),
});
export type Arrow = z.infer<typeof Arrow>;

/** Most shapes and arrows together on one canvas. One turn cannot reach it; an episode of many turns could. */
export const MAX_CANVAS_ITEMS = 1000;

export const Canvas = z.strictObject({
  shapes: z.array(Shape).max(MAX_CANVAS_ITEMS),
  arrows: z.array(Arrow).max(MAX_CANVAS_ITEMS),
});
export type Canvas = z.infer<typeof Canvas>;

/** Size of the drawing area a task gives, canvas pixels. */
export const CanvasSize = z.strictObject({
  w: z.number().positive().max(100_000),
  h: z.number().positive().max(100_000),
});
export type CanvasSize = z.infer<typeof CanvasSize>;

export const EMPTY_CANVAS: Canvas = { shapes: [], arrows: [] };
