/** Model output -> drawing -> result, as every route that scores does it. */
import type { ActionSet } from '../schemas/action.ts';
import type { Preset, RewardResult } from '../schemas/reward.ts';
import type { ScoredTask } from '../schemas/task.ts';
import type { DrawOptions } from './reward/draw.ts';
import { scoreDrawing } from './reward/score.ts';
import type { Drawing } from './reward/types.ts';

export { draw } from './reward/draw.ts';

/** Options of drawing, as requests bring them. */
export function drawOptions(preset: Preset, actionSet: ActionSet, finishReason?: string | null): DrawOptions {
  return { preset, action_set: actionSet, finish_reason: finishReason ?? undefined };
}

function isFiniteResult({ reward, components }: RewardResult): boolean {
  if (!Number.isFinite(reward)) return false;
  for (const name in components) if (!Number.isFinite(components[name])) return false;
  return true;
}

/**
 * Scores a drawing.
 * @throws Error where a number of the result is not finite: JSON would say null, and a client would crash far from here.
 */
export function scoreFinite(task: ScoredTask, drawing: Drawing, preset: Preset): RewardResult {
  const result = scoreDrawing(task, drawing, preset);
  if (!isFiniteResult(result)) throw new Error(`preset ${preset}: a result is not finite: ${JSON.stringify(result)}`);
  return result;
}
