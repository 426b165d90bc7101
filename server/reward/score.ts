/**
 * Completion -> reward: the table of presets, and the one answer they all share. A preset is a pure function of the
 * task and the drawing, so equal requests have equal rewards.
 */
import type { ActionSet } from '../../schemas/action.ts';
import { type Canvas, EMPTY_CANVAS } from '../../schemas/canvas.ts';
import { type Preset, PRESET_VERSIONS, type RewardResult } from '../../schemas/reward.ts';
import type { ScoredTask } from '../../schemas/task.ts';
import { scoreArticle } from './article.ts';
import { draw } from './draw.ts';
import { scoreGraded } from './graded.ts';
import { scoreStronger } from './stronger.ts';
import type { Drawing, ScorePreset } from './types.ts';
import { scoreWeak } from './weak.ts';

export { draw } from './draw.ts';
export type { Drawing, PresetScore } from './types.ts';

const PRESET_SCORES: Readonly<Record<Preset, ScorePreset>> = {
  weak: scoreWeak,
  article: scoreArticle,
  stronger: scoreStronger,
  graded: scoreGraded,
};

/** Scores a drawing with a preset. Reward and components are in [0, 1]. */
export function scoreDrawing(task: ScoredTask, drawing: Drawing, preset: Preset): RewardResult {
  const { reward, components, reasons, expectation } = PRESET_SCORES[preset](task, drawing);
  const { parse, apply } = drawing;
  return {
    reward,
    preset: { name: preset, version: PRESET_VERSIONS[preset] },
    components,
    reasons,
    errors: apply === null ? parse.errors : [...parse.errors, ...apply.errors],
    applied: apply?.applied.length ?? 0,
    rejected: apply?.rejected.length ?? 0,
    expectation,
    parse: parse.info,
  };
}

export interface ScoreOptions {
  /** Default `core`. */
  action_set?: ActionSet | undefined;
  finish_reason?: string | undefined;
}

/** Draws a completion on an empty canvas and scores it; the canvas is empty when nothing could be executed. */
export function scoreCompletion(
  task: ScoredTask,
  completion: unknown,
  preset: Preset,
  options: ScoreOptions = {},
): { result: RewardResult; canvas: Canvas } {
  const { action_set = 'core', finish_reason } = options;
  const drawing = draw(completion, { canvas: EMPTY_CANVAS, selected: [] }, { preset, action_set, finish_reason });
  return { result: scoreDrawing(task, drawing, preset), canvas: drawing.apply?.canvas ?? EMPTY_CANVAS };
}
