/** What is written to the log and read from it, with JSON parsed and texts exact. Columns as in schema.ts. */
import type { Action } from '../../schemas/action.ts';
import type { Canvas } from '../../schemas/canvas.ts';
import type { Observation, StopReason } from '../../schemas/episode.ts';
import type { ActionError, Components, Preset, Reason } from '../../schemas/reward.ts';

export type RunStatus = 'running' | 'done' | 'failed' | 'interrupted';

export interface RunRecord {
  run_id: string;
  /** The command that made it: `quickstart`, `sft`. */
  command: string;
  /** Resolved settings, secrets left out. */
  config: Readonly<Record<string, unknown>>;
  seed?: string | undefined;
  git_commit?: string | undefined;
}

export interface Run {
  run_id: string;
  command: string;
  status: RunStatus;
  seed: string | null;
  config: Record<string, unknown>;
  git_commit: string | null;
  started_at: string;
  finished_at: string | null;
  summary: Record<string, unknown> | null;
}

export interface StepRecord {
  /** What the policy saw. */
  observation: Observation;
  /** What it said, exactly. */
  action: string;
  finish_reason?: string | undefined;
  /** The list of actions as it was read, null where there was none. */
  parsed: readonly Record<string, unknown>[] | null;
  applied: readonly Action[];
  rejected: readonly Record<string, unknown>[];
  errors: readonly ActionError[];
  /** The canvas after the step. */
  canvas: Canvas;
  /** null: could not be computed. */
  reward: number | null;
  components: Components;
  reasons: readonly Reason[];
  /** Token ids of the prompt and of the completion as sampled, and ln p of each sampled token, [T]. */
  prompt_ids?: readonly number[] | undefined;
  completion_ids?: readonly number[] | undefined;
  sampled_logprobs?: readonly number[] | undefined;
  image_id?: number | undefined;
}

/**
 * An episode and its steps. `optimizer_step`, `policy_version`, `reward_preset`, `group_id` and `member` name it within
 * its run and stage: the same episode recorded again replaces the first record.
 */
export interface EpisodeRecord {
  /** null for an inline task. Split, family and level are read from a suite task's id. */
  task_id: string | null;
  prompt: string;
  seed?: string | undefined;
  /** Which weights acted: `teacher`, `sft`, `rl-40`. */
  policy_version: string;
  /** The optimizer step it was played for, counted from 1; 0 outside training. */
  optimizer_step: number;
  group_id: string;
  /** Place within the group, from 0. */
  member: number;
  reward_preset: Preset;
  reward_preset_version: number;
  episode_return: number | null;
  stop_reason: StopReason;
  terminated: boolean;
  truncated: boolean;
  steps: readonly StepRecord[];
}

export interface Step extends Omit<StepRecord, 'finish_reason' | 'image_id'> {
  episode_id: number;
  turn: number;
  finish_reason: string | null;
  image_id: number | null;
}

export interface Episode extends Omit<EpisodeRecord, 'steps' | 'seed'> {
  episode_id: number;
  run_id: string;
  stage: string;
  split: string | null;
  family: string | null;
  level: number | null;
  seed: string | null;
  episode_length: number;
}

/** One answer of a teacher, kept or not. Named by run, provider, model, task and sample number. */
export interface TeacherSampleRecord {
  task_id: string;
  prompt: string;
  /** `scripted`, `gemini`, `openai`. */
  provider: string;
  model: string;
  /** Number among the answers to the same task, from 0. */
  sample: number;
  completion: string;
  reward_preset: Preset;
  reward: number | null;
  components: Components;
  errors: readonly ActionError[];
  accepted: boolean;
  /** Why it was not kept, a stable code. */
  reject_reason?: string | undefined;
}

export interface TeacherSample extends Omit<TeacherSampleRecord, 'reject_reason'> {
  sample_id: number;
  run_id: string;
  reject_reason: string | null;
}

export interface MetricPoint {
  optimizer_step: number;
  value: number;
}

export interface StageTime {
  stage: string;
  seconds: number;
}

export interface Image {
  image_id: number;
  media_type: string;
  bytes: Uint8Array;
}
