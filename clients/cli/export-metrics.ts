/**
 * Metrics of a run as rows. `metrics`: one a stage, name and step. `metrics_wide`: one a stage and step with a column for
 * each name, which pandas reads in a line; a metric that is not measured at every step is missing where it was not:
 *
 *   pd.read_csv('metrics.csv', index_col=['stage', 'optimizer_step'], float_precision='round_trip')
 *   pd.read_json('metrics.jsonl', lines=True, precise_float=True)
 *
 * Left out: event files of TensorBoard and of Weights & Biases, since npm has no library for either that is kept up.
 */
import type { Store } from '../store/index.ts';

export type MetricsDataset = 'metrics' | 'metrics_wide';
type Row = Record<string, string | number>;

function* metrics(store: Store, run_id: string, stage?: string): Generator<Row> {
  for (const each of metricNames(store, run_id, stage)) {
    for (const { optimizer_step, value } of store.metric(run_id, each.stage, each.name))
      yield { ...each, optimizer_step, value };
  }
}

/** Rows by stage, then by step. Holds the metrics of one stage in memory, about 100 bytes a value. */
function* metricsWide(store: Store, run_id: string, stage?: string): Generator<Row> {
  const names = metricNames(store, run_id, stage);
  for (const current of new Set(names.map((each) => each.stage))) {
    const rows = new Map<number, Row>();
    for (const { name } of names.filter((each) => each.stage === current)) {
      for (const { optimizer_step, value } of store.metric(run_id, current, name)) {
        const row = rows.get(optimizer_step) ?? { stage: current, optimizer_step };
        rows.set(optimizer_step, row);
        row[name] = value;
      }
    }
    yield* [...rows.values()].sort((a, b) => Number(a['optimizer_step']) - Number(b['optimizer_step']));
  }
}

export const METRICS: Readonly<
  Record<MetricsDataset, (store: Store, run_id: string, stage?: string) => Generator<Row>>
> = { metrics, metrics_wide: metricsWide };

/** Names of the columns of a dataset, in order. */
export function metricsColumns(dataset: MetricsDataset, store: Store, run_id: string, stage?: string): string[] {
  if (dataset === 'metrics') return ['stage', 'name', 'optimizer_step', 'value'];
  const names = metricNames(store, run_id, stage).map(({ name }) => name);
  return ['stage', 'optimizer_step', ...[...new Set(names)].sort()];
}

/** Lines of a CSV file (RFC 4180, though with line feeds alone): a header, then the rows; what is missing is empty. */
export function* toCsv(columns: readonly string[], rows: Iterable<Readonly<Row>>): Generator<string> {
  yield columns.map(csvCell).join(',');
  for (const row of rows) yield columns.map((column) => csvCell(row[column] ?? '')).join(',');
}

function csvCell(value: string | number): string {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function metricNames(store: Store, run_id: string, stage?: string): { stage: string; name: string }[] {
  return store.metricNames(run_id).filter((each) => stage === undefined || each.stage === stage);
}
