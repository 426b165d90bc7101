/**
 * Remarks on a canvas: what a reader of the picture would stumble over. They cost nothing by themselves; each preset
 * weighs what it sees in its own way. They tell a model what to change in its next turn.
 */
import type { Arrow, Canvas, CanvasSize, Shape } from '../schemas/canvas.ts';
import type { Lint } from '../schemas/episode.ts';
import { arrowSegment, entersShape, sharedArea, toBox, type Box } from './reward/graded/geometry.ts';
import { layoutLabel } from './reward/text.ts';

/** Most remarks on one canvas; the first ones, in the order of the shapes. */
export const MAX_LINTS = 20;

/** Depth at which an arrow counts as crossing a shape, px (reward.md: edge_through_node). */
const CROSSING_DEPTH_PX = 4;

const MAX_QUOTED = 60;
const quote = (id: string): string => JSON.stringify(id.length > MAX_QUOTED ? `${id.slice(0, MAX_QUOTED)}...` : id);

interface Scene {
  shapes: readonly Shape[];
  boxes: readonly Box[];
  arrows: readonly Arrow[];
  size: CanvasSize;
}

function* lintOutside({ shapes, boxes, size }: Scene): Generator<Lint> {
  for (const [i, { left, top, right, bottom }] of boxes.entries()) {
    if (left >= 0 && top >= 0 && right <= size.w && bottom <= size.h) continue;
    const { id } = shapes[i]!;
    const message = `${quote(id)} reaches outside the canvas of ${size.w} x ${size.h}; move it inside`;
    yield { code: 'outside_canvas', message, shape: id };
  }
}

function* lintLabels({ shapes }: Scene): Generator<Lint> {
  for (const shape of shapes) {
    const block = layoutLabel(shape);
    if (block.fits) continue;
    const message = `the label of ${quote(shape.id)} does not fit; make it larger or the label shorter`;
    yield { code: 'label_does_not_fit', message, shape: shape.id };
  }
}

function* lintOverlaps({ shapes, boxes }: Scene): Generator<Lint> {
  for (let i = 0; i < boxes.length; i++) {
    for (let j = i + 1; j < boxes.length; j++) {
      if (sharedArea(boxes[i]!, boxes[j]!) === 0) continue;
      const { id } = shapes[i]!;
      yield {
        code: 'shapes_overlap',
        message: `${quote(id)} and ${quote(shapes[j]!.id)} overlap; move them apart`,
        shape: id,
      };
    }
  }
}

function* lintArrows({ shapes, boxes, arrows }: Scene): Generator<Lint> {
  const indexOf = new Map(shapes.map(({ id }, i) => [id, i]));
  for (const { from, to } of arrows) {
    const [start, end] = [indexOf.get(from)!, indexOf.get(to)!];
    const segment = arrowSegment(boxes[start]!, boxes[end]!);
    if (!segment) continue;
    for (const [i, box] of boxes.entries()) {
      if (i === start || i === end || !entersShape(segment, box, CROSSING_DEPTH_PX)) continue;
      const { id } = shapes[i]!;
      const message = `the arrow from ${quote(from)} to ${quote(to)} crosses ${quote(id)}; move one of them`;
      yield { code: 'arrow_crosses_shape', message, shape: id };
    }
  }
}

const LINTERS = [lintOutside, lintLabels, lintOverlaps, lintArrows];

/** The remarks on a canvas whose drawing area is `size`, px. Quadratic in shapes, at most MAX_LINTS of them. */
export function computeLints({ shapes, arrows }: Canvas, size: CanvasSize): Lint[] {
  const scene: Scene = { shapes, boxes: shapes.map(toBox), arrows, size };
  const lints: Lint[] = [];
  for (const lint of LINTERS) {
    for (const found of lint(scene)) {
      if (lints.push(found) >= MAX_LINTS) return lints;
    }
  }
  return lints;
}
