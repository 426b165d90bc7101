/**
 * Reading from the log. Lists come in pages by key (`after` the last id of the page before): every read is short and
 * complete, so none of them keeps the write-ahead log from shrinking, and a slow reader may wait between two pages.
 */
import type { Database } from 'better-sqlite3';
import { fromIds, fromJson, fromLogprobs, fromText } from './encode.ts';
import { StoreError } from './errors.ts';
import type { Episode, Image, MetricPoint, Run, StageTime, Step, TeacherSample } from './rows.ts';

/** A row as SQLite answers it; texts and blobs are decoded by column below. */
type Raw = Record<string, unknown>;

export interface EpisodeQuery {
  run_id: string;
  stage?: string | undefined;
  policy_version?: string | undefined;
  split?: string | undefined;
  /** `episode_id` of the last row of the page before. */
  after?: number | undefined;
  limit?: number | undefined;
}

/** What the last run is asked for; see `lastRunWith`. */
export interface Holding {
  table: 'episodes' | 'teacher_samples' | 'metrics';
  stage?: string | undefined;
}

const PAGE = 500;

/** SELECT of the last run that has rows in the table; where none has any, of the last run. */
function selectLastRun(table: Holding['table']): string {
  const stage = table === 'teacher_samples' ? '' : 'AND (@stage IS NULL OR t.stage = @stage)';
  return `SELECT * FROM runs ORDER BY EXISTS (SELECT 1 FROM ${table} t WHERE t.run_id = runs.run_id ${stage}) DESC,
    started_at DESC, rowid DESC LIMIT 1`;
}

const STEP_JSON = ['observation', 'parsed', 'applied', 'rejected', 'errors', 'canvas', 'components', 'reasons'];

/** Parses the JSON columns and restores the exact texts. */
function decode(raw: Raw, json: readonly string[], texts: readonly string[] = []): Raw {
  const exact = new Set(texts.map((column) => `${column}_exact`));
  const row = Object.fromEntries(Object.entries(raw).filter(([column]) => !exact.has(column)));
  for (const column of json) row[column] = typeof raw[column] === 'string' ? fromJson(raw[column]) : null;
  for (const column of texts) row[column] = fromText(raw[column] as string, raw[`${column}_exact`] as string | null);
  return row;
}

function toRun(raw: Raw): Run {
  return decode(raw, ['config', 'summary']) as unknown as Run;
}

function toEpisode(raw: Raw): Episode {
  const flags = { terminated: raw['terminated'] === 1, truncated: raw['truncated'] === 1 };
  return { ...decode(raw, [], ['prompt']), ...flags } as Episode;
}

function toStep({ prompt_ids, completion_ids, sampled_logprobs, ...rest }: Raw): Step {
  const step: Raw = {
    ...decode(rest, STEP_JSON, ['action']),
    ...(prompt_ids instanceof Uint8Array && { prompt_ids: fromIds(prompt_ids) }),
    ...(completion_ids instanceof Uint8Array && { completion_ids: fromIds(completion_ids) }),
    ...(sampled_logprobs instanceof Uint8Array && { sampled_logprobs: fromLogprobs(sampled_logprobs) }),
  };
  return step as unknown as Step;
}

function toSample(raw: Raw): TeacherSample {
  const row = decode(raw, ['components', 'errors'], ['prompt', 'completion']);
  return { ...row, accepted: raw['accepted'] === 1 } as TeacherSample;
}

function prepareStatements(db: Database) {
  const optional = (column: string): string => `(@${column} IS NULL OR ${column} = @${column})`;
  return {
    run: db.prepare<[string], Raw>('SELECT * FROM runs WHERE run_id = ?'),
    lastRun: db.prepare<[], Raw>('SELECT * FROM runs ORDER BY started_at DESC, rowid DESC LIMIT 1'),
    lastRunWith: {
      episodes: db.prepare<[Raw], Raw>(selectLastRun('episodes')),
      teacher_samples: db.prepare<[Raw], Raw>(selectLastRun('teacher_samples')),
      metrics: db.prepare<[Raw], Raw>(selectLastRun('metrics')),
    },
    runs: db.prepare<[Raw], Raw>(`SELECT * FROM runs
      WHERE @before IS NULL OR (started_at, run_id) < ((SELECT started_at FROM runs WHERE run_id = @before), @before)
      ORDER BY started_at DESC, run_id DESC LIMIT @limit`),
    episodes: db.prepare<[Raw], Raw>(`SELECT * FROM episodes WHERE run_id = @run_id AND episode_id > @after
      AND ${['stage', 'policy_version', 'split'].map(optional).join(' AND ')} ORDER BY episode_id LIMIT @limit`),
    worst: db.prepare<[Raw], Raw>(`SELECT * FROM episodes
      WHERE run_id = @run_id AND episode_return IS NOT NULL AND ${optional('stage')}
      ORDER BY episode_return, episode_id LIMIT @limit`),
    steps: db.prepare<[number], Raw>('SELECT * FROM steps WHERE episode_id = ? ORDER BY turn'),
    samples: db.prepare<[Raw], Raw>(`SELECT * FROM teacher_samples
      WHERE run_id = @run_id AND sample_id > @after AND ${optional('accepted')} ORDER BY sample_id LIMIT @limit`),
    metric: db.prepare<[string, string, string], MetricPoint>(
      'SELECT optimizer_step, value FROM metrics WHERE run_id = ? AND stage = ? AND name = ? ORDER BY optimizer_step',
    ),
    metricNames: db.prepare<[string], { stage: string; name: string }>(
      'SELECT DISTINCT stage, name FROM metrics WHERE run_id = ? ORDER BY stage, name',
    ),
    stageTimes: db.prepare<[string], StageTime>(`SELECT stage, sum(value) AS seconds FROM metrics
      WHERE run_id = ? AND name = 'time/stage_s' GROUP BY stage ORDER BY stage`),
    image: db.prepare<[number], Image>('SELECT image_id, media_type, bytes FROM images WHERE image_id = ?'),
  };
}

export function createReaders(db: Database) {
  const statements = prepareStatements(db);
  return {
    /** A run by its id, or the one begun last. @throws StoreError not_found */
    getRun(run_id?: string): Run {
      const row = run_id === undefined ? statements.lastRun.get() : statements.run.get(run_id);
      if (row) return toRun(row);
      throw new StoreError('not_found', run_id === undefined ? `${db.name} holds no run` : `there is no run ${run_id}`);
    },

    /** The last run that has such rows; where none has any, the last run. @throws StoreError not_found */
    lastRunWith({ table, stage }: Holding): Run {
      const row = statements.lastRunWith[table].get({ stage: stage ?? null });
      if (row) return toRun(row);
      throw new StoreError('not_found', `${db.name} holds no run`);
    },

    /** Runs, newest first; `before` is the `run_id` of the last row of the page before. */
    listRuns({ before, limit = PAGE }: { before?: string | undefined; limit?: number | undefined } = {}): Run[] {
      return statements.runs.all({ before: before ?? null, limit }).map(toRun);
    },

    /** Episodes in the order of recording. */
    episodes({ run_id, stage, policy_version, split, after = 0, limit = PAGE }: EpisodeQuery): Episode[] {
      const row = {
        run_id,
        stage: stage ?? null,
        policy_version: policy_version ?? null,
        split: split ?? null,
        after,
        limit,
      };
      return statements.episodes.all(row).map(toEpisode);
    },

    /** The `count` episodes of lowest return. */
    worstEpisodes(run_id: string, count: number, stage?: string): Episode[] {
      return statements.worst.all({ run_id, stage: stage ?? null, limit: count }).map(toEpisode);
    },

    /** Steps of an episode, in order. */
    steps(episode_id: number): Step[] {
      return statements.steps.all(episode_id).map(toStep);
    },

    teacherSamples(query: { run_id: string; accepted?: boolean; after?: number; limit?: number }): TeacherSample[] {
      const { run_id, accepted, after = 0, limit = PAGE } = query;
      const row = { run_id, accepted: accepted === undefined ? null : Number(accepted), after, limit };
      return statements.samples.all(row).map(toSample);
    },

    /** Values of a metric over optimizer steps. */
    metric(run_id: string, stage: string, name: string): MetricPoint[] {
      return statements.metric.all(run_id, stage, name);
    },

    metricNames(run_id: string): { stage: string; name: string }[] {
      return statements.metricNames.all(run_id);
    },

    /** How long each stage of a run took, all its parts together where it was cut off; a stage that goes on, so far. */
    stageTimes(run_id: string): StageTime[] {
      return statements.stageTimes.all(run_id);
    },

    /** @throws StoreError not_found */
    getImage(image_id: number): Image {
      const image = statements.image.get(image_id);
      if (image) return image;
      throw new StoreError('not_found', `there is no image ${image_id}`);
    },
  };
}
