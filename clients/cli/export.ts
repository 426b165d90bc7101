/**
 * `canvas-gym export [RUN]`: what a run left in the log, as a file other programs read.
 *
 * `trajectories`: one row an episode with its steps. `sft`: prompt and completion of each teacher's answer that was kept.
 * `metrics`: stage, name, optimizer step and value. The others are for trainers: see export-training.ts. Rows are read and written page by page, so a run of any size fits;
 * the file is whole or not there.
 */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { INSTRUCTIONS } from '../../schemas/instructions.ts';
import { isTrainingDataset, pages, TRAINING_DATASETS, TRAINING_DATASET_NAMES } from './export-training.ts';
import { replaceFile } from '../../trainer/atomic.ts';
import { openStoreToRead, SCHEMA_VERSION, type Run, type Store } from '../store/index.ts';
import { defineCommand, SHARED_SETTINGS, UsageError } from '../../schemas/settings.ts';

const LOG_DATASETS = ['trajectories', 'sft', 'metrics'] as const;
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
      'What to export; prompt_completion, messages, unpaired, preference, prompts, verl as TRL and verl read it',
    ),
  format: z
    .enum(['jsonl', 'parquet'])
    .default('jsonl')
    .describe('JSON lines, or Parquet with nested values as JSON text'),
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

function* metrics(store: Store, run_id: string, { stage: wanted }: Settings): Generator<Row> {
  for (const { stage, name } of store.metricNames(run_id)) {
    if (wanted !== undefined && stage !== wanted) continue;
    for (const { optimizer_step, value } of store.metric(run_id, stage, name))
      yield { stage, name, optimizer_step, value };
  }
}

const READERS: Readonly<Record<LogDataset, (store: Store, run_id: string, settings: Settings) => Generator<Row>>> = {
  trajectories,
  sft,
  metrics,
};

type Column = readonly [name: string, type: 'STRING' | 'DOUBLE' | 'INT32' | 'BOOLEAN'];

/** Columns of each dataset in Parquet; what is no text, number or truth value becomes JSON text. */
const COLUMNS: Readonly<Record<LogDataset, readonly Column[]>> = {
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

async function writeParquet(file: string, dataset: LogDataset, rows: Iterable<Row>): Promise<number> {
  const { fileWriter, parquetWriteRows } = await import('hyparquet-writer');
  const columns = COLUMNS[dataset].map(([name, type]) => ({ name, type }));
  let count = 0;
  const counted = flatRows(rows, () => {
    count += 1;
  });
  await parquetWriteRows({ writer: fileWriter(file), rows: counted, columns, rowGroupSize: 1000 });
  return count;
}

function writeJsonl(write: (line: string) => void, rows: Iterable<Row>): number {
  let count = 0;
  for (const row of rows) {
    write(JSON.stringify(row));
    count += 1;
  }
  return count;
}

function writeJsonlFile(path: string, rows: Iterable<Row>): number {
  const file = openSync(path, 'w');
  try {
    return writeJsonl((line) => writeSync(file, `${line}\n`), rows);
  } finally {
    closeSync(file);
  }
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
    ...(stage !== undefined && dataset !== 'trajectories' && dataset !== 'metrics'
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
  if (dataset === 'metrics') return store.lastRunWith({ table: 'metrics', stage });
  return store.lastRunWith({ table: 'teacher_samples' });
}

async function exportRun(store: Store, settings: Settings, out: (line: string) => void): Promise<void> {
  const { dataset, format, out: path } = settings;
  const { run_id } = chooseRun(store, settings);
  const rows = isTrainingDataset(dataset)
    ? TRAINING_DATASETS[dataset](store, run_id, settings.system ?? INSTRUCTIONS)
    : READERS[dataset](store, run_id, settings);
  if (path !== '-') mkdirSync(dirname(path), { recursive: true });
  const write = (file: string): number | Promise<number> =>
    format === 'parquet' && !isTrainingDataset(dataset)
      ? writeParquet(file, dataset, rows)
      : writeJsonlFile(file, rows);
  const count = path === '-' ? writeJsonl(out, rows) : await replaceFile(path, write);
  process.stderr.write(`${count} rows of ${dataset} of ${run_id}${path === '-' ? '' : ` in ${path}`}\n`);
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
