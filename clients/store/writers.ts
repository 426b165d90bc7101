/**
 * Writing to the log. Every function is one transaction (or part of the caller's `transaction`), and writing the same
 * thing again replaces it, so a stage that was cut off may simply repeat its last batch.
 */
import { createHash } from 'node:crypto';
import type { Database, Statement } from 'better-sqlite3';
import type { Connection } from './connection.ts';
import { toIds, toJson, toLogprobs, toNullable, toNumber, toText } from './encode.ts';
import { StoreError } from './errors.ts';
import type { EpisodeRecord, RunRecord, RunStatus, StepRecord, TeacherSampleRecord } from './rows.ts';

type Row = Record<string, string | number | Uint8Array | null>;

const EPISODE_KEY = ['run_id', 'stage', 'optimizer_step', 'policy_version', 'reward_preset', 'group_id', 'member'];
const EPISODE_REST =
  'task_id split family level prompt prompt_exact seed reward_preset_version episode_return episode_length stop_reason terminated truncated';
const STEP_REST =
  'observation action action_exact finish_reason parsed applied rejected errors canvas reward components reasons prompt_ids completion_ids sampled_logprobs image_id';
const SAMPLE_KEY = ['run_id', 'provider', 'model', 'task_id', 'sample'];
const SAMPLE_REST =
  'prompt prompt_exact completion completion_exact reward_preset reward components errors accepted reject_reason';

/** INSERT that overwrites the row of the same key. `rest` holds the other columns, separated by spaces. */
function upsert(table: string, key: readonly string[], rest: string, returning = ''): string {
  const others = rest.split(' ');
  const columns = [...key, ...others];
  const values = columns.map((column) => `@${column}`);
  const updates = others.map((column) => `${column} = excluded.${column}`);
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${values.join(', ')})
    ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${updates.join(', ')} ${returning}`;
}

function prepareStatements(db: Database) {
  return {
    run: db.prepare<[Row]>(`INSERT INTO runs (run_id, command, status, seed, config, git_commit, started_at)
      VALUES (@run_id, @command, 'running', @seed, @config, @git_commit, @now)
      ON CONFLICT (run_id) DO UPDATE SET status = 'running', config = excluded.config, finished_at = NULL,
        summary = NULL`),
    finish: db.prepare<[Row]>(
      'UPDATE runs SET status = @status, finished_at = @now, summary = @summary WHERE run_id = @run_id',
    ),
    episode: db.prepare<[Row], { episode_id: number }>(
      upsert('episodes', EPISODE_KEY, EPISODE_REST, 'RETURNING episode_id'),
    ),
    step: db.prepare<[Row]>(upsert('steps', ['episode_id', 'turn'], STEP_REST)),
    dropSteps: db.prepare<[number, number]>('DELETE FROM steps WHERE episode_id = ? AND turn >= ?'),
    metric: db.prepare<[Row]>(upsert('metrics', ['run_id', 'stage', 'name', 'optimizer_step'], 'value')),
    sample: db.prepare<[Row]>(upsert('teacher_samples', SAMPLE_KEY, SAMPLE_REST)),
    image: db.prepare<[Row], { image_id: number }>(
      upsert('images', ['sha256'], 'media_type bytes', 'RETURNING image_id'),
    ),
    dropEpisodes: db.prepare<[string, string, number]>(
      'DELETE FROM episodes WHERE run_id = ? AND stage = ? AND optimizer_step > ?',
    ),
    dropMetrics: db.prepare<[string, string, number]>(
      'DELETE FROM metrics WHERE run_id = ? AND stage = ? AND optimizer_step > ?',
    ),
  };
}

/** Split, family and level of a suite task, from its id `<split>.<family>.<level>.<index>`. */
function taskColumns(taskId: string | null): { split: string | null; family: string | null; level: number | null } {
  const [, split, family, level] = /^([a-z_]+)\.([a-z_]+)\.(\d+)\.\d+$/.exec(taskId ?? '') ?? [];
  return { split: split ?? null, family: family ?? null, level: level === undefined ? null : Number(level) };
}

function episodeRow(runId: string, stage: string, episode: EpisodeRecord): Row {
  const { steps, ...columns } = episode;
  const [prompt, prompt_exact] = toText(episode.prompt);
  return {
    ...columns,
    ...taskColumns(episode.task_id),
    run_id: runId,
    stage,
    prompt,
    prompt_exact,
    seed: episode.seed ?? null,
    episode_return: toNullable(episode.episode_return, 'episode_return'),
    episode_length: steps.length,
    terminated: Number(episode.terminated),
    truncated: Number(episode.truncated),
  };
}

function stepRow(episodeId: number, turn: number, step: StepRecord): Row {
  const { completion_ids: ids, sampled_logprobs: logprobs } = step;
  if (ids && logprobs && ids.length !== logprobs.length) {
    throw new StoreError('length_mismatch', `${ids.length} token ids, ${logprobs.length} log-probabilities`);
  }
  const [action, action_exact] = toText(step.action);
  return {
    episode_id: episodeId,
    turn,
    observation: toJson(step.observation, 'observation'),
    action,
    action_exact,
    finish_reason: step.finish_reason ?? null,
    parsed: step.parsed === null ? null : toJson(step.parsed, 'parsed'),
    applied: toJson(step.applied, 'applied'),
    rejected: toJson(step.rejected, 'rejected'),
    errors: toJson(step.errors, 'errors'),
    canvas: toJson(step.canvas, 'canvas'),
    reward: toNullable(step.reward, 'reward'),
    components: toJson(step.components, 'components'),
    reasons: toJson(step.reasons, 'reasons'),
    prompt_ids: step.prompt_ids ? toIds(step.prompt_ids) : null,
    completion_ids: ids ? toIds(ids) : null,
    sampled_logprobs: logprobs ? toLogprobs(logprobs) : null,
    image_id: step.image_id ?? null,
  };
}

function sampleRow(runId: string, sample: TeacherSampleRecord): Row {
  const [prompt, prompt_exact] = toText(sample.prompt);
  const [completion, completion_exact] = toText(sample.completion);
  return {
    ...sample,
    run_id: runId,
    prompt,
    prompt_exact,
    completion,
    completion_exact,
    reward: toNullable(sample.reward, 'reward'),
    components: toJson(sample.components, 'components'),
    errors: toJson(sample.errors, 'errors'),
    accepted: Number(sample.accepted),
    reject_reason: sample.reject_reason ?? null,
  };
}

function only<T>(row: T | undefined): T {
  if (row === undefined) throw new StoreError('failed', 'the database returned no row for an insert');
  return row;
}

function recordEpisode(
  statements: ReturnType<typeof prepareStatements>,
  row: Row,
  steps: readonly StepRecord[],
): number {
  const { episode_id } = only(statements.episode.get(row));
  steps.forEach((step, turn) => statements.step.run(stepRow(episode_id, turn, step)));
  statements.dropSteps.run(episode_id, steps.length);
  return episode_id;
}

export function createWriters({ db, write }: Connection) {
  const statements = prepareStatements(db);
  const runAll = <T>(statement: Statement<[Row]>, items: readonly T[], toRow: (item: T) => Row): void => {
    write(() => {
      for (const item of items) statement.run(toRow(item));
    });
  };
  return {
    /** Begins a run, or takes up one that was interrupted: its start and commit stay, its status is `running` again. */
    createRun({ run_id, command, config, seed, git_commit }: RunRecord): void {
      const now = new Date().toISOString();
      const row = {
        run_id,
        command,
        config: toJson(config, 'config'),
        seed: seed ?? null,
        git_commit: git_commit ?? null,
        now,
      };
      write(() => statements.run.run(row));
    },

    finishRun(
      run_id: string,
      status: Exclude<RunStatus, 'running'>,
      summary?: Readonly<Record<string, unknown>>,
    ): void {
      const now = new Date().toISOString();
      const row = { run_id, status, now, summary: summary === undefined ? null : toJson(summary, 'summary') };
      const { changes } = write(() => statements.finish.run(row));
      if (changes === 0) throw new StoreError('not_found', `there is no run ${run_id}`);
    },

    /**
     * Stores episodes whole, all of them or none.
     * @returns their ids, in order.
     * @throws StoreError not_finite, length_mismatch, constraint (no such run)
     */
    recordEpisodes(run_id: string, stage: string, episodes: readonly EpisodeRecord[]): number[] {
      return write(() =>
        episodes.map((episode) => recordEpisode(statements, episodeRow(run_id, stage, episode), episode.steps)),
      );
    },

    /** @throws StoreError not_finite */
    recordMetrics(
      run_id: string,
      stage: string,
      optimizer_step: number,
      metrics: Readonly<Record<string, number>>,
    ): void {
      runAll(statements.metric, Object.entries(metrics), ([name, value]) => ({
        ...{ run_id, stage, name, optimizer_step },
        value: toNumber(value, name),
      }));
    },

    recordTeacherSamples(run_id: string, samples: readonly TeacherSampleRecord[]): void {
      runAll(statements.sample, samples, (sample) => sampleRow(run_id, sample));
    },

    /** Stores a picture once, however often it is drawn. @returns its id */
    putImage(bytes: Uint8Array, media_type: string): number {
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      return write(() => only(statements.image.get({ sha256, media_type, bytes })).image_id);
    },

    /** Forgets what a stage recorded after an optimizer step, to take it up from an older checkpoint. */
    deleteAfter(run_id: string, stage: string, optimizer_step: number): { episodes: number; metrics: number } {
      return write(() => ({
        episodes: statements.dropEpisodes.run(run_id, stage, optimizer_step).changes,
        metrics: statements.dropMetrics.run(run_id, stage, optimizer_step).changes,
      }));
    },
  };
}
