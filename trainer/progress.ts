/**
 * Progress of long work: a bar on a terminal, a line every few seconds elsewhere (logs, CI). Each line says which stage
 * of how many, what is done, the rate, the time left and a metric. Goes to standard error, so that results can be piped.
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
}

const REDRAW_MS = 100;
const LINE_MS = 5_000;
const BAR_WIDTH = 20;
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

function toBar(share: number): string {
  const full = Math.round(Math.min(1, share) * BAR_WIDTH);
  return `[${'#'.repeat(full)}${'.'.repeat(BAR_WIDTH - full)}]`;
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
  const clear = (): void => {
    if (visible) stream.write(ERASE_LINE);
    visible = false;
  };
  const describe = ({ name, total, unit, started_ms, skipped, done, metrics }: Stage): string => {
    const rate = (done - skipped) / Math.max(0.001, (now() - started_ms) / 1000);
    const pace = rate > 0 ? [`${toFigure(rate)} ${unit}/s`, `${toDuration((total - done) / rate)} left`] : [];
    const bar = terminal ? [toBar(done / Math.max(1, total))] : [];
    return [place(name), ...bar, `${done}/${total} ${unit}`, ...pace, toMetrics(metrics)].join('  ').trimEnd();
  };
  const draw = (current: Stage): void => {
    drawn_ms = now();
    const text = describe(current);
    if (!terminal) stream.write(`${text}\n`);
    else stream.write(ERASE_LINE + text.slice(0, (stream.columns ?? 80) - 1));
    visible = terminal;
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
      stage = { name, total, unit, started_ms: now(), skipped: done, done, metrics: {} };
      draw(stage);
    },
    update: (done, metrics) => {
      if (!stage) return;
      stage.done = done;
      if (metrics) stage.metrics = metrics;
      if (now() - drawn_ms >= (terminal ? REDRAW_MS : LINE_MS)) draw(stage);
    },
    finish,
    clear,
  };
}
