/** Small drawings for tests, and their graded score. */
import type { Action } from '../../schemas/action.ts';
import type { RewardResult } from '../../schemas/reward.ts';
import type { ScoredTask } from '../../schemas/task.ts';
import { scoreCompletion } from '../../server/reward/score.ts';

export const CANVAS = { w: 1200, h: 800 };
export const nodes = (...labels: string[]) => labels.map((label) => ({ id: label, label }));
export const taskOf = (expect: ScoredTask['expect'], rest: Partial<ScoredTask> = {}): ScoredTask => ({
  ...{ prompt: 'Draw it', canvas: CANVAS, expect },
  ...rest,
});

export const box = (
  id: string,
  x: number,
  y: number,
  rest: Partial<Extract<Action, { type: 'create_shape' }>> = {},
): Action => ({
  ...{ type: 'create_shape', id, shape: 'rectangle', x, y, w: 100, h: 60, text: id },
  ...rest,
});
export const arrow = (from: string, to: string, text = ''): Action => ({ type: 'connect', from, to, text });

export const score = (
  task: ScoredTask,
  actions: readonly unknown[],
  actionSet: 'core' | 'editor' = 'core',
): RewardResult => scoreCompletion(task, { actions }, 'graded', { action_set: actionSet }).result;

/** Alpha -> Beta, and a drawing of it that is perfect in every term. */
export const PAIR = taskOf({ nodes: nodes('Alpha', 'Beta'), edges: [{ from: 'Alpha', to: 'Beta' }] });
export const [ALPHA, BETA, ARROW] = [box('Alpha', 0, 0), box('Beta', 200, 0), arrow('Alpha', 'Beta')];
