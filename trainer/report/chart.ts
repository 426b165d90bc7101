/**
 * Line charts as SVG text. Colours come from the page's style sheet (`--series-1` ...), so that one chart suits light,
 * dark and paper. Left out: anything that needs a script, and scales other than linear.
 */
import type { MetricPoint } from '../../clients/store/index.ts';
import { figure, html, type Html } from './html.ts';

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
  /** Name of the horizontal axis. */
  x?: string | undefined;
}

const WIDTH = 480;
const HEIGHT = 230;
const LEFT = 52;
const RIGHT = 12;
const TOP = 10;
const BOTTOM = 34;
const MOST_POINTS = 400;
/** From this many points on a curve is drawn thin, with a bold moving mean over it. */
const NOISY = 24;

interface Range {
  readonly low: number;
  readonly high: number;
}

/** A figure with its legend: each series with its last value. */
export function lineChart({ title, note, series, include = [], x = 'optimizer step' }: ChartOptions): Html {
  const points = series.flatMap((each) => each.points);
  const across = rangeOf(points.map((point) => point.optimizer_step));
  const ticks = niceTicks(rangeOf([...points.map((point) => point.value), ...include]), 5);
  const up = { low: ticks[0]!, high: ticks.at(-1)! };
  const scale = {
    x: (step: number): number => LEFT + position(step, across) * (WIDTH - LEFT - RIGHT),
    y: (value: number): number => HEIGHT - BOTTOM - position(value, up) * (HEIGHT - TOP - BOTTOM),
  };
  const isStep = (step: number): boolean => Number.isInteger(step) && step >= across.low && step <= across.high;
  const steps = niceTicks(across, 5).filter(isStep);
  return html`<figure class="chart">
    <figcaption><b>${title}</b> ${note}</figcaption>
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">
      ${ticks.map((value) => horizontal(scale.y(value), figure(value)))}
      ${steps.map((step) => vertical(scale.x(step), figure(step)))}
      <text class="axis" x="${WIDTH - RIGHT}" y="${HEIGHT - 4}" text-anchor="end">${x}</text>
      ${series.map((each, i) => curve(each.points, i, scale))}
    </svg>
    ${legend(series)}
  </figure>`;
}

/** A curve the height of a line of text, on a scale of 0 to 1. */
export function sparkline(points: readonly MetricPoint[]): Html {
  const across = rangeOf(points.map((point) => point.optimizer_step));
  const scale = {
    x: (step: number): number => 2 + position(step, across) * 156,
    y: (value: number): number => 26 - position(value, { low: 0, high: 1 }) * 24,
  };
  return html`<svg class="spark" viewBox="0 0 160 28" role="img" aria-label="from ${figure(points[0]?.value ?? 0)}">
    <path class="grid" d="M2 2H158M2 26H158" />
    <path class="line series-1" d="${pathOf(smooth(points), scale)}" />
  </svg>`;
}

interface Scale {
  readonly x: (step: number) => number;
  readonly y: (value: number) => number;
}

function curve(points: readonly MetricPoint[], i: number, scale: Scale): Html {
  const color = `series-${(i % 6) + 1}`;
  const drawn = thinOut(points, MOST_POINTS);
  if (drawn.length === 1) {
    return html`<circle
      class="dot ${color}"
      cx="${at(scale.x(drawn[0]!.optimizer_step))}"
      cy="${at(scale.y(drawn[0]!.value))}"
      r="3"
    />`;
  }
  if (drawn.length < NOISY) return html`<path class="line ${color}" d="${pathOf(drawn, scale)}" />`;
  return html`<path class="raw ${color}" d="${pathOf(drawn, scale)}" />
    <path class="line ${color}" d="${pathOf(smooth(drawn), scale)}" />`;
}

function horizontal(y: number, label: string): Html {
  return html`<path class="grid" d="M${LEFT} ${at(y)}H${WIDTH - RIGHT}" />
    <text class="axis" x="${LEFT - 6}" y="${at(y + 4)}" text-anchor="end">${label}</text>`;
}

function vertical(x: number, label: string): Html {
  return html`<text class="axis" x="${at(x)}" y="${HEIGHT - BOTTOM + 15}" text-anchor="middle">${label}</text>`;
}

function legend(series: readonly Series[]): Html {
  const items = series.map(({ label, points }, i) => {
    const last = points.at(-1);
    return html`<span><i class="series-${(i % 6) + 1}"></i>${label} <b>${last ? figure(last.value) : '–'}</b></span>`;
  });
  return html`<p class="legend">${items}</p>`;
}

function pathOf(points: readonly MetricPoint[], scale: Scale): string {
  return points
    .map(({ optimizer_step, value }, i) => `${i === 0 ? 'M' : 'L'}${at(scale.x(optimizer_step))} ${at(scale.y(value))}`)
    .join('');
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

/** Means of equal runs of points where there are more than `most`. */
function thinOut(points: readonly MetricPoint[], most: number): MetricPoint[] {
  const size = Math.ceil(points.length / most);
  if (size <= 1) return [...points];
  return Array.from({ length: Math.ceil(points.length / size) }, (_, i) => {
    const run = points.slice(i * size, (i + 1) * size);
    const value = run.reduce((sum, point) => sum + point.value, 0) / run.length;
    return { optimizer_step: run.at(-1)!.optimizer_step, value };
  });
}

/** Moving mean over about a twelfth of the curve, centred. */
function smooth(points: readonly MetricPoint[]): MetricPoint[] {
  const reach = Math.max(1, Math.round(points.length / 24));
  return points.map(({ optimizer_step }, i) => {
    const near = points.slice(Math.max(0, i - reach), i + reach + 1);
    return { optimizer_step, value: near.reduce((sum, point) => sum + point.value, 0) / near.length };
  });
}
