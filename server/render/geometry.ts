/** Plane geometry of shapes and arrows. Canvas pixels; y grows downwards. Every result is finite for finite input. */
import type { Shape } from '../../schemas/canvas.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

/** Two points: a straight line. Four: a cubic Bezier curve with its two control points in the middle. */
export type Path = readonly [Point, Point] | readonly [Point, Point, Point, Point];

export function centre(box: Box): Point {
  return { x: box.x + box.w / 2, y: box.y + box.h / 2 };
}

export function along(start: Point, direction: Point, distance: number): Point {
  return { x: start.x + direction.x * distance, y: start.y + direction.y * distance };
}

export function distance(a: Point, b: Point): number {
  return Math.hypot(b.x - a.x, b.y - a.y);
}

/** Vector of length 1 from a to b; undefined where the two are (nearly) the same point. */
export function direction(a: Point, b: Point): Point | undefined {
  const length = distance(a, b);
  return length < 1e-6 ? undefined : { x: (b.x - a.x) / length, y: (b.y - a.y) / length };
}

/** Distance from the centre of a shape to its border in a direction of length 1. */
export function borderDistance(shape: Shape, towards: Point): number {
  const dx = Math.abs(towards.x) / (shape.w / 2);
  const dy = Math.abs(towards.y) / (shape.h / 2);
  if (shape.shape === 'ellipse') return 1 / Math.hypot(dx, dy);
  if (shape.shape === 'diamond') return 1 / (dx + dy);
  return 1 / Math.max(dx, dy);
}

/** Point of a path at t in [0, 1], by de Casteljau's construction. */
export function pointAt(path: Path, t: number): Point {
  let points: readonly Point[] = path;
  while (points.length > 1) points = points.slice(1).map((end, i) => between(points[i]!, end, t));
  return points[0]!;
}

function between(a: Point, b: Point, t: number): Point {
  return { x: a.x + (b.x - a.x) * t, y: a.y + (b.y - a.y) * t };
}

/** Length of a path; a curve's is measured on 16 chords. */
export function pathLength(path: Path): number {
  if (path.length === 2) return distance(path[0], path[1]);
  let sum = 0;
  for (let i = 0; i < 16; i++) sum += distance(pointAt(path, i / 16), pointAt(path, (i + 1) / 16));
  return sum;
}

/** Smallest box around all points and boxes; undefined for none. */
export function unionBox(boxes: readonly Box[]): Box | undefined {
  if (boxes.length === 0) return undefined;
  const x = boxes.reduce((least, box) => Math.min(least, box.x), Infinity);
  const y = boxes.reduce((least, box) => Math.min(least, box.y), Infinity);
  const right = boxes.reduce((most, box) => Math.max(most, box.x + box.w), -Infinity);
  const bottom = boxes.reduce((most, box) => Math.max(most, box.y + box.h), -Infinity);
  return { x, y, w: right - x, h: bottom - y };
}

/** Area two boxes share, px^2. */
export function sharedArea(a: Box, b: Box): number {
  const w = Math.min(a.x + a.w, b.x + b.w) - Math.max(a.x, b.x);
  const h = Math.min(a.y + a.h, b.y + b.h) - Math.max(a.y, b.y);
  return w > 0 && h > 0 ? w * h : 0;
}
