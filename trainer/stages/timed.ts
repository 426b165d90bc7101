/**
 * The stages of a run, each around the code that does its work: settings, checkpoints, log and progress. A stage leaves
 * its result in the run folder; where the result is there already, the stage is done and is passed over. A stage that was
 * cut off goes on from its last checkpoint, after what was logged later than that is forgotten. This file: how long one took.
 *
 *   teach -> dataset.jsonl    sft -> sft/    reinforce -> rl/    evaluate -> the log
 */
import type { Workspace } from '../workspace.ts';

/**
 * Measures a part of a stage, the one that began at `step`; the parts of a stage that was cut off add up. `mark` logs the
 * time so far, for parts that may end without notice.
 */
export async function timed<T>(
  ws: Workspace,
  stage: string,
  step: number,
  work: (mark: () => void) => Promise<T>,
): Promise<T> {
  const startedMs = performance.now();
  const mark = (): void => {
    ws.store.recordMetrics(ws.run.run_id, stage, step, { 'time/stage_s': (performance.now() - startedMs) / 1000 });
  };
  try {
    return await work(mark);
  } finally {
    mark();
  }
}
