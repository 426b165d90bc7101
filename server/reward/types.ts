/** What a reward preset is given (a drawing) and what it returns (a score with its components and reasons). */
import type { Components, ExpectationSource, Reason } from '../../schemas/reward.ts';
import type { ScoredTask } from '../../schemas/task.ts';
import type { ApplyResult, ParseResult } from '../canvas/types.ts';

/** A completion and what became of it. `apply` is null when parsing gave no actions. */
export interface Drawing {
  completion: unknown;
  parse: ParseResult;
  apply: ApplyResult | null;
}

/** Reward and components in [0, 1]; the same component names every time; reasons by loss, largest first. */
export interface PresetScore {
  reward: number;
  components: Components;
  reasons: Reason[];
  expectation: ExpectationSource;
}

/** A preset: a pure function of the task and the drawing. */
export type ScorePreset = (task: ScoredTask, drawing: Drawing) => PresetScore;
