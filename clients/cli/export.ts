/**
 * `canvas-gym export [RUN]`: what a run left in the log, as a file other programs read.
 *
 * `trajectories`: one row an episode with its steps. `sft`: prompt and completion of each teacher's answer that was kept.
 * `metrics` and `metrics_wide`: see export-metrics.ts. The others are for trainers: see export-training.ts. Rows are read
 * and written page by page, so a run of any size fits; the file is whole or not there.
 */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { INSTRUCTIONS } from '../../schemas/instructions.ts';
import { METRICS, metricsColumns, toCsv, type MetricsDataset } from './export-metrics.ts';
import { isTrainingDataset, pages, TRAINING_DATASETS, TRAINING_DATASET_NAMES } from './export-training.ts';
import { replaceFile } from '../../trainer/atomic.ts';
import { openStoreToRead, SCHEMA_VERSION, type Run, type Store } from '../store/index.ts';
import { defineCommand, SHARED_SETTINGS, UsageError } from '../../schemas/settings.ts';

const LOG_DATASETS = ['trajectories', 'sft', 'metrics', 'metrics_wide'] as const;
type LogDataset = (typeof LOG_DATASETS)[number];

const Settings = z.strictObject({
  run: z
    .string()
    .optional()
    .meta({ description: 'Run to export; without it, the last one that has such rows', positional: true }),
  db: SHARED_SETTINGS.db,
  dataset: z
    .enum([...LOG_DATASETS, ...TRAINING_DATASET_NAMES])
    .default('trajectories')
    .describe(
      'What to export; metrics_wide has a column for each metric; prompt_completion, messages, unpaired, preference, prompts, verl as TRL and verl read it',
    ),
  format: z
    .enum(['jsonl', 'parquet', 'csv'])
    .default('jsonl')
    .describe('JSON lines, Parquet with nested values as JSON text, or CSV (metrics alone)'),
  out: z.string().min(1).default('-').describe('File to write; - is standard output'),
  stage: z.string().optional().describe('Only trajectories or metrics of this stage'),
  system: z
    .string()
    .optional()
    .describe('System message of a dataset for trainers, "" for none; default: how to answer'),
  policy_version: z.string().optional().describe('Only trajectories of this policy'),
});
type Settings = z.infer<typeof Settings>;

type Row = Record<string, unknown>;

function* trajectories(store: Store, run_id: string, { stage, policy_version }: Settings): Generator<Row> {
  const read = (after: number) => store.episodes({ run_id, stage, policy_version, after });
  for (const episode of pages(read, (row) => row.episode_id)) {
    const steps = store.steps(episode.episode_id).map((step) => ({ ...step, episode_id: undefined }));
    yield { schema_version: SCHEMA_VERSION, ...episode, steps };
  }
}

function* sft(store: Store, run_id: string): Generator<Row> {
  const read = (after: number) => store.teacherSamples({ run_id, accepted: true, after });
  for (const { prompt, completion, task_id, reward } of pages(read, (row) => row.sample_id)) {
    yield { prompt, completion, task_id, reward };
  }
}

const READERS: Readonly<Record<LogDataset, (store: Store, run_id: string, settings: Settings) => Generator<Row>>> = {
  trajectories,
  sft,
  metrics: (store, run_id, { stage }) => METRICS.metrics(store, run_id, stage),
  metrics_wide: (store, run_id, { stage }) => METRICS.metrics_wide(store, run_id, stage),
};

type Column = readonly [name: string, type: 'STRING' | 'DOUBLE' | 'INT32' | 'BOOLEAN'];

/** Columns of each dataset in Parquet; what is no text, number or truth value becomes JSON text. */
const COLUMNS: Readonly<Record<Exclude<LogDataset, 'metrics_wide'>, readonly Column[]>> = {
  trajectories: [
    ...[
      'schema_version',
      'episode_id',
      'level',
      'optimizer_step',
      'member',
      'reward_preset_version',
      'episode_length',
    ].map((name): Column => [name, 'INT32']),
    ...['run_id', 'stage', 'task_id', 'split', 'family', 'prompt', 'seed', 'policy_version', 'group_id'].map(
      (name): Column => [name, 'STRING'],
    ),
    ...['reward_preset', 'stop_reason', 'steps'].map((name): Column => [name, 'STRING']),
    ['episode_return', 'DOUBLE'],
    ['terminated', 'BOOLEAN'],
    ['truncated', 'BOOLEAN'],
  ],
  sft: [
    ['prompt', 'STRING'],
    ['completion', 'STRING'],
    ['task_id', 'STRING'],
    ['reward', 'DOUBLE'],
  ],
  metrics: [
    ['stage', 'STRING'],
    ['name', 'STRING'],
    ['optimizer_step', 'INT32'],
    ['value', 'DOUBLE'],
  ],
};

function flat(row: Row): Row {
  const toCell = (value: unknown): unknown =>
    typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, toCell(value)]));
}

function* flatRows(rows: Iterable<Row>, count: () => void): Generator<Row> {
  for (const row of rows) {
    count();
    yield flat(row);
  }
}

async function writeParquet(file: string, columns: readonly Column[], rows: Iterable<Row>): Promise<number> {
  const { fileWriter, parquetWriteRows } = await import('hyparquet-writer');
  let count = 0;
  const counted = flatRows(rows, () => {
    count += 1;
  });
  const schema = columns.map(([name, type]) => ({ name, type }));
  await parquetWriteRows({ writer: fileWriter(file), rows: counted, columns: schema, rowGroupSize: 1000 });
  return count;
}

/** Columns of a dataset in Parquet; those of `metrics_wide` are what the run measured. */
function parquetColumns(dataset: LogDataset, store: Store, run_id: string, stage?: string): readonly Column[] {
  if (dataset !== 'metrics_wide') return COLUMNS[dataset];
  const [first, second, ...names] = metricsColumns(dataset, store, run_id, stage);
  return [[first!, 'STRING'], [second!, 'INT32'], ...names.map((name): Column => [name, 'DOUBLE'])];
}

function* jsonLines(rows: Iterable<Row>): Generator<string> {
  for (const row of rows) yield JSON.stringify(row);
}

/** @returns how many lines were written */
function writeLines(write: (line: string) => void, lines: Iterable<string>): number {
  let count = 0;
  for (const line of lines) {
    write(line);
    count += 1;
  }
  return count;
}

function writeLinesFile(path: string, lines: Iterable<string>): number {
  const file = openSync(path, 'w');
  try {
    return writeLines((line) => writeSync(file, `${line}\n`), lines);
  } finally {
    closeSync(file);
  }
}

function isMetrics(dataset: Settings['dataset']): dataset is MetricsDataset {
  return dataset === 'metrics' || dataset === 'metrics_wide';
}

/** Settings that do not go together: a filter without effect would leave a file that is not what was asked for. */
function settingProblems({ dataset, format, out, stage, policy_version, system }: Settings): string[] {
  const isTraining = isTrainingDataset(dataset);
  return [
    ...(isTraining && format === 'parquet'
      ? [
          `--format parquet: ${dataset} holds chat messages; write JSON lines to a file that ends in .json, which verl reads`,
        ]
      : []),
    ...(system !== undefined && !isTraining ? [`--system: the dataset ${dataset} has no system message`] : []),
    ...(format === 'parquet' && out === '-' ? ['--format parquet needs a file: give --out FILE'] : []),
    ...(format === 'csv' && !isMetrics(dataset)
      ? [`--format csv: ${dataset} is no table of numbers; metrics and metrics_wide are`]
      : []),
    ...(stage !== undefined && dataset !== 'trajectories' && !isMetrics(dataset)
      ? [`--stage: the dataset ${dataset} has no stages`]
      : []),
    ...(policy_version !== undefined && dataset !== 'trajectories'
      ? [`--policy-version: the dataset ${dataset} has no policies`]
      : []),
  ];
}

/** The run that is named, else the last one that has what the dataset is made of. */
function chooseRun(store: Store, { run, dataset, stage }: Settings): Run {
  if (run !== undefined) return store.getRun(run);
  if (dataset === 'trajectories') return store.lastRunWith({ table: 'episodes', stage });
  if (isMetrics(dataset)) return store.lastRunWith({ table: 'metrics', stage });
  return store.lastRunWith({ table: 'teacher_samples' });
}

async function exportRun(store: Store, settings: Settings, out: (line: string) => void): Promise<void> {
  const { dataset, format, out: path, stage } = settings;
  const { run_id } = chooseRun(store, settings);
  if (path !== '-') mkdirSync(dirname(path), { recursive: true });
  const count =
    format === 'parquet' && !isTrainingDataset(dataset)
      ? await replaceFile(path, (file) =>
          writeParquet(file, parquetColumns(dataset, store, run_id, stage), READERS[dataset](store, run_id, settings)),
        )
      : await writeText(path, toLines(store, run_id, settings), out);
  const rows = format === 'csv' ? count - 1 : count;
  process.stderr.write(`${rows} rows of ${dataset} of ${run_id}${path === '-' ? '' : ` in ${path}`}\n`);
}

function toLines(store: Store, run_id: string, settings: Settings): Iterable<string> {
  const { dataset, format, stage, system } = settings;
  if (isTrainingDataset(dataset)) return jsonLines(TRAINING_DATASETS[dataset](store, run_id, system ?? INSTRUCTIONS));
  if (format === 'csv' && isMetrics(dataset))
    return toCsv(metricsColumns(dataset, store, run_id, stage), METRICS[dataset](store, run_id, stage));
  return jsonLines(READERS[dataset](store, run_id, settings));
}

async function writeText(path: string, lines: Iterable<string>, out: (line: string) => void): Promise<number> {
  if (path === '-') return writeLines(out, lines);
  return replaceFile(path, (file) => writeLinesFile(file, lines));
}

export const command = defineCommand({
  name: 'export',
  summary: 'write trajectories, datasets for trainers or metrics of a run to a file',
  settings: Settings,
  async run(settings, { out }) {
    const problems = settingProblems(settings);
    if (problems.length > 0) throw new UsageError(problems);
    const store = openStoreToRead(settings.db);
    try {
      await exportRun(store, settings, out);
    } finally {
      store.close();
    }
  },
});
