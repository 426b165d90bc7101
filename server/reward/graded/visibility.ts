/** What a reader of the picture could see of each shape: `vis` of the graded reward. */
import type { Canvas, CanvasSize } from '../../../schemas/canvas.ts';
import { layoutLabel, type TextBlock } from '../text.ts';
import { sharedArea, toBox, type Box } from './geometry.ts';
import { toLabel, type Label } from './similarity.ts';

const LEAST_WIDTH_PX = 24;
const LEAST_HEIGHT_PX = 16;
const MOST_COVERED = 0.5;
const MOST_TEXT_COVERED = 0.6;
const OVERFLOWING_LABEL = 0.7;
/** Sums of coordinates may be off by rounding. */
const EDGE_TOLERANCE_PX = 0.01;

/** Why a shape does not count, or counts less; undefined for a shape in plain sight. */
export type Fault = 'unlabelled' | 'too_small' | 'outside_canvas' | 'covered' | 'text_overflow';

/** A shape as a reader sees it. */
export interface SeenShape {
  readonly index: number;
  readonly id: string;
  /** As written, for messages. */
  readonly text: string;
  readonly label: Label;
  readonly box: Box;
  readonly labelled: boolean;
  readonly fits: boolean;
  readonly fault: Fault | undefined;
  /** 0, 0.7 or 1. */
  readonly vis: number;
}

/** All shapes in z-order. */
export function seeShapes(canvas: Canvas, size: CanvasSize): SeenShape[] {
  const boxes = canvas.shapes.map(toBox);
  return canvas.shapes.map((shape, index): SeenShape => {
    const label = toLabel(shape.text);
    const box = boxes[index]!;
    const labelled = label.text !== '';
    const block = layoutLabel(shape);
    const fault = labelled ? findFault(box, block, boxes, index, size) : 'unlabelled';
    const vis = fault === undefined ? 1 : fault === 'text_overflow' ? OVERFLOWING_LABEL : 0;
    return { index, id: shape.id, text: shape.text, label, box, labelled, fits: block.fits, fault, vis };
  });
}

function findFault(
  box: Box,
  block: TextBlock,
  boxes: readonly Box[],
  index: number,
  size: CanvasSize,
): Fault | undefined {
  if (2 * box.rx < LEAST_WIDTH_PX || 2 * box.ry < LEAST_HEIGHT_PX) return 'too_small';
  if (!isInside(box, size)) return 'outside_canvas';
  if (isCovered(box, block, boxes, index)) return 'covered';
  return block.fits ? undefined : 'text_overflow';
}

function isInside({ left, top, right, bottom }: Box, { w, h }: CanvasSize): boolean {
  const e = EDGE_TOLERANCE_PX;
  return left >= -e && top >= -e && right <= w + e && bottom <= h + e;
}

/** Later shapes lie on top. Shape and text are judged by the share of their area that all of them together hide. */
function isCovered(box: Box, block: TextBlock, boxes: readonly Box[], index: number): boolean {
  const text = textBox(box, block);
  const above: Box[] = [];
  for (let i = index + 1; i < boxes.length; i++) {
    const other = boxes[i]!;
    if (sharedArea(box, other) > 0 || sharedArea(text, other) > 0) above.push(other);
  }
  if (above.length === 0) return false;
  return coveredShare(box, above) > MOST_COVERED || coveredShare(text, above) > MOST_TEXT_COVERED;
}

/** The wrapped label's block, centred on its shape. */
function textBox({ kind, cx, cy }: Box, { w, h }: TextBlock): Box {
  const [rx, ry] = [w / 2, h / 2];
  return { kind, left: cx - rx, top: cy - ry, right: cx + rx, bottom: cy + ry, cx, cy, rx, ry, area: w * h };
}

/** Share of a box that the union of others covers, swept from left to right. */
function coveredShare(box: Box, others: readonly Box[]): number {
  if (box.area <= 0) return 0;
  const shares = others.map((other) => sharedArea(box, other) / box.area);
  const largest = shares.reduce((most, share) => Math.max(most, share), 0);
  const hiding = others.filter((_, i) => shares[i]! > 0);
  if (hiding.length < 2 || largest > MOST_TEXT_COVERED) return largest;
  const edges = [...new Set(hiding.flatMap(({ left, right }) => [left, right]))].sort((a, b) => a - b);
  let area = 0;
  for (let i = 1; i < edges.length; i++) {
    const left = Math.max(box.left, edges[i - 1]!);
    const right = Math.min(box.right, edges[i]!);
    if (right <= left) continue;
    const strip = hiding.filter((other) => other.left < right && other.right > left);
    area += (right - left) * coveredHeight(box, strip);
  }
  return area / box.area;
}

function coveredHeight(box: Box, strip: Box[]): number {
  strip.sort((a, b) => a.top - b.top);
  let height = 0;
  let reached = box.top;
  for (const { top, bottom } of strip) {
    const end = Math.min(box.bottom, bottom);
    if (end <= reached) continue;
    height += end - Math.max(reached, top);
    reached = end;
  }
  return height;
}
