/**
 * Line and area charts as SVG text. Colours come from the page's style sheet (`--series-1` ...), so that one chart suits
 * light, dark and paper; each line also has dashes of its own, for who cannot tell the colours apart. Left out: anything
 * that needs a script, and scales other than linear.
 */
import type { MetricPoint } from '../../clients/store/index.ts';
import { figure, html, type Html } from './html.ts';
import { smooth, stack, toBuckets, type Bucket } from './series.ts';

export interface Series {
  label: string;
  points: readonly MetricPoint[];
}

export interface ChartOptions {
  title: string;
  /** What the curve means and which way is good. */
  note: string;
  series: readonly Series[];
  /** Values the vertical axis always shows. */
  include?: readonly number[] | undefined;
  /** Areas one on the other, each the part of a whole, instead of lines. */
  stacked?: boolean | undefined;
  /** Steps that are marked, from and to. */
  shaded?: readonly { from: number; to: number }[] | undefined;
  /** Twice as wide. */
  wide?: boolean | undefined;
}

const HEIGHT = 230;
const LEFT = 52;
const RIGHT = 14;
const TOP = 10;
const BOTTOM = 34;
const MOST_BUCKETS = 200;
/** From this many points on a curve is drawn thin, with a bold moving mean over it; below it, with its points. */
const NOISY = 24;

interface Range {
  readonly low: number;
  readonly high: number;
}

interface Scale {
  readonly x: (step: number) => number;
  readonly y: (value: number) => number;
}

/** A figure with its legend: each series with its last value. */
export function lineChart({ title, note, series, include = [], stacked, shaded = [], wide }: ChartOptions): Html {
  const width = wide ? 1000 : 480;
  const drawn = stacked ? toStack(series) : series;
  const points = drawn.flatMap((each) => each.points);
  const across = rangeOf(points.map((point) => point.optimizer_step));
  const ticks = niceTicks(rangeOf([...points.map((point) => point.value), ...include]), 5);
  const up = { low: ticks[0]!, high: ticks.at(-1)! };
  const scale = {
    x: (step: number): number => LEFT + position(step, across) * (width - LEFT - RIGHT),
    y: (value: number): number => HEIGHT - BOTTOM - position(value, up) * (HEIGHT - TOP - BOTTOM),
  };
  const isStep = (step: number): boolean => Number.isInteger(step) && step >= across.low && step <= across.high;
  const steps = niceTicks(across, wide ? 10 : 5).filter(isStep);
  return html`<figure class="chart${wide ? ' wide' : ''}">
    <figcaption><b>${title}</b> ${note}</figcaption>
    <svg viewBox="0 0 ${width} ${HEIGHT}" role="img" aria-label="${describe(title, series)}">
      ${shaded.map(({ from, to }) => shade(scale.x(Math.max(from, across.low)), scale.x(to)))}
      ${ticks.map((value) => horizontal(scale.y(value), width, figure(value)))}
      ${steps.map((step) => vertical(scale.x(step), figure(step)))}
      <text class="axis" x="${width - RIGHT}" y="${HEIGHT - 4}" text-anchor="end">optimizer step</text>
      ${stacked ? areas(drawn, scale) : drawn.map((each, i) => curve(each.points, i, scale))}
    </svg>
    ${legend(series, stacked ? 'area' : 'line')}
  </figure>`;
}

/** What a curve shows, in words, for who hears the page. */
function describe(title: string, series: readonly Series[]): string {
  const ways = series.map(({ label, points }) => {
    const [first, last] = [points[0], points.at(-1)];
    return first && last ? `${label} from ${figure(first.value)} to ${figure(last.value)}` : `${label}: no value`;
  });
  return `${title}: ${ways.join(', ')}`;
}

/** A curve the height of two lines of text, on a scale of 0 to 1. */
export function sparkline(points: readonly MetricPoint[]): Html {
  const buckets = toBuckets(points, 80);
  const across = rangeOf(points.map((point) => point.optimizer_step));
  const scale = {
    x: (step: number): number => 2 + position(step, across) * 156,
    y: (value: number): number => 34 - position(value, { low: 0, high: 1 }) * 32,
  };
  const way = `from ${figure(points[0]?.value ?? 0)} to ${figure(points.at(-1)?.value ?? 0)}`;
  return html`<svg class="spark" viewBox="0 0 160 36" role="img" aria-label="${way}">
    <path class="grid" d="M2 2H158M2 34H158" />
    <path class="line series-1" d="${pathOf(smooth(buckets), scale)}" />
  </svg>`;
}

function curve(points: readonly MetricPoint[], i: number, scale: Scale): Html {
  const color = colorOf(i);
  if (points.length < NOISY) {
    const line = points.length > 1 ? html`<path class="line ${color}" d="${pathOf(points, scale)}" />` : html``;
    return html`${line} ${points.map((point) => dot(point, color, scale))}`;
  }
  const buckets = toBuckets(points, MOST_BUCKETS);
  const raw =
    buckets.length < points.length
      ? html`<path class="band ${color}" d="${bandOf(buckets, scale)}" />`
      : html`<path class="raw ${color}" d="${pathOf(points, scale)}" />`;
  return html`${raw} <path class="line ${color}" d="${pathOf(smooth(buckets), scale)}" />`;
}

function dot({ optimizer_step, value }: MetricPoint, color: string, scale: Scale): Html {
  return html`<circle class="dot ${color}" cx="${at(scale.x(optimizer_step))}" cy="${at(scale.y(value))}" r="2.5" />`;
}

/** Series as tops of areas, of as few steps as a picture shows. */
function toStack(series: readonly Series[]): Series[] {
  return stack(series.map(({ points }) => points)).map((points, i) => {
    const few = toBuckets(points, MOST_BUCKETS).map(({ optimizer_step, mean }) => ({ optimizer_step, value: mean }));
    return { label: series[i]!.label, points: few };
  });
}

/** Each from the top of the one below it, or 0, to its own. */
function areas(tops: readonly Series[], scale: Scale): Html[] {
  return tops.map(({ points }, i) => {
    if (points.length === 1) return dot(points[0]!, colorOf(i), scale);
    const floor = tops[i - 1]?.points ?? points.map(({ optimizer_step }) => ({ optimizer_step, value: 0 }));
    return html`<path class="area ${colorOf(i)}" d="${regionOf(points, floor, scale)}" />`;
  });
}

function shade(left: number, right: number): Html {
  return html`<path class="shade" d="M${at(left)} ${TOP}H${at(right)}V${HEIGHT - BOTTOM}H${at(left)}Z" />`;
}

function horizontal(y: number, width: number, label: string): Html {
  return html`<path class="grid" d="M${LEFT} ${at(y)}H${width - RIGHT}" />
    <text class="axis" x="${LEFT - 6}" y="${at(y + 4)}" text-anchor="end">${label}</text>`;
}

function vertical(x: number, label: string): Html {
  return html`<text class="axis" x="${at(x)}" y="${HEIGHT - BOTTOM + 15}" text-anchor="middle">${label}</text>`;
}

/** Its keys are drawn as the curves are, dashes and all. */
function legend(series: readonly Series[], kind: 'line' | 'area'): Html {
  const items = series.map(({ label, points }, i) => {
    const last = points.at(-1);
    const key = html`<svg class="key" viewBox="0 0 22 8" aria-hidden="true">
      <path class="${kind} ${colorOf(i)}" d="${kind === 'line' ? 'M0 4H22' : 'M0 0H22V8H0Z'}" />
    </svg>`;
    return html`<span>${key} ${label} <b>${last ? figure(last.value) : '–'}</b></span>`;
  });
  return html`<p class="legend">${items}</p>`;
}

function colorOf(i: number): string {
  return `series-${(i % 6) + 1}`;
}

function pathOf(points: readonly MetricPoint[], scale: Scale): string {
  return points
    .map(({ optimizer_step, value }, i) => `${i === 0 ? 'M' : 'L'}${at(scale.x(optimizer_step))} ${at(scale.y(value))}`)
    .join('');
}

/** From the least to the most of each bucket. */
function bandOf(buckets: readonly Bucket[], scale: Scale): string {
  const top = buckets.map(({ optimizer_step, most }) => ({ optimizer_step, value: most }));
  const bottom = buckets.map(({ optimizer_step, least }) => ({ optimizer_step, value: least }));
  return regionOf(top, bottom, scale);
}

/** Along the top, and back along the bottom. */
function regionOf(top: readonly MetricPoint[], bottom: readonly MetricPoint[], scale: Scale): string {
  if (top.length === 0) return '';
  return `${pathOf(top, scale)}${pathOf(bottom.toReversed(), scale).replace('M', 'L')}Z`;
}

function at(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function rangeOf(values: readonly number[]): Range {
  const low = values.reduce((least, value) => Math.min(least, value), Infinity);
  const high = values.reduce((most, value) => Math.max(most, value), -Infinity);
  return low <= high ? { low, high } : { low: 0, high: 1 };
}

/** Share of a range, 0.5 for a range of one value. */
function position(value: number, { low, high }: Range): number {
  return high > low ? (value - low) / (high - low) : 0.5;
}

/** Round numbers (1, 2 or 5 times a power of ten) that cover a range in about `count` steps. */
export function niceTicks({ low, high }: Range, count: number): number[] {
  const span = high > low ? high - low : Math.max(Math.abs(high), 1) / 2;
  const rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const unit = power * (rough / power <= 1 ? 1 : rough / power <= 2 ? 2 : rough / power <= 5 ? 5 : 10);
  const first = Math.floor(low / unit + 1e-9);
  const last = Math.max(first + 1, Math.ceil(high / unit - 1e-9));
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * unit).toPrecision(12)));
}
