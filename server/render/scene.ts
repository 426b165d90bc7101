/**
 * A canvas laid out for drawing: numbers made safe, labels fitted, arrows placed, and the area the picture shows.
 * Every picture format that draws (rather than exports) starts here.
 */
import type { Canvas, CanvasSize, Shape } from '../../schemas/canvas.ts';
import { innerBox } from '../reward/text.ts';
import { placeArrows, type PlacedArrow } from './arrows.ts';
import { unionBox, type Box } from './geometry.ts';
import { fitLabel, type FittedLabel } from './label.ts';

/** Drawn coordinates stay within +-1e6 px, whatever a canvas holds, so that no picture has an infinite size. */
export const MAX_DRAWN = 1e6;
const MARGIN = 24;
/** A longer and thinner picture would have less than a pixel for its short side. */
const MAX_ASPECT = 1000;

export interface PlacedShape {
  readonly shape: Shape;
  readonly label: FittedLabel;
}

export interface Scene {
  readonly shapes: readonly PlacedShape[];
  readonly arrows: readonly PlacedArrow[];
  /** What the picture shows: the drawing area, and all content with a margin. */
  readonly view: Box;
  /** The drawing area, only where content lies outside it. */
  readonly page: Box | undefined;
}

/** `size` is the task's drawing area; without it the picture shows the content alone. */
export function toScene(canvas: Canvas, size?: CanvasSize): Scene {
  const shapes = canvas.shapes.map(safeShape);
  const arrows = placeArrows(canvas.arrows, shapes);
  const page = size && { x: 0, y: 0, w: safeLength(size.w), h: safeLength(size.h) };
  const content = contentBox(shapes, arrows);
  const view = toView(page, content);
  return {
    shapes: shapes.map((shape) => ({ shape, label: fitLabel(shape.text, innerBox(shape)) })),
    arrows,
    view,
    page: page && (view.w > page.w || view.h > page.h) ? page : undefined,
  };
}

/** Coordinates finite and within +-1e6 px, lengths within 1..1e6 px. */
export function safeShape(shape: Shape): Shape {
  return { ...shape, x: safeNumber(shape.x), y: safeNumber(shape.y), w: safeLength(shape.w), h: safeLength(shape.h) };
}

function safeNumber(value: number): number {
  return Number.isFinite(value) ? Math.min(MAX_DRAWN, Math.max(-MAX_DRAWN, value)) : 0;
}

function safeLength(value: number): number {
  return Math.max(1, safeNumber(value));
}

function contentBox(shapes: readonly Shape[], arrows: readonly PlacedArrow[]): Box | undefined {
  const points = arrows.flatMap(({ path }) => path.map(({ x, y }) => ({ x, y, w: 0, h: 0 })));
  const plates = arrows.flatMap(({ label }) => (label ? [label.plate] : []));
  return unionBox([...shapes, ...points, ...plates]);
}

function toView(page: Box | undefined, content: Box | undefined): Box {
  if (content === undefined) return page ?? { x: 0, y: 0, w: 400, h: 300 };
  const padded = { x: content.x - MARGIN, y: content.y - MARGIN, w: content.w + 2 * MARGIN, h: content.h + 2 * MARGIN };
  if (page === undefined) return thickened(padded);
  return contains(page, content) ? page : thickened(unionBox([page, padded])!);
}

function thickened({ x, y, w, h }: Box): Box {
  const wide = Math.max(w, h / MAX_ASPECT);
  const high = Math.max(h, w / MAX_ASPECT);
  return { x: x - (wide - w) / 2, y: y - (high - h) / 2, w: wide, h: high };
}

function contains(outer: Box, inner: Box): boolean {
  const right = inner.x + inner.w <= outer.x + outer.w;
  const bottom = inner.y + inner.h <= outer.y + outer.h;
  return inner.x >= outer.x && inner.y >= outer.y && right && bottom;
}
