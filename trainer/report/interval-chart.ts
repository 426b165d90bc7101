/** Means with their intervals on a scale of 0 to 1, as SVG text: a row a group, in it a dot and a bar for each policy. */
import { fixed, html, type Html } from './html.ts';

export interface IntervalRow {
  label: string;
  /** In the order of the series; undefined where a series has no value in this row. */
  values: readonly ({ mean: number; low: number; high: number } | undefined)[];
}

export interface IntervalChartOptions {
  title: string;
  note: string;
  series: readonly string[];
  rows: readonly IntervalRow[];
}

const WIDTH = 480;
const LEFT = 130;
const RIGHT = 14;
const TOP = 6;
const BOTTOM = 22;
/** Height of a series in a row, and what parts two rows. */
const LINE = 11;
const GAP = 10;
const TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1];
const LONGEST_LABEL = 20;
/** A chart of more rows stands beside two others. */
const TALL = 6;

export function intervalChart({ title, note, series, rows }: IntervalChartOptions): Html {
  const rowHeight = LINE * series.length + GAP;
  const height = TOP + BOTTOM + rowHeight * rows.length;
  const x = (value: number): number => LEFT + Math.min(1, Math.max(0, value)) * (WIDTH - LEFT - RIGHT);
  return html`<figure class="chart intervals${rows.length > TALL ? ' tall' : ''}">
    <figcaption><b>${title}</b> ${note}</figcaption>
    <svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${describe(title, series, rows)}">
      ${TICKS.map((tick) => gridLine(x(tick), height - BOTTOM, String(tick)))}
      ${rows.map((row, i) => intervalRow(row, TOP + GAP / 2 + i * rowHeight, rowHeight - GAP, x))}
    </svg>
    <p class="legend">${series.map((name, i) => html`<span>${key(i)} ${name}</span>`)}</p>
  </figure>`;
}

function describe(title: string, series: readonly string[], rows: readonly IntervalRow[]): string {
  const words = rows.map(({ label, values }) => {
    const figures = values.flatMap((value, i) => (value ? [`${series[i]!} ${fixed(value.mean, 2)}`] : []));
    return `${label}: ${figures.join(', ')}`;
  });
  return `${title}. ${words.join('; ')}`;
}

function gridLine(x: number, bottom: number, label: string): Html {
  return html`<path class="grid" d="M${x} ${TOP}V${bottom}" />
    <text class="axis" x="${x}" y="${bottom + 15}" text-anchor="middle">${label}</text>`;
}

function intervalRow({ label, values }: IntervalRow, top: number, height: number, x: (value: number) => number): Html {
  const shown = label.length <= LONGEST_LABEL ? label : `${label.slice(0, LONGEST_LABEL - 1)}…`;
  const marks = values.map((value, i) => {
    if (!value) return html``;
    const y = top + LINE * (i + 0.5);
    return html`<path class="interval series-${(i % 6) + 1}" d="M${at(x(value.low))} ${y}H${at(x(value.high))}" />
      ${dot(i, at(x(value.mean)), y)}`;
  });
  return html`<text class="axis" x="${LEFT - 10}" y="${top + height / 2 + 4}" text-anchor="end">${shown}</text>
    ${marks}`;
}

/** A circle, a square or a diamond, for who cannot tell the colours apart. */
function dot(i: number, x: number, y: number): Html {
  const shape = ['M-4 0A4 4 0 1 1 4 0A4 4 0 1 1 -4 0Z', 'M-3.5 -3.5H3.5V3.5H-3.5Z', 'M0 -5L5 0L0 5L-5 0Z'][i % 3]!;
  return html`<path class="dot series-${(i % 6) + 1}" transform="translate(${x} ${y})" d="${shape}" />`;
}

function key(i: number): Html {
  return html`<svg class="key" viewBox="0 0 22 12" aria-hidden="true">
    <path class="interval series-${(i % 6) + 1}" d="M0 6H22" />
    ${dot(i, 11, 6)}
  </svg>`;
}

function at(value: number): number {
  return Math.round(value * 10) / 10;
}
