/**
 * Held-out measures: what a reward should have meant, computed beside it and never trained on (reward hacking shows where
 * a reward rises while one of these falls). They are in no step's reward, and answered only to who asks for them.
 *
 *   path_f1                 held-out/paths.ts: do the arrows lead where they should?
 *   graph_edit_similarity   held-out/graph-edit.ts: how far is the drawn graph from the expected one?
 *   renamed_reward          held-out/rename.ts: the same preset's reward after renaming the labels of task and drawing
 *
 * Left out: the judge and human review, which are no functions of task and drawing.
 */
import type { HeldOut, Preset } from '../../schemas/reward.ts';
import type { Expectation, ScoredTask } from '../../schemas/task.ts';
import { expectedGraph } from './graded/expectation.ts';
import { toLinks } from './graded/match.ts';
import { compareStructure } from './graded/structure.ts';
import { seeShapes } from './graded/visibility.ts';
import { graphEditSimilarity } from './held-out/graph-edit.ts';
import { pathF1 } from './held-out/paths.ts';
import { renamingOf } from './held-out/rename.ts';
import { scoreDrawing } from './score.ts';
import type { Drawing } from './types.ts';

/**
 * The measures of a drawing, each in [0, 1]; null where the task says nothing of what is expected.
 * @param preset Whose reward is taken after renaming.
 */
export function measureHeldOut(task: ScoredTask, drawing: Drawing, preset: Preset): HeldOut | null {
  if (!hasExpectation(task)) return null;
  return { ...measureGraph(task, drawing), renamed_reward: renamedReward(task, drawing, preset) };
}

type ExpectingTask = ScoredTask & { expect: Expectation };

function hasExpectation(task: ScoredTask): task is ExpectingTask {
  return task.expect !== undefined && task.expect.nodes.length > 0;
}

function measureGraph(task: ExpectingTask, { apply }: Drawing): Omit<HeldOut, 'renamed_reward'> {
  if (apply === null || apply.canvas.shapes.length === 0) return { path_f1: 0, graph_edit_similarity: 0 };
  const graph = expectedGraph(task.expect);
  const shapes = seeShapes(apply.canvas, task.canvas);
  const links = toLinks(apply.canvas.arrows, shapes);
  const structure = compareStructure(graph, shapes, links, task.allowed_extras ?? []);
  return {
    path_f1: pathF1(graph, links, structure),
    graph_edit_similarity: graphEditSimilarity(graph, structure),
  };
}

function renamedReward(task: ExpectingTask, drawing: Drawing, preset: Preset): number {
  const { apply } = drawing;
  const renaming = renamingOf(task);
  const canvas = apply && renaming.renameCanvas(apply.canvas);
  const renamed: Drawing = canvas === null ? drawing : { ...drawing, apply: { ...apply!, canvas } };
  return scoreDrawing(renaming.task, renamed, preset).reward;
}
