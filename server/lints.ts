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

/** Adds what it finds until the list is full. Plain loops: this runs at every step. */
type Linter = (scene: Scene, lints: Lint[]) => void;

function add(lints: Lint[], code: string, { id }: Shape, message: string): void {
  if (lints.length < MAX_LINTS) lints.push({ code, message, shape: id });
}

const lintOutside: Linter = ({ shapes, boxes, size }, lints) => {
  for (let i = 0; i < shapes.length; i++) {
    const box = boxes[i]!;
    if (box.left >= 0 && box.top >= 0 && box.right <= size.w && box.bottom <= size.h) continue;
    const shape = shapes[i]!;
    const message = `${quote(shape.id)} reaches outside the canvas of ${size.w} x ${size.h}; move it inside`;
    add(lints, 'outside_canvas', shape, message);
  }
};

const lintLabels: Linter = ({ shapes }, lints) => {
  for (const shape of shapes) {
    if (lints.length >= MAX_LINTS || layoutLabel(shape).fits) continue;
    const message = `the label of ${quote(shape.id)} does not fit; make it larger or the label shorter`;
    add(lints, 'label_does_not_fit', shape, message);
  }
};

const lintOverlaps: Linter = ({ shapes, boxes }, lints) => {
  for (let i = 0; i < boxes.length && lints.length < MAX_LINTS; i++) {
    for (let j = i + 1; j < boxes.length; j++) {
      if (sharedArea(boxes[i]!, boxes[j]!) === 0) continue;
      const message = `${quote(shapes[i]!.id)} and ${quote(shapes[j]!.id)} overlap; move them apart`;
      add(lints, 'shapes_overlap', shapes[i]!, message);
    }
  }
};

const lintArrows: Linter = ({ shapes, boxes, arrows }, lints) => {
  if (shapes.length < 3) return;
  const indexOf = new Map(shapes.map(({ id }, i) => [id, i]));
  for (let a = 0; a < arrows.length && lints.length < MAX_LINTS; a++) {
    const { from, to } = arrows[a]!;
    const start = indexOf.get(from)!;
    const end = indexOf.get(to)!;
    const segment = arrowSegment(boxes[start]!, boxes[end]!);
    if (!segment) continue;
    for (let i = 0; i < boxes.length; i++) {
      if (i === start || i === end || !entersShape(segment, boxes[i]!, CROSSING_DEPTH_PX)) continue;
      const message = `the arrow from ${quote(from)} to ${quote(to)} crosses ${quote(shapes[i]!.id)}; move one of them`;
      add(lints, 'arrow_crosses_shape', shapes[i]!, message);
    }
  }
};

const LINTERS: readonly Linter[] = [lintOutside, lintLabels, lintOverlaps, lintArrows];

/** The remarks on a canvas whose drawing area is `size`, px. Quadratic in shapes, at most MAX_LINTS of them. */
export function computeLints({ shapes, arrows }: Canvas, size: CanvasSize): Lint[] {
  const scene: Scene = { shapes, boxes: shapes.map(toBox), arrows, size };
  const lints: Lint[] = [];
  for (const lint of LINTERS) lint(scene, lints);
  return lints;
}
