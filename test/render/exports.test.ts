/** Exports: valid for tldraw's own schema, Excalidraw's invariants, and text that Mermaid cannot mistake for syntax. */
import fc from 'fast-check';
import { createTLSchema } from '@tldraw/tlschema';
import { generateKeyBetween } from 'fractional-indexing';
import { describe, expect, test } from 'vitest';
import type { Canvas } from '../../schemas/canvas.ts';
import { toExcalidraw, type ExcalidrawElement } from '../../server/render/excalidraw.ts';
import { render } from '../../server/render/index.ts';
import { toMermaid } from '../../server/render/mermaid.ts';
import { toTldraw } from '../../server/render/tldraw.ts';
import { anyCanvas, caseCanvas, shape } from './scenes.ts';

/** Two labelled shapes and a labelled arrow. */
const PAIR: Canvas = {
  shapes: [shape('a', 40, 40, { text: 'Client' }), shape('b', 400, 40, { text: 'API', shape: 'ellipse' })],
  arrows: [{ from: 'a', to: 'b', text: 'calls' }],
};
const EMPTY: Canvas = { shapes: [], arrows: [] };

const schema = createTLSchema();

/** tldraw's own migration and validation of every record; throws at the first that is wrong. */
function loadIntoTldraw(canvas: Canvas): Record<string, unknown>[] {
  const snapshot = JSON.parse(JSON.stringify(toTldraw(canvas))) as Parameters<typeof schema.migrateStoreSnapshot>[0];
  const migrated = schema.migrateStoreSnapshot(snapshot);
  if (migrated.type === 'error') throw new Error(migrated.reason);
  const records = Object.values(migrated.value);
  for (const record of records) schema.types[record.typeName as 'shape'].validate(record);
  return records as unknown as Record<string, unknown>[];
}

interface ExcalidrawFault {
  readonly id: string;
  readonly fault: 'number' | 'id' | 'index' | 'container' | 'binding' | 'bound';
}

/** What would make Excalidraw drop, misplace or crash on an element. */
function excalidrawFaults(elements: readonly ExcalidrawElement[]): ExcalidrawFault[] {
  const position = new Map(elements.map(({ id }, i) => [id, i]));
  const lists = (container: unknown, id: string): boolean =>
    elements[position.get(container as string) ?? -1]?.boundElements.some((bound) => bound.id === id) ?? false;
  return elements.flatMap((element, i) => {
    const { id, index, x, y, width, height, boundElements } = element;
    const { containerId, startBinding, endBinding } = element as Record<string, unknown>;
    const ends = [startBinding, endBinding].filter((end) => end != null) as { elementId: string }[];
    const faults: Record<ExcalidrawFault['fault'], boolean> = {
      number: !([x, y, width, height].every(Number.isFinite) && width >= 0 && height >= 0),
      id: position.get(id) !== i,
      index: (i > 0 && index <= elements[i - 1]!.index) || !isOrderKey(index),
      container: containerId != null && !(position.get(containerId as string)! < i && lists(containerId, id)),
      binding: ends.some(({ elementId }) => !lists(elementId, id)),
      bound: boundElements.some((bound) => !position.has(bound.id)),
    };
    return Object.entries(faults).flatMap(([fault, found]) => (found ? [{ id, fault } as ExcalidrawFault] : []));
  });
}

function isOrderKey(key: string): boolean {
  try {
    return generateKeyBetween(key, null) > key;
  } catch {
    return false;
  }
}

function ofType(records: readonly Record<string, unknown>[], type: string): Record<string, unknown>[] {
  return records.filter((record) => record['type'] === type);
}

describe('tldraw', () => {
  test('any canvas loads, and names the record versions of tldraw 5.1', () => {
    expect(toTldraw(EMPTY).schema).toEqual(schema.serialize());
    fc.assert(
      fc.property(anyCanvas, (canvas) => {
        loadIntoTldraw(canvas);
      }),
      { numRuns: 300, seed: 3 },
    );
  });

  test('same coordinates as the canvas; arrows bound at both ends', () => {
    const records = loadIntoTldraw(PAIR);
    expect(ofType(records, 'geo')).toMatchObject([
      { x: 40, y: 40, meta: { canvas_id: 'a' }, props: { w: 100, h: 60, geo: 'rectangle' } },
      { x: 400, y: 40, meta: { canvas_id: 'b' }, props: { w: 100, h: 60, geo: 'ellipse' } },
    ]);
    const arrows = records.filter(({ type, typeName }) => type === 'arrow' && typeName === 'shape');
    expect(arrows).toMatchObject([{ x: 140, y: 70, props: { bend: 0, end: { x: 258, y: 0 } } }]);
    const bindings = records.filter(({ typeName }) => typeName === 'binding');
    expect(bindings.map(({ toId, props }) => [toId, (props as { terminal: string }).terminal])).toEqual([
      ['shape:s1', 'start'],
      ['shape:s2', 'end'],
    ]);
  });

  test('B10: twelve shapes have canonical order keys in the order of creation', () => {
    const canvas = caseCanvas('B10');
    const records = ofType(loadIntoTldraw(canvas), 'geo');
    const byKey = [...records].sort((a, b) => ((a['index'] as string) < (b['index'] as string) ? -1 : 1));
    expect(byKey.map(({ meta }) => (meta as { canvas_id: string }).canvas_id)).toEqual(
      canvas.shapes.map(({ id }) => id),
    );
  });

  test('the two arrows of a two-way pair bend to different sides of the page', () => {
    const arrows = [
      { from: 'a', to: 'b', text: '' },
      { from: 'b', to: 'a', text: '' },
    ];
    const bends = loadIntoTldraw({ ...PAIR, arrows })
      .filter(({ type, typeName }) => type === 'arrow' && typeName === 'shape')
      .map(({ props }) => (props as { bend: number }).bend);
    expect(bends[0]).toBeCloseTo(bends[1]!, 6); // opposite ways, same hand: opposite sides
    expect(Math.abs(bends[0]!)).toBeGreaterThan(10);
  });
});

describe('Excalidraw', () => {
  test('B11: every label is a text element that its container lists', () => {
    const { elements } = toExcalidraw(PAIR);
    const texts = elements.filter(({ type }) => type === 'text');
    expect(texts.map(({ originalText }) => originalText)).toEqual(['Client', 'API', 'calls']);
    for (const { id, containerId } of texts) {
      const container = elements.find((element) => element.id === containerId)!;
      expect(container.boundElements).toContainEqual({ id, type: 'text' });
    }
  });

  test('B12: containers stand before their texts, order keys increase, references hold both ways', () => {
    fc.assert(
      fc.property(anyCanvas, (canvas) => {
        expect(excalidrawFaults(toExcalidraw(canvas).elements)).toEqual([]);
      }),
      { numRuns: 1000, seed: 4 },
    );
  });

  test('the check of B12 finds a text before its container, a bad key and a one-sided reference', () => {
    const { elements } = toExcalidraw(PAIR);
    const swapped = [elements[1]!, elements[0]!, ...elements.slice(2)];
    expect(excalidrawFaults(swapped).map(({ fault }) => fault)).toEqual(['container', 'index']);
    const unbound = elements.map((element) => ({ ...element, boundElements: [], index: `${element.index}0` }));
    expect(new Set(excalidrawFaults(unbound).map(({ fault }) => fault))).toEqual(
      new Set(['index', 'container', 'binding']),
    );
  });

  test('B17: coordinates are those of the canvas, for a bare text too; an arrow to nowhere is left out', () => {
    const shapes = [shape('t', 510, 40, { shape: 'text' }), shape('b', 10, 20)];
    const { elements } = toExcalidraw({ shapes, arrows: [{ from: 't', to: 'gone', text: '' }] });
    expect(elements.map(({ type, x, y }) => [type, x, y])).toEqual([
      ['text', 510, 40],
      ['rectangle', 10, 20],
      ['text', expect.any(Number), expect.any(Number)],
    ]);
    expect(loadIntoTldraw({ shapes, arrows: [] }).find(({ type }) => type === 'text')).toMatchObject({ x: 510, y: 40 });
  });
});

test('B07: no export has a width or height of 0 or less, or NaN', () => {
  const canvas = caseCanvas('B07');
  for (const { width, height } of toExcalidraw(canvas).elements) expect(Math.min(width, height)).toBeGreaterThan(0);
  for (const { props } of ofType(loadIntoTldraw(canvas), 'geo')) {
    const { w, h } = props as { w: number; h: number };
    expect(Math.min(w, h)).toBeGreaterThan(0);
  }
});

describe('Mermaid', () => {
  test('shapes, labels, direction', () => {
    const shapes = [
      shape('start here', 0, 0, { shape: 'ellipse', text: 'Start' }),
      shape('ok?', 0, 200, { shape: 'diamond', text: 'Is it ok?' }),
      shape('note', 300, 0, { shape: 'text', text: 'a note' }),
      shape('blank', 0, 400, { text: '' }),
    ];
    const arrows = [
      { from: 'start here', to: 'ok?', text: '' },
      { from: 'ok?', to: 'blank', text: 'yes' },
      { from: 'ok?', to: 'gone', text: 'no' },
    ];
    expect(toMermaid({ shapes, arrows }).split('\n')).toEqual([
      'flowchart TD',
      '  n1(["Start"])',
      '  n2{"Is it ok?"}',
      '  n3["a note"]',
      '  n4[" "]',
      '  n1 --> n2',
      '  n2 -->|"yes"| n4',
      '  style n3 fill:none,stroke:none',
      '',
    ]);
  });

  test.each([
    ['R&D <v2> "q" &amp;', 'R#38;D #60;v2#62; #34;q#34; #38;amp#59;'],
    ['%%{init: {"theme":"dark"}}%%', '#37;#37;#123;init: #123;#34;theme#34;:#34;dark#34;#125;#125;#37;#37;'],
    ['two\nlines', 'two<br/>lines'],
    ['**bold** `code` _u_', '#42;#42;bold#42;#42; #96;code#96; #95;u#95;'],
    ['開始 → ok', '開始 → ok'],
  ])('text stays text: %s', (label, written) => {
    expect(toMermaid({ shapes: [shape('a', 0, 0, { text: label })], arrows: [] })).toBe(
      `flowchart TD\n  n1["${written}"]\n`,
    );
  });

  test.each([
    ['right', [300, 0], 'LR'],
    ['left', [-300, 0], 'RL'],
    ['up', [0, -300], 'BT'],
    ['down', [0, 300], 'TD'],
  ])('arrows that point %s', (_, [x, y], direction) => {
    const shapes = [shape('a', 0, 0), shape('b', x!, y!)];
    expect(toMermaid({ shapes, arrows: [{ from: 'a', to: 'b', text: '' }] })).toMatch(`flowchart ${direction}\n`);
  });
});

test.each(['svg', 'tldraw', 'excalidraw', 'mermaid'] as const)(
  '%s is the same text for the same canvas',
  async (format) => {
    const canvases = fc.sample(anyCanvas, { numRuns: 50, seed: 5 });
    for (const canvas of canvases)
      expect(await render(canvas, format)).toEqual(await render(structuredClone(canvas), format));
  },
);
