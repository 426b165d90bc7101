/**
 * Progress of long work: a bar on a terminal, a line now and then elsewhere (logs, CI). Each line says which stage of how
 * many, what is done, the time left, a metric and the rate, in this order, so that a narrow terminal cuts off what matters
 * least. Goes to standard error, so that results can be piped.
 */
import type { Progress } from '../schemas/settings.ts';

/** What it needs of a stream: `process.stderr`, or a list in tests. */
export interface ProgressStream {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
}

/** A Progress that can step aside while another line is written. */
export interface ConsoleProgress extends Progress {
  /** Takes the bar off the screen; the next update draws it again. */
  clear: () => void;
}

interface Stage {
  name: string;
  total: number;
  unit: string;
  started_ms: number;
  /** Units that were done before it started, so that a resumed stage does not claim their speed. */
  skipped: number;
  done: number;
  metrics: Readonly<Record<string, number>>;
  /** What was done when, oldest first, as far back as the rate looks. */
  marks: { at_ms: number; done: number }[];
}

const REDRAW_MS = 100;
/** Where lines stay: one every 5 s in the first minute of a stage, then one every 30 s. */
const LINE_MS = 5_000;
const LATER_LINE_MS = 30_000;
const SHORT_MS = 60_000;
const BAR_WIDTH = 20;
/** A bar of less says nothing. */
const LEAST_BAR_WIDTH = 6;
/** The rate is that of the last half of the stage, of 30 s at least: it follows a change and does not jump with each step. */
const LEAST_WINDOW_MS = 30_000;
const MARK_MS = 500;
const ERASE_LINE = '\r\u001b[K';

/** Time as a person says it: `8 s`, `3 min 20 s`, `2 h 05 min`. */
export function toDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const pad = (value: number): string => String(value).padStart(2, '0');
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${pad(whole % 60)} s`;
  return `${Math.floor(whole / 3600)} h ${pad(Math.floor((whole % 3600) / 60))} min`;
}

function toFigure(value: number): string {
  return Number.isInteger(value) || Math.abs(value) >= 100 ? String(Math.round(value)) : value.toPrecision(3);
}

function toMetrics(metrics: Readonly<Record<string, number>>): string {
  return Object.entries(metrics)
    .map(([name, value]) => `${name} ${toFigure(value)}`)
    .join('  ');
}

function toBar(share: number, width: number): string {
  const full = Math.round(Math.min(1, share) * width);
  return `[${'#'.repeat(full)}${'.'.repeat(width - full)}]`;
}

/** Remembers what is done now, and forgets what is older than the rate looks back. */
function mark(stage: Stage, now_ms: number): void {
  const { marks, started_ms, done } = stage;
  if (now_ms - (marks.at(-1)?.at_ms ?? -Infinity) >= MARK_MS) marks.push({ at_ms: now_ms, done });
  const from = now_ms - Math.max(LEAST_WINDOW_MS, (now_ms - started_ms) / 2);
  while (marks.length > 1 && marks[1]!.at_ms <= from) marks.shift();
}

/** Units a second, lately; 0 where nothing is known yet. */
function toRate({ marks, started_ms, skipped, done }: Stage, now_ms: number): number {
  const first = marks[0] ?? { at_ms: started_ms, done: skipped };
  return (done - first.done) / Math.max(0.001, (now_ms - first.at_ms) / 1000);
}

export function createProgress(stream: ProgressStream, now: () => number = () => performance.now()): ConsoleProgress {
  const terminal = stream.isTTY === true;
  let names: readonly string[] = [];
  let stage: Stage | undefined;
  let drawn_ms = -Infinity;
  let visible = false;

  const place = (name: string): string => {
    const index = names.indexOf(name);
    return index < 0 ? name : `${index + 1}/${names.length} ${name}`;
  };
  const width = (): number => (stream.columns ?? 80) - 1;
  const clear = (): void => {
    if (visible) stream.write(ERASE_LINE);
    visible = false;
  };
  const describe = (current: Stage): string => {
    const { name, total, unit, done, metrics } = current;
    const rate = toRate(current, now());
    const left = rate > 0 ? [`${toDuration((total - done) / rate)} left`] : [];
    const pace = rate > 0 ? [`${toFigure(rate)} ${unit}/s`] : [];
    const parts = [`${done}/${total} ${unit}`, ...left, toMetrics(metrics), ...pace].filter((part) => part !== '');
    const text = parts.join('  ');
    const room = width() - place(name).length - text.length - 6;
    const bar =
      terminal && room >= LEAST_BAR_WIDTH ? [toBar(done / Math.max(1, total), Math.min(BAR_WIDTH, room))] : [];
    return [place(name), ...bar, text].join('  ');
  };
  const draw = (current: Stage): void => {
    drawn_ms = now();
    const text = describe(current);
    if (!terminal) stream.write(`${text}\n`);
    else stream.write(ERASE_LINE + text.slice(0, width()));
    visible = terminal;
  };
  const isDue = ({ started_ms }: Stage): boolean => {
    const line_ms = now() - started_ms <= SHORT_MS ? LINE_MS : LATER_LINE_MS;
    return now() - drawn_ms >= (terminal ? REDRAW_MS : line_ms);
  };
  const finish = (note = ''): void => {
    if (!stage) return;
    const { name, done, unit, started_ms, metrics } = stage;
    const spent = `${done} ${unit} in ${toDuration((now() - started_ms) / 1000)}`;
    clear();
    stream.write(`${[place(name), spent, note || toMetrics(metrics)].join('  ').trimEnd()}\n`);
    stage = undefined;
  };

  return {
    plan: (stages) => {
      names = stages;
    },
    start: (name, total, unit, done = 0) => {
      finish();
      stage = { name, total, unit, started_ms: now(), skipped: done, done, metrics: {}, marks: [] };
      mark(stage, now());
      draw(stage);
    },
    update: (done, metrics) => {
      if (!stage) return;
      stage.done = done;
      if (metrics) stage.metrics = metrics;
      if (isDue(stage)) draw(stage);
      mark(stage, now());
    },
    finish,
    clear,
  };
}
