/**
 * Statistics over answers of /verify, as NeMo Gym's own servers compute them: mean, max, min, median and standard deviation
 * (of a sample, n - 1) of every field that holds numbers or flags, for each task and over all. A lone value has no deviation,
 * or, where all are alone, one of 0. Token counts of `response.usage` count as fields. What is left out: what newer versions
 * say of the rollouts themselves (their number, their rows).
 */
import { setImmediate } from 'node:timers/promises';
import type { NemoMetricsRequest, NemoMetricsResponse } from '../../../schemas/protocols/nemo-gym.ts';

const TASK_INDEX = '_ng_task_index';
const ROLLOUT_INDEX = '_ng_rollout_index';

type Numbers = ReadonlyMap<string, readonly number[]>;

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function usageOf({ response }: Readonly<Record<string, unknown>>): object {
  const usage = (response as { usage?: unknown } | null | undefined)?.usage;
  return typeof usage === 'object' && usage !== null ? usage : {};
}

/** The values of each field, in the order in which the fields first occur. */
function collect(rows: readonly Readonly<Record<string, unknown>>[]): Numbers {
  const fields = new Map<string, number[]>();
  for (const row of rows) {
    for (const [name, value] of Object.entries({ ...row, ...usageOf(row) })) {
      const number = numberOf(value);
      if (number === undefined || name === TASK_INDEX || name === ROLLOUT_INDEX) continue;
      const values = fields.get(name);
      if (values) values.push(number);
      else fields.set(name, [number]);
    }
  }
  return fields;
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

function deviation(values: readonly number[]): number {
  const center = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - center) ** 2, 0) / (values.length - 1));
}

const STATISTICS: Readonly<Record<string, (values: readonly number[]) => number>> = {
  mean,
  max: (values) => values.reduce((a, b) => Math.max(a, b)),
  min: (values) => values.reduce((a, b) => Math.min(a, b)),
  median,
};

/** The deviation of each field that has one. */
function deviations(fields: readonly (readonly [string, readonly number[]])[]): [string, number][] {
  if (fields.every(([, values]) => values.length === 1)) return fields.map(([name]) => [`std/${name}`, 0]);
  const several = fields.filter(([, values]) => values.length > 1);
  return several.map(([name, values]) => [`std/${name}`, deviation(values)]);
}

function describe(rows: readonly Readonly<Record<string, unknown>>[]): Record<string, number> {
  const fields = [...collect(rows)];
  const others = Object.entries(STATISTICS).flatMap(([statistic, compute]) =>
    fields.map(([name, values]): [string, number] => [`${statistic}/${name}`, compute(values)]),
  );
  return Object.fromEntries([...others, ...deviations(fields)]);
}

type Rows = NemoMetricsRequest['verify_responses'];

/** The rows of each task, by rising index; a row without one is of task 0. */
function groupByTask(rows: Rows): [number, Rows][] {
  const groups = new Map<number, Rows>();
  for (const row of rows) {
    const task = numberOf(row[TASK_INDEX]) ?? 0;
    const group = groups.get(task);
    if (group) group.push(row);
    else groups.set(task, [row]);
  }
  return [...groups].sort(([a], [b]) => a - b);
}

/** Rows that are described between two looks at other requests. */
const ROWS_AT_A_TIME = 2000;

export async function aggregateMetrics({ verify_responses: rows }: NemoMetricsRequest): Promise<NemoMetricsResponse> {
  const groups: NemoMetricsResponse['group_level_metrics'] = [];
  let described = 0;
  for (const [task, own] of groupByTask(rows)) {
    groups.push({ ...describe(own), [TASK_INDEX]: task });
    described += own.length;
    if (described < ROWS_AT_A_TIME) continue;
    described = 0;
    await setImmediate();
  }
  const all = describe(rows);
  const means = Object.entries(all).filter(([name]) => name.startsWith('mean/'));
  return { group_level_metrics: groups, agent_metrics: all, key_metrics: Object.fromEntries(means) };
}
