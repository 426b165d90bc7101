/** Canvases to draw: those of the collected cases, read without any validation, and random ones with hostile text. */
import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { DOMParser, type Document, type Element } from '@xmldom/xmldom';
import fc from 'fast-check';
import { SHAPE_KINDS } from '../../schemas/action.ts';
import type { Arrow, Canvas, Shape } from '../../schemas/canvas.ts';

interface Case {
  readonly id: string;
  readonly input_kind: string;
  readonly input: string;
}

const CASES = JSON.parse(readFileSync(new URL('../data/cases.json', import.meta.url), 'utf8')) as Case[];

/** The canvas a case's completion would give if nothing were ever refused: what a stored row or an import could hold. */
export function caseCanvas(id: string): Canvas {
  const { input, input_kind } = CASES.find((each) => each.id === id)!;
  const completion = input_kind === 'js' ? (runInNewContext(input) as string) : input;
  const { actions } = JSON.parse(completion) as { actions: (Record<string, unknown> & { type: string })[] };
  const fields = actions.map(({ type, ...rest }) => ({ type, rest }));
  return {
    shapes: fields.filter(({ type }) => type === 'create_shape').map(({ rest }) => rest as unknown as Shape),
    arrows: fields.filter(({ type }) => type === 'connect').map(({ rest }) => rest as unknown as Arrow),
  };
}

export function shape(id: string, x: number, y: number, more: Partial<Shape> = {}): Shape {
  return { id, shape: 'rectangle', x, y, w: 100, h: 60, text: id, ...more };
}

/** Any UTF-16 text: controls, lone surrogates and bidi controls too. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom(
    '',
    'a <b> & "c"',
    'ok 👩‍👩‍👧 e\u0301',
    'שלום Wi-Fi',
    '\ud800',
    'a\u202eb',
    ']]>',
    '<!--',
    'x\ny',
    '開始',
  ),
);
const coordinate = fc.oneof(fc.integer({ min: -200, max: 1400 }), fc.double(), fc.constantFrom(0, 8e8, 1e300));
const length = fc.oneof(fc.integer({ min: 1, max: 400 }), fc.double(), fc.constantFrom(0, -5, 1e-9));

/** Random canvases, invalid numbers and arrows to nowhere among them. */
export const anyCanvas: fc.Arbitrary<Canvas> = fc
  .array(
    fc.record({
      shape: fc.constantFrom(...SHAPE_KINDS),
      x: coordinate,
      y: coordinate,
      w: length,
      h: length,
      text,
      id: fc.oneof({ weight: 3, arbitrary: fc.constant('') }, { weight: 1, arbitrary: text }),
    }),
    { maxLength: 7 },
  )
  .chain((drafts) => {
    const shapes = drafts.map((draft, i) => ({ ...draft, id: `${i}${draft.id}` }));
    const end = fc.constantFrom('nowhere', ...shapes.map(({ id }) => id));
    const arrows = fc.array(fc.record({ from: end, to: end, text }), { maxLength: 9 });
    return arrows.map((list) => ({ shapes, arrows: list }));
  });

/** Parses strictly: anything that is not well-formed XML throws. */
export function parseXml(xml: string): Document {
  const onError = (level: string, message: string): never => {
    throw new Error(`${level}: ${message}`);
  };
  return new DOMParser({ onError }).parseFromString(xml, 'image/svg+xml');
}

export function elements(document: Document, name: string): Element[] {
  return Array.from(document.getElementsByTagName(name));
}

/** The group of a shape, found by the id it has on the canvas. */
export function shapeGroup(document: Document, id: string): Element {
  return elements(document, 'g').find((group) => group.getAttribute('data-id') === id)!;
}

export function child(parent: Element, name: string): Element {
  return parent.getElementsByTagName(name)[0]!;
}

/** The wrapped lines that a group shows. */
export function drawnLines(group: Element): { text: string; x: number; y: number; size: number }[] {
  return Array.from(group.getElementsByTagName('tspan')).map((span) => ({
    text: span.textContent ?? '',
    x: Number(span.getAttribute('x')),
    y: Number(span.getAttribute('y')),
    size: Number((span.parentNode as Element).getAttribute('font-size') ?? 16),
  }));
}
