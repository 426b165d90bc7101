/**
 * Plane geometry of shapes and straight arrows, canvas pixels, written for speed: boxes and segments are plain numbers.
 *
 * An arrow is the straight segment between the borders of its two shapes on the line between their centres. The
 * renderer may bend one of several arrows between the same shapes; a reader follows the line, and so does this.
 */
import type { Shape } from '../../../schemas/canvas.ts';

/** A shape with what the measures ask for again and again. Units: px, px^2. */
export interface Box {
  readonly kind: Shape['shape'];
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  /** Centre. */
  readonly cx: number;
  readonly cy: number;
  /** Half width and half height. */
  readonly rx: number;
  readonly ry: number;
  readonly area: number;
}

export interface Segment {
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
}

export function toBox({ shape, x, y, w, h }: Shape): Box {
  const [rx, ry] = [w / 2, h / 2];
  const size = { right: x + w, bottom: y + h, cx: x + rx, cy: y + ry, rx, ry, area: w * h };
  return { kind: shape, left: x, top: y, ...size };
}

/** Area that two boxes share, px^2. */
export function sharedArea(a: Box, b: Box): number {
  const w = Math.min(a.right, b.right) - Math.max(a.left, b.left);
  if (w <= 0) return 0;
  const h = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  return h <= 0 ? 0 : w * h;
}

/** Shortest distance between two boxes, px; 0 where they touch or overlap. */
export function boxGap(a: Box, b: Box): number {
  const dx = Math.max(0, a.left - b.right, b.left - a.right);
  const dy = Math.max(0, a.top - b.bottom, b.top - a.bottom);
  return dx === 0 ? dy : dy === 0 ? dx : Math.sqrt(dx * dx + dy * dy);
}

/** Share of the way from the centre of a shape along (dx, dy) at which its border is met; may exceed 1. */
function borderShare({ kind, rx, ry }: Box, dx: number, dy: number): number {
  const [u, v] = [Math.abs(dx) / rx, Math.abs(dy) / ry];
  if (kind === 'ellipse') return 1 / Math.sqrt(u * u + v * v);
  return 1 / (kind === 'diamond' ? u + v : Math.max(u, v));
}

/** The visible part of an arrow; undefined where the shapes touch or overlap along it, so that nothing is left. */
export function arrowSegment(from: Box, to: Box): Segment | undefined {
  const [dx, dy] = [to.cx - from.cx, to.cy - from.cy];
  if (dx === 0 && dy === 0) return undefined;
  const start = borderShare(from, dx, dy);
  const end = 1 - borderShare(to, dx, dy);
  if (!(start < end)) return undefined;
  return { x1: from.cx + dx * start, y1: from.cy + dy * start, x2: from.cx + dx * end, y2: from.cy + dy * end };
}

export const segmentLength = ({ x1, y1, x2, y2 }: Segment): number => Math.hypot(x2 - x1, y2 - y1);

/** Whether a segment enters a shape deeper than `depth` px, measured from the shape's border inwards. */
export function entersShape({ x1, y1, x2, y2 }: Segment, box: Box, depth: number): boolean {
  if (Math.max(x1, x2) <= box.left + depth || Math.min(x1, x2) >= box.right - depth) return false;
  if (Math.max(y1, y2) <= box.top + depth || Math.min(y1, y2) >= box.bottom - depth) return false;
  const [ax, ay, bx, by] = [x1 - box.cx, y1 - box.cy, x2 - box.cx, y2 - box.cy];
  if (box.kind === 'ellipse') return entersCircle(ax, ay, bx, by, box.rx - depth, box.ry - depth);
  if (box.kind !== 'diamond') return entersSquare(ax, ay, bx, by, box.rx - depth, box.ry - depth);
  // A diamond |x|/rx + |y|/ry <= 1 whose sides move inwards by `depth` keeps its form and shrinks by this factor.
  const scale = 1 - (depth * Math.sqrt(box.rx * box.rx + box.ry * box.ry)) / (box.rx * box.ry);
  const [u1, v1, u2, v2] = [ax / box.rx, ay / box.ry, bx / box.rx, by / box.ry];
  return entersSquare(u1 + v1, u1 - v1, u2 + v2, u2 - v2, scale, scale);
}

/** Whether a segment crosses the inside of |x| < rx, |y| < ry (Liang and Barsky 1984). */
function entersSquare(ax: number, ay: number, bx: number, by: number, rx: number, ry: number): boolean {
  if (rx <= 0 || ry <= 0) return false;
  let [first, last] = [0, 1];
  for (const [a, b, r] of [
    [ax, bx, rx],
    [ay, by, ry],
  ] as const) {
    if (a === b) {
      if (Math.abs(a) >= r) return false;
      continue;
    }
    const [p, q] = [(-r - a) / (b - a), (r - a) / (b - a)];
    first = Math.max(first, Math.min(p, q));
    last = Math.min(last, Math.max(p, q));
  }
  return first < last;
}

/** Whether a segment crosses the inside of the ellipse with radii rx, ry around the origin. */
function entersCircle(ax: number, ay: number, bx: number, by: number, rx: number, ry: number): boolean {
  if (rx <= 0 || ry <= 0) return false;
  const [x, y] = [ax / rx, ay / ry];
  const [dx, dy] = [bx / rx - x, by / ry - y];
  const t = Math.min(1, Math.max(0, -(x * dx + y * dy) / (dx * dx + dy * dy)));
  return Math.hypot(x + t * dx, y + t * dy) < 1;
}

/** Whether two segments cross. Ends that only touch do not; segments on one line do where they share a stretch. */
export function segmentsCross(a: Segment, b: Segment): boolean {
  if (Math.max(a.x1, a.x2) < Math.min(b.x1, b.x2) || Math.max(b.x1, b.x2) < Math.min(a.x1, a.x2)) return false;
  if (Math.max(a.y1, a.y2) < Math.min(b.y1, b.y2) || Math.max(b.y1, b.y2) < Math.min(a.y1, a.y2)) return false;
  const p = turn(a, b.x1, b.y1);
  const q = turn(a, b.x2, b.y2);
  if (p === 0 && q === 0) return shareStretch(a, b);
  return p * q < 0 && turn(b, a.x1, a.y1) * turn(b, a.x2, a.y2) < 0;
}

/** Sign tells on which side of the segment's line a point lies; 0 on it. */
function turn({ x1, y1, x2, y2 }: Segment, x: number, y: number): number {
  return (x2 - x1) * (y - y1) - (y2 - y1) * (x - x1);
}

function shareStretch(a: Segment, b: Segment): boolean {
  const x = Math.min(Math.max(a.x1, a.x2), Math.max(b.x1, b.x2)) - Math.max(Math.min(a.x1, a.x2), Math.min(b.x1, b.x2));
  const y = Math.min(Math.max(a.y1, a.y2), Math.max(b.y1, b.y2)) - Math.max(Math.min(a.y1, a.y2), Math.min(b.y1, b.y2));
  return Math.max(x, y) > 0;
}
