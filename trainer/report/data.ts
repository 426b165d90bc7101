/** All a report shows. Whoever has these values can make one; `load.ts` reads them from the log and a server. */
import type { MetricPoint, StageTime } from '../../clients/store/index.ts';
import type { ActionError, Reason } from '../../schemas/reward.ts';
import type { Alarm } from '../alarms.ts';
import type { EvaluationSummary } from '../summary.ts';

export interface ReportData {
  run: RunFacts;
  /** Stages in the order they ran, with the time each took. */
  stages: readonly StageTime[];
  evaluation?: EvaluationSummary | undefined;
  teacher?: TeacherFacts | undefined;
  /** Metrics by stage and name. */
  curves: readonly Curve[];
  /** Where the training reward rises while what is not trained on falls. */
  alarms: readonly Alarm[];
  /** Validation tasks that changed most in REINFORCE, drawn by successive versions of the policy. */
  strip: readonly Strip[];
  /** Tasks chosen by order, drawn by each policy; none of them is among the best or worst. */
  comparisons: readonly Example[];
  /** Tasks that the trained policy drew best, highest return first, and worst, lowest first; beside it what it began as. */
  best: readonly Example[];
  worst: readonly Example[];
  /** Resolved settings, secrets left out. */
  settings: Readonly<Record<string, unknown>>;
  /** Shell commands that repeat the run, one a line. */
  repeat: readonly string[];
}

export interface RunFacts {
  run_id: string;
  command: string;
  status: string;
  /** ISO 8601, UTC. */
  started_at: string;
  finished_at: string | null;
  seed: string | null;
  git_commit: string | null;
}

export interface TeacherFacts {
  proposed: number;
  kept: number;
  /** Mean reward of all proposals, and of those kept. */
  mean_reward: number;
  kept_reward: number;
  /** Proposals that were not kept, by reason. */
  rejected: Readonly<Record<string, number>>;
  /** The best of what was kept, each of another family. */
  examples: readonly Example[];
}

export interface Curve {
  stage: string;
  name: string;
  points: readonly MetricPoint[];
}

/** One answer to a task. */
export interface Drawing {
  policy: string;
  /** The picture as an SVG document; absent where none could be drawn. */
  svg?: string | undefined;
  reward: number | null;
  /** What the policy said, exactly. */
  said: string;
  /** Whether what it said was cut at its longest length. */
  is_cut: boolean;
  reasons: readonly Reason[];
  errors: readonly ActionError[];
}

/** A task with the answers of one or more policies to it. */
export interface Example {
  task_id: string;
  prompt: string;
  drawings: readonly Drawing[];
}

/** A task at successive versions of the policy; the last reward less the first. */
export interface Strip extends Example {
  change: number;
}
