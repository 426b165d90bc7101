/**
 * tldraw store snapshot of a canvas, in the record versions of tldraw 5.1; `loadSnapshot` of a newer tldraw migrates it.
 * Same coordinates and z-order as the canvas; arrows are bound to their shapes, so they follow when one is moved.
 */
import { generateNKeysBetween } from 'fractional-indexing';
import type { ShapeKind } from '../../schemas/action.ts';
import type { Canvas, Shape } from '../../schemas/canvas.ts';
import type { PlacedArrow } from './arrows.ts';
import { cleanLabel } from './escape.ts';
import { centre, direction, pointAt, type Point } from './geometry.ts';
import { toScene } from './scene.ts';

type JsonObject = Readonly<Record<string, unknown>>;

export interface TldrawSnapshot {
  readonly store: Readonly<Record<string, JsonObject>>;
  readonly schema: { readonly schemaVersion: 2; readonly sequences: Readonly<Record<string, number>> };
}

/** Versions of the records written here, and of all others that tldraw 5.1 has, so that no migration is run needlessly. */
const SEQUENCES: Readonly<Record<string, number>> = {
  'com.tldraw.store': 5,
  'com.tldraw.asset': 1,
  'com.tldraw.camera': 1,
  'com.tldraw.document': 2,
  'com.tldraw.instance': 26,
  'com.tldraw.instance_page_state': 5,
  'com.tldraw.page': 1,
  'com.tldraw.instance_presence': 6,
  'com.tldraw.pointer': 1,
  'com.tldraw.shape': 4,
  'com.tldraw.user': 1,
  'com.tldraw.asset.image': 6,
  'com.tldraw.asset.video': 5,
  'com.tldraw.asset.bookmark': 2,
  'com.tldraw.shape.arrow': 8,
  'com.tldraw.shape.bookmark': 2,
  'com.tldraw.shape.draw': 4,
  'com.tldraw.shape.embed': 4,
  'com.tldraw.shape.frame': 1,
  'com.tldraw.shape.geo': 11,
  'com.tldraw.shape.group': 0,
  'com.tldraw.shape.highlight': 3,
  'com.tldraw.shape.image': 5,
  'com.tldraw.shape.line': 5,
  'com.tldraw.shape.note': 12,
  'com.tldraw.shape.text': 4,
  'com.tldraw.shape.video': 4,
  'com.tldraw.binding.arrow': 1,
};

const DOCUMENT: JsonObject = {
  id: 'document:document',
  typeName: 'document',
  gridSize: 10,
  name: '',
  meta: {},
};
const PAGE: JsonObject = { id: 'page:page', typeName: 'page', name: 'Page 1', index: 'a1', meta: {} };
const COLORS: Readonly<Record<ShapeKind, string>> = {
  rectangle: 'blue',
  ellipse: 'green',
  diamond: 'orange',
  text: 'black',
};

export function toTldraw(canvas: Canvas): TldrawSnapshot {
  const { shapes, arrows } = toScene(canvas);
  const indices = generateNKeysBetween(null, null, shapes.length + arrows.length);
  const ids = new Map(shapes.map(({ shape }, i) => [shape, `shape:s${i + 1}`]));
  const records = [
    DOCUMENT,
    PAGE,
    ...shapes.map(({ shape }, i) => shapeRecord(shape, ids.get(shape)!, indices[i]!)),
    ...arrows.flatMap((placed, i) => arrowRecords(placed, i, indices[shapes.length + i]!, ids)),
  ];
  const store = Object.fromEntries(records.map((record) => [record['id'] as string, record]));
  return { store, schema: { schemaVersion: 2, sequences: SEQUENCES } };
}

function baseRecord(id: string, index: string, at: Point): JsonObject {
  return {
    id,
    typeName: 'shape',
    parentId: 'page:page',
    index,
    x: at.x,
    y: at.y,
    rotation: 0,
    isLocked: false,
    opacity: 1,
  };
}

/** The id the shape has on the canvas stands in `meta`. */
function shapeRecord(shape: Shape, id: string, index: string): JsonObject {
  const base = { ...baseRecord(id, index, shape), meta: { canvas_id: shape.id } };
  const look = { color: COLORS[shape.shape], size: 's', font: 'sans', scale: 1, richText: richText(shape.text) };
  if (shape.shape === 'text') {
    return { ...base, type: 'text', props: { ...look, w: shape.w, textAlign: 'middle', autoSize: false } };
  }
  const text = { labelColor: 'black', align: 'middle', verticalAlign: 'middle' };
  const outline = { geo: shape.shape, w: shape.w, h: shape.h, growY: 0, fill: 'semi', dash: 'solid', url: '' };
  return { ...base, type: 'geo', props: { ...look, ...text, ...outline } };
}

/** The arrow and the two bindings of its ends. */
function arrowRecords(
  placed: PlacedArrow,
  i: number,
  index: string,
  ids: ReadonlyMap<Shape, string>,
): readonly JsonObject[] {
  const id = `shape:a${i + 1}`;
  const start = placed.path[0];
  const end = placed.path[placed.path.length - 1]!;
  const look = { color: 'grey', labelColor: 'black', fill: 'none', dash: 'solid', size: 's', font: 'sans', scale: 1 };
  const heads = { arrowheadStart: 'none', arrowheadEnd: 'arrow' };
  const ends = { start: { x: 0, y: 0 }, end: { x: end.x - start.x, y: end.y - start.y } };
  const line = { kind: 'arc', bend: bend(placed), elbowMidPoint: 0.5, labelPosition: 0.5 };
  const props = { ...look, ...heads, ...ends, ...line, richText: richText(placed.arrow.text) };
  return [
    { ...baseRecord(id, index, start), meta: {}, type: 'arrow', props },
    binding(id, 'start', placed.from, ids.get(placed.from)!, isLoop(placed) ? start : undefined),
    binding(id, 'end', placed.to, ids.get(placed.to)!, isLoop(placed) ? end : undefined),
  ];
}

function isLoop({ from, to }: PlacedArrow): boolean {
  return from === to;
}

/** Signed distance, px, of the arrow's middle from the line between its ends, to the right of the way it points. */
function bend(placed: PlacedArrow): number {
  if (placed.path.length === 2) return 0;
  const [start, end] = isLoop(placed) ? [placed.path[0], placed.path[3]] : [centre(placed.from), centre(placed.to)];
  const ray = direction(start, end);
  if (ray === undefined) return 0;
  const middle = pointAt(placed.path, 0.5);
  const across = { x: middle.x - (start.x + end.x) / 2, y: middle.y - (start.y + end.y) / 2 };
  return across.y * ray.x - across.x * ray.y;
}

/** Bound to the middle of the shape, or exactly where a point of its border is given. */
function binding(
  arrowId: string,
  terminal: 'start' | 'end',
  shape: Shape,
  shapeId: string,
  at: Point | undefined,
): JsonObject {
  const normalizedAnchor = at
    ? { x: unit((at.x - shape.x) / shape.w), y: unit((at.y - shape.y) / shape.h) }
    : { x: 0.5, y: 0.5 };
  return {
    id: `binding:${arrowId.slice('shape:'.length)}-${terminal}`,
    typeName: 'binding',
    type: 'arrow',
    fromId: arrowId,
    toId: shapeId,
    props: { terminal, normalizedAnchor, isExact: false, isPrecise: at !== undefined, snap: 'none' },
    meta: {},
  };
}

function unit(value: number): number {
  return Math.min(1, Math.max(0, value));
}

/** One paragraph for each line of the label. */
function richText(text: string): JsonObject {
  const lines = cleanLabel(text).split(/\r\n|[\n\r]/);
  const paragraph = (line: string): JsonObject =>
    line === '' ? { type: 'paragraph' } : { type: 'paragraph', content: [{ type: 'text', text: line }] };
  return { type: 'doc', content: lines.map(paragraph) };
}
