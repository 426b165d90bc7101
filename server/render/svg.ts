/**
 * SVG of a canvas: plain, self-contained (no ids, styles, scripts or links), the same text for the same canvas.
 * Colours are the ones named here; nothing a model wrote becomes an attribute except ids, which are escaped.
 */
import type { Canvas, CanvasSize, Shape } from '../../schemas/canvas.ts';
import { FONT_SIZE_PX } from '../reward/text.ts';
import type { PlacedArrow } from './arrows.ts';
import { cleanLabel, escapeAttribute, escapeText } from './escape.ts';
import { along, centre, direction, type Box, type Path, type Point } from './geometry.ts';
import type { FittedLabel } from './label.ts';
import { FILL, INK, LINE, STROKE } from './palette.ts';
import { toScene, type PlacedShape } from './scene.ts';

export const FONT_FAMILY = 'DejaVu Sans';
const FONT_STACK = `${FONT_FAMILY}, Verdana, Arial, sans-serif`;
const HEAD = { length: 11, half_width: 4.5 };
/** Where the line ends under the head, so that its width does not show beside the tip. */
const LINE_END = 8;

export interface SvgOptions {
  /** The task's drawing area, px; without it the picture is as large as its content. */
  readonly size?: CanvasSize | undefined;
  /** Title for readers that do not see the picture; it is not drawn. */
  readonly title?: string | undefined;
}

export function toSvg(canvas: Canvas, options: SvgOptions = {}): string {
  const { shapes, arrows, view, page } = toScene(canvas, options.size);
  return [
    openTag(view),
    ...(options.title ? [titleTag(options.title)] : []),
    `<rect ${rectangle(view)} fill="#ffffff"/>`,
    ...(page ? [`<rect ${rectangle(page)} fill="none" stroke="#cbd5e1" stroke-dasharray="6 5"/>`] : []),
    ...shapes.map(shapeGroup),
    ...arrows.map(arrowGroup),
    ...arrows.flatMap(({ label }) => (label ? [plateGroup(label, label.plate)] : [])),
    '</svg>',
    '',
  ].join('\n');
}

function openTag(view: Box): string {
  const box = [view.x, view.y, view.w, view.h].map(number).join(' ');
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${number(view.w)}" height="${number(view.h)}" viewBox="${box}" ` +
    `role="img" font-family="${FONT_STACK}" font-size="${FONT_SIZE_PX}">`
  );
}

/** At most two decimals, never an exponent, never "-0". */
function number(value: number): string {
  const rounded = Math.round(value * 100) / 100;
  return String(rounded === 0 ? 0 : rounded);
}

function titleTag(label: string): string {
  return `<title>${escapeText(cleanLabel(label))}</title>`;
}

function rectangle({ x, y, w, h }: Box): string {
  return `x="${number(x)}" y="${number(y)}" width="${number(w)}" height="${number(h)}"`;
}

/** The whole label stands in `title`, whatever the wrapped lines show of it. */
function shapeGroup({ shape, label }: PlacedShape): string {
  const open = `<g data-id="${escapeAttribute(shape.id)}" data-shape="${shape.shape}">`;
  const title = shape.text === '' ? '' : titleTag(shape.text);
  return `${open}${title}${outline(shape)}${textBlock(label, centre(shape))}</g>`;
}

function outline(shape: Shape): string {
  const { x, y, w, h } = shape;
  const paint = `fill="${FILL[shape.shape]}" stroke="${STROKE[shape.shape]}" stroke-width="1.6" stroke-linejoin="round"`;
  switch (shape.shape) {
    case 'rectangle':
      return `<rect ${rectangle(shape)} rx="${number(Math.min(8, w / 4, h / 4))}" ${paint}/>`;
    case 'ellipse': {
      const middle = centre(shape);
      const radii = `rx="${number(w / 2)}" ry="${number(h / 2)}"`;
      return `<ellipse cx="${number(middle.x)}" cy="${number(middle.y)}" ${radii} ${paint}/>`;
    }
    case 'diamond': {
      const corners = [point(x + w / 2, y), point(x + w, y + h / 2), point(x + w / 2, y + h), point(x, y + h / 2)];
      return `<path d="M${corners.join('L')}Z" ${paint}/>`;
    }
    case 'text':
      return '';
  }
}

function point(x: number, y: number): string {
  return `${number(x)} ${number(y)}`;
}

/** Lines centred on a point; the baseline lies .36 em below the middle of a line (half the cap height of DejaVu Sans). */
function textBlock(label: FittedLabel, middle: Point): string {
  if (label.lines.length === 0) return '';
  const first = middle.y - ((label.lines.length - 1) * label.line_height) / 2 + 0.36 * label.size;
  const spans = label.lines.map((line, i) => {
    const y = number(first + i * label.line_height);
    return `<tspan x="${number(middle.x)}" y="${y}">${escapeText(line)}</tspan>`;
  });
  const size = label.size === FONT_SIZE_PX ? '' : ` font-size="${number(label.size)}"`;
  return `<text text-anchor="middle" fill="${INK}"${size}>${spans.join('')}</text>`;
}

function arrowGroup({ arrow, path }: PlacedArrow): string {
  const ends = `data-from="${escapeAttribute(arrow.from)}" data-to="${escapeAttribute(arrow.to)}"`;
  const title = arrow.text === '' ? '' : titleTag(arrow.text);
  const line = `<path d="${pathData(path)}" fill="none" stroke="${LINE}" stroke-width="1.6"/>`;
  return `<g ${ends}>${title}${line}<path d="${headData(path)}" fill="${LINE}"/></g>`;
}

function pathData(path: Path): string {
  const tip = path[path.length - 1]!;
  const drawn = [...path.slice(0, -1), along(tip, arrival(path), -LINE_END)];
  const [start, ...rest] = drawn.map(({ x, y }) => point(x, y));
  return `M${start!}${rest.length === 1 ? 'L' : 'C'}${rest.join(' ')}`;
}

function arrival(path: Path): Point {
  return direction(path[path.length - 2]!, path[path.length - 1]!) ?? { x: 1, y: 0 };
}

/** A filled triangle whose tip is the end of the path and which points the way the path arrives. */
function headData(path: Path): string {
  const tip = path[path.length - 1]!;
  const ray = arrival(path);
  const base = along(tip, ray, -HEAD.length);
  const left = along(base, { x: -ray.y, y: ray.x }, HEAD.half_width);
  const right = along(base, { x: -ray.y, y: ray.x }, -HEAD.half_width);
  return `M${[tip, left, right].map(({ x, y }) => point(x, y)).join('L')}Z`;
}

function plateGroup(label: FittedLabel, plate: Box): string {
  return `<g><rect ${rectangle(plate)} rx="3" fill="#ffffff" fill-opacity="0.92"/>${textBlock(label, centre(plate))}</g>`;
}
