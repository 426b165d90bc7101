/**
 * Excalidraw file of a canvas (version 2, https://docs.excalidraw.com/docs/codebase/json-schema). Each label is a text
 * element bound to its shape or arrow and stands right behind it; every field that Excalidraw would fill by chance or
 * from the clock has a fixed value.
 */
import { generateNKeysBetween } from 'fractional-indexing';
import type { Canvas, Shape } from '../../schemas/canvas.ts';
import type { PlacedArrow } from './arrows.ts';
import { cleanLabel } from './escape.ts';
import { pointAt, unionBox, type Box, type Point } from './geometry.ts';
import { textWidth, type FittedLabel } from './label.ts';
import { FILL, INK, LINE, STROKE } from './palette.ts';
import { toScene, type PlacedShape } from './scene.ts';

interface BoundElement {
  readonly id: string;
  readonly type: 'arrow' | 'text';
}

/** The fields read here; all others of its type come with it. */
interface Draft {
  readonly id: string;
  readonly type: 'rectangle' | 'ellipse' | 'diamond' | 'text' | 'arrow';
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly boundElements: readonly BoundElement[];
  readonly [field: string]: unknown;
}

export interface ExcalidrawElement extends Draft {
  /** Order key: fractional, increasing. */
  readonly index: string;
}

export interface ExcalidrawFile {
  readonly type: 'excalidraw';
  readonly version: 2;
  readonly source: string;
  readonly elements: readonly ExcalidrawElement[];
  readonly appState: { readonly viewBackgroundColor: string; readonly gridSize: null };
  readonly files: Readonly<Record<string, never>>;
}

/** Helvetica in Excalidraw's numbering: the hand-drawn default is wider than the metrics labels are fitted with. */
const HELVETICA = 2;
const LINE_HEIGHT = 1.25;
const ARROW_GAP = 2;

export function toExcalidraw(canvas: Canvas): ExcalidrawFile {
  const { shapes, arrows } = toScene(canvas);
  const ids = new Map(shapes.map(({ shape }, i) => [shape, `s${i + 1}`]));
  const drafts = [
    ...shapes.flatMap((placed) => shapeElements(placed, ids.get(placed.shape)!, arrows)),
    ...arrows.flatMap((placed, i) => arrowElements(placed, `a${i + 1}`, ids)),
  ];
  const indices = generateNKeysBetween(null, null, drafts.length);
  const elements = drafts.map((draft, i) => ({ ...draft, index: indices[i]!, seed: i + 1, versionNonce: i + 1 }));
  const appState = { viewBackgroundColor: '#ffffff', gridSize: null };
  return { type: 'excalidraw', version: 2, source: 'canvas-gym', elements, appState, files: {} };
}

function draft(id: string, box: Box, own: Pick<Draft, 'type' | 'boundElements'> & Record<string, unknown>): Draft {
  return {
    id,
    x: box.x,
    y: box.y,
    width: box.w,
    height: box.h,
    angle: 0,
    backgroundColor: 'transparent',
    fillStyle: 'solid',
    strokeWidth: 2,
    strokeStyle: 'solid',
    roughness: 0,
    opacity: 100,
    groupIds: [],
    frameId: null,
    roundness: null,
    version: 1,
    isDeleted: false,
    updated: 1,
    link: null,
    locked: false,
    ...own,
  };
}

/** A shape and its label; a bare text is its own label, and one without a label an invisible box that arrows can end at. */
function shapeElements({ shape, label }: PlacedShape, id: string, arrows: readonly PlacedArrow[]): Draft[] {
  const bound = arrows.flatMap(({ from, to }, i): BoundElement[] =>
    from === shape || to === shape ? [{ id: `a${i + 1}`, type: 'arrow' }] : [],
  );
  const text = cleanLabel(shape.text).trim();
  if (shape.shape === 'text' && text !== '') return [textElement(id, shape, label, text, null, bound)];
  const textId = `${id}-text`;
  const own = {
    type: shape.shape === 'text' ? 'rectangle' : shape.shape,
    strokeColor: shape.shape === 'text' ? 'transparent' : STROKE[shape.shape],
    backgroundColor: shape.shape === 'text' ? 'transparent' : FILL[shape.shape],
    roundness: shape.shape === 'rectangle' ? { type: 3 } : null,
    customData: { canvas_id: shape.id },
  } as const;
  if (text === '') return [draft(id, shape, { ...own, boundElements: bound })];
  return [
    draft(id, shape, { ...own, boundElements: [...bound, { id: textId, type: 'text' }] }),
    textElement(textId, labelBox(label, shape), label, text, id, []),
  ];
}

/** Box of the lines, in the middle of the box they are fitted to. */
function labelBox(label: FittedLabel, around: Box): Box {
  const w = label.lines.reduce((widest, line) => Math.max(widest, textWidth(line, label.size)), 1);
  const h = Math.max(1, label.lines.length) * label.size * LINE_HEIGHT;
  return { x: around.x + (around.w - w) / 2, y: around.y + (around.h - h) / 2, w, h };
}

function textElement(
  id: string,
  box: Box,
  label: FittedLabel,
  originalText: string,
  containerId: string | null,
  boundElements: readonly BoundElement[],
): Draft {
  return draft(id, box, {
    type: 'text',
    boundElements,
    strokeColor: INK,
    text: label.lines.length === 0 ? originalText : label.lines.join('\n'),
    originalText,
    fontSize: label.size,
    fontFamily: HELVETICA,
    textAlign: 'center',
    verticalAlign: 'middle',
    containerId,
    autoResize: containerId !== null,
    lineHeight: LINE_HEIGHT,
  });
}

function arrowElements(
  { arrow, from, to, path, label }: PlacedArrow,
  id: string,
  ids: ReadonlyMap<Shape, string>,
): Draft[] {
  const textId = `${id}-text`;
  const start = path[0];
  const points = path.length === 2 ? path : [0, 0.25, 0.5, 0.75, 1].map((t) => pointAt(path, t));
  const size = unionBox(points.map(({ x, y }) => ({ x, y, w: 0, h: 0 })))!;
  const element = draft(
    id,
    { ...size, x: start.x, y: start.y },
    {
      type: 'arrow',
      boundElements: label ? [{ id: textId, type: 'text' }] : [],
      strokeColor: LINE,
      roundness: path.length === 2 ? null : { type: 2 },
      points: points.map((point) => relative(point, start)),
      lastCommittedPoint: null,
      startBinding: { elementId: ids.get(from)!, focus: 0, gap: ARROW_GAP },
      endBinding: { elementId: ids.get(to)!, focus: 0, gap: ARROW_GAP },
      startArrowhead: null,
      endArrowhead: 'triangle',
      elbowed: false,
    },
  );
  if (label === undefined) return [element];
  return [element, textElement(textId, labelBox(label, label.plate), label, cleanLabel(arrow.text).trim(), id, [])];
}

function relative(point: Point, start: Point): [number, number] {
  return [point.x - start.x, point.y - start.y];
}
