/** SVG: well formed whatever a canvas holds, says what the canvas says, and keeps labels and arrows where they belong. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Canvas } from '../../schemas/canvas.ts';
import { measureText } from '../../server/reward/text.ts';
import { safeShape } from '../../server/render/scene.ts';
import { toSvg } from '../../server/render/svg.ts';
import { anyCanvas, caseCanvas, child, drawnLines, elements, parseXml, shape, shapeGroup } from './scenes.ts';

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });
const graphemes = (text: string): string[] => [...GRAPHEMES.segment(text)].map(({ segment }) => segment);
/** What XML allows of a text. */
const allowed = (text: string): string => text.replace(/[^\t\n\r -\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '');
/** The same without bidi controls: what a picture shows of a label. */
const readable = (text: string): string => allowed(text).replace(/[\u202a-\u202e\u2066-\u2069]/g, '');
const hasLoneSurrogate = (text: string): boolean => /\p{Cs}/u.test(text);

const numbers = (path: string): number[] => (path.match(/-?[\d.]+/g) ?? []).map(Number);

/** Start and end of the line of the n-th arrow. The line ends 8 px before the tip, under the head. */
function arrowEnds(svg: string, n: number): { start: [number, number]; tip: [number, number]; line: string } {
  const group = elements(parseXml(svg), 'g').filter((each) => each.hasAttribute('data-from'))[n]!;
  const [line, head] = Array.from(group.getElementsByTagName('path')).map((path) => path.getAttribute('d')!);
  const [x1, y1] = numbers(line!);
  const [x2, y2] = numbers(head!);
  return { start: [x1!, y1!], tip: [x2!, y2!], line: line! };
}

test('any canvas gives well-formed XML with every label, the same each time, and no NaN', () => {
  fc.assert(
    fc.property(anyCanvas, (canvas) => {
      const svg = toSvg(canvas, { title: canvas.shapes[0]?.text });
      const groups = elements(parseXml(svg), 'g');
      expect(svg).not.toMatch(/NaN|Infinity|undefined|="[^"]*\de[+-]?\d[^"]*"/);
      expect(hasLoneSurrogate(svg)).toBe(false);
      canvas.shapes.forEach((each, i) => {
        const group = groups[i]!;
        expect(group.getAttribute('data-id')).toBe(allowed(each.id));
        if (each.text !== '') expect(child(group, 'title').textContent).toBe(readable(each.text));
      });
      expect(toSvg(canvas, { title: canvas.shapes[0]?.text })).toBe(svg);
    }),
    { numRuns: 1000, seed: 1 },
  );
});

test('drawn lines are whole graphemes of the label, in order, and no wider than the shape', () => {
  fc.assert(
    fc.property(anyCanvas, ({ shapes }) => {
      const document = parseXml(toSvg({ shapes, arrows: [] }));
      shapes.map(safeShape).forEach(({ text, w }, i) => {
        const lines = drawnLines(elements(document, 'g')[i]!);
        const whole = graphemes(readable(text));
        for (const grapheme of lines.flatMap((line) => graphemes(line.text))) {
          if (grapheme === '…' || grapheme === ' ') continue;
          expect(whole).toContain(grapheme);
          whole.splice(0, whole.indexOf(grapheme) + 1);
        }
        for (const line of lines) expect((measureText(line.text) * line.size) / 16).toBeLessThanOrEqual(w + 1e-3);
      });
    }),
    { numRuns: 300, seed: 2 },
  );
});

test('B04: a vertical arrow has finite points, a loop has a length', () => {
  const svg = toSvg(caseCanvas('B04'));
  expect(svg).not.toContain('NaN');
  const vertical = arrowEnds(svg, 0);
  expect(vertical.start).toEqual([50, 60]);
  expect(vertical.tip).toEqual([50, 198]);
  const loop = arrowEnds(svg, 1);
  expect(Math.hypot(loop.tip[0] - loop.start[0], loop.tip[1] - loop.start[1])).toBeGreaterThan(20);
  const [, , , y1, x2] = numbers(loop.line);
  expect(y1).toBeLessThan(-20); // leaves through the top
  expect(x2).toBeGreaterThan(120); // returns from the right
});

test('arrows touch the borders of their shapes: rectangle, ellipse, diamond', () => {
  const arrows = [
    { from: 'r', to: 'e', text: '' },
    { from: 'e', to: 'd', text: '' },
  ];
  const shapes = [
    shape('r', 0, 0),
    shape('e', 300, 0, { shape: 'ellipse' }),
    shape('d', 600, 300, { shape: 'diamond', w: 100, h: 100 }),
  ];
  const svg = toSvg({ shapes, arrows });
  expect(arrowEnds(svg, 0)).toMatchObject({ start: [100, 30], tip: [298, 30] });
  const { start, tip } = arrowEnds(svg, 1);
  expect(((start[0] - 350) / 50) ** 2 + ((start[1] - 30) / 30) ** 2).toBeCloseTo(1, 2);
  const outside = Math.abs(tip[0] - 650) / 50 + Math.abs(tip[1] - 350) / 50 - 1;
  expect(outside).toBeGreaterThan(0);
  expect(outside).toBeLessThan(0.06);
});

test.each([
  ['two in the same direction', ['ab', 'ab']],
  ['a two-way pair', ['ab', 'ba']],
  ['five of both', ['ab', 'ba', 'ab', 'ba', 'ab']],
])('arrows between the same two shapes are apart: %s', (_, pairs) => {
  const arrows = pairs.map((pair) => ({ from: pair[0]!, to: pair[1]!, text: 'x' }));
  const svg = toSvg({ shapes: [shape('a', 0, 0), shape('b', 400, 0)], arrows });
  const middles = arrows.map((_arrow, i) => {
    const points = numbers(arrowEnds(svg, i).line);
    return points.length === 4 ? points[1]! : (points[1]! + 3 * points[3]! + 3 * points[5]! + points[7]!) / 8;
  });
  const sorted = middles.sort((a, b) => a - b);
  for (let i = 1; i < sorted.length; i++) expect(sorted[i]! - sorted[i - 1]!).toBeGreaterThan(15);
});

test('overlapping shapes and shapes on one point still get an arrow of some length', () => {
  const shapes = [shape('a', 0, 0), shape('b', 30, 20), shape('c', 0, 0)];
  const svg = toSvg({
    shapes,
    arrows: [
      { from: 'a', to: 'b', text: '' },
      { from: 'a', to: 'c', text: '' },
    ],
  });
  for (const n of [0, 1]) {
    const { start, tip } = arrowEnds(svg, n);
    expect(Math.hypot(tip[0] - start[0], tip[1] - start[1])).toBeGreaterThan(10);
  }
});

test('B06: far away content is drawn at a bounded distance', () => {
  const view = numbers(/viewBox="([^"]+)"/.exec(toSvg(caseCanvas('B06')))![1]!);
  expect(Math.max(...view.map(Math.abs))).toBeLessThan(1.1e6);
});

test.each<[string, Canvas, { w: number; h: number } | undefined, number[]]>([
  ['an empty page', { shapes: [], arrows: [] }, { w: 1200, h: 800 }, [0, 0, 1200, 800]],
  ['content on the page', { shapes: [shape('a', 0, 0)], arrows: [] }, { w: 1200, h: 800 }, [0, 0, 1200, 800]],
  [
    'content left of the page',
    { shapes: [shape('a', -50, 10)], arrows: [] },
    { w: 1200, h: 800 },
    [-74, -14, 1274, 814],
  ],
  ['content alone', { shapes: [shape('a', 40, 40)], arrows: [] }, undefined, [16, 16, 148, 108]],
])('the view shows %s', (_, canvas, size, view) => {
  expect(numbers(/viewBox="([^"]+)"/.exec(toSvg(canvas, { size }))![1]!)).toEqual(view);
});

test('B14: the wrapped lines of a crowded diamond lie inside it', () => {
  const document = parseXml(toSvg(caseCanvas('B14')));
  const lines = drawnLines(shapeGroup(document, 'd'));
  expect(lines.map((line) => line.text).join(' ')).toBe('Is the customer already verified?');
  for (const { text, x, y, size } of lines) {
    const half = (measureText(text) * size) / 32;
    for (const dy of [-0.75 * size, 0.25 * size]) {
      expect((Math.abs(x - 60) + half) / 60 + Math.abs(y + dy - 40) / 40).toBeLessThanOrEqual(1);
    }
  }
});

test('B17: an arrow to nowhere is not drawn, and a bare text stands where the canvas says', () => {
  const canvas = { shapes: [shape('t', 510, 40, { shape: 'text' })], arrows: [{ from: 't', to: 'gone', text: 'x' }] };
  const svg = toSvg(canvas);
  expect(svg).not.toContain('data-from');
  expect(drawnLines(shapeGroup(parseXml(svg), 't'))).toMatchObject([{ text: 't', x: 560 }]);
});

test('H02: labels and ids come back from the XML exactly', () => {
  const canvas = caseCanvas('H02');
  const group = shapeGroup(parseXml(toSvg(canvas)), 'a"b');
  expect(child(group, 'title').textContent).toBe('R&D <v2> "q" ]]> &amp;');
  expect(
    drawnLines(group)
      .map((line) => line.text)
      .join(' '),
  ).toBe('R&D <v2> "q" ]]> &amp;');
});

test('H07: nothing a canvas holds becomes markup, and colours of its own are not used', () => {
  const svg = toSvg(caseCanvas('H07'), { title: '</title><script>window.hit=1</script>' });
  const document = parseXml(svg);
  expect(elements(document, 'script')).toHaveLength(0);
  const attributes = elements(document, '*').flatMap((element) => Array.from(element.attributes, ({ name }) => name));
  expect(attributes.filter((name) => name.startsWith('on'))).toEqual([]);
  expect(svg).not.toContain('teal');
  expect(shapeGroup(document, 'n1" onclick="window.hit=1')).toBeDefined();
});

test('H09: labels keep their logical order, and bidi controls are left out', () => {
  const document = parseXml(toSvg(caseCanvas('H09')));
  expect(drawnLines(shapeGroup(document, 'a')).map((line) => line.text)).toEqual(['שלום Wi-Fi 7-12']);
  expect(child(shapeGroup(document, 'b'), 'title').textContent).toBe('pay 001 EUR');
});

test.each([60, 1])('H10: emoji and combining marks stay whole at width %i', (w) => {
  const [only] = caseCanvas('H10').shapes;
  const svg = toSvg({ shapes: [{ ...only!, w, h: 400 }], arrows: [] });
  expect(hasLoneSurrogate(svg)).toBe(false);
  expect(svg).not.toContain('\ufffd');
  const whole = new Set(graphemes(only!.text));
  for (const { text } of drawnLines(shapeGroup(parseXml(svg), 'a'))) {
    for (const grapheme of graphemes(text)) expect(whole).toContain(grapheme);
  }
});

test('a label that does not fit at any size ends with an ellipsis', () => {
  const long = 'every word of this long label takes room that a small shape does not have at all';
  const document = parseXml(toSvg({ shapes: [shape('a', 0, 0, { w: 80, h: 40, text: long })], arrows: [] }));
  const lines = drawnLines(shapeGroup(document, 'a'));
  expect(lines.at(-1)!.text).toMatch(/^every|…$/);
  expect(lines.at(-1)!.text.endsWith('…')).toBe(true);
  expect(child(shapeGroup(document, 'a'), 'title').textContent).toBe(long);
});

test('a label of an arrow stands on its middle, or beside it where it would hide the arrow', () => {
  const plate = (gap: number): number[] => {
    const shapes = [shape('a', 0, 0), shape('b', 100 + gap, 0)];
    const svg = toSvg({ shapes, arrows: [{ from: 'a', to: 'b', text: 'sends' }] });
    const rect = elements(parseXml(svg), 'rect').at(-1)!;
    return ['x', 'y', 'width', 'height'].map((name) => Number(rect.getAttribute(name)));
  };
  const [x, y, w, h] = plate(300) as [number, number, number, number];
  expect([x + w / 2, y + h / 2]).toEqual([expect.closeTo(249, 0), expect.closeTo(30, 0)]);
  const [, top, , height] = plate(70) as [number, number, number, number];
  expect(top + height <= 30 || top >= 30).toBe(true);
});
