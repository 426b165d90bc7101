/** The stage `evaluate`: policies on tasks that none was trained on. */
import { z } from 'zod';
import { PRESET_VERSIONS } from '../../schemas/reward.ts';
import { hash64 } from '../../schemas/seed.ts';
import { Level, Split } from '../../schemas/task.ts';
import type { Backend } from '../backend.ts';
import { loadCheckpoint } from '../checkpoint.ts';
import { chooseTasks, evaluatePolicy, type PolicyEvaluation } from '../evaluate.ts';
import { disposeModel, readParameters } from '../model/model.ts';
import { createModelPolicy, createTeacherPolicy } from '../policy.ts';
import { toEpisodeRecord } from '../record.ts';
import type { Policy } from '../rollout.ts';
import { createSampler } from '../sample.ts';
import { Interrupted, type Workspace } from '../workspace.ts';
import { timed } from './timed.ts';

const Count = z.number().int().positive();
const Levels = z.array(Level).min(1);

export const EvaluateSettings = z.strictObject({
  split: Split.default('test_iid').describe('Split of the tasks'),
  eval_levels: Levels.default([1]).describe('Levels of the tasks, separated by commas'),
  eval_tasks: Count.default(400).meta({ description: 'Tasks each policy plays', unit: 'tasks' }),
  eval_temperature: z.number().min(0).default(1).describe('Divides the logits when sampling; 0 is greedy'),
  eval_max_new_tokens: Count.default(160).meta({ description: 'Longest completion', unit: 'tokens' }),
});
export type EvaluateSettings = z.output<typeof EvaluateSettings>;

/** A policy to evaluate: a checkpoint's folder, or the teacher with its rate of faults. */
export interface Contender {
  /** `teacher`, `sft`, `rl-60`: the policy_version in the log. */
  name: string;
  plays: { checkpoint: string } | { flaw_rate: number };
}

/**
 * All contenders on the same tasks; every episode goes to the log.
 * @throws CheckpointError, Interrupted, the client's errors
 */
export async function evaluateStage(
  ws: Workspace,
  backend: Backend,
  contenders: readonly Contender[],
  settings: EvaluateSettings & { seed: number },
): Promise<PolicyEvaluation[]> {
  return timed(ws, 'evaluate', 0, async () => {
    const { split, eval_levels: levels, eval_tasks: count } = settings;
    const taskIds = await chooseTasks(ws.client, { split, levels, count });
    ws.progress.start('evaluate', taskIds.length * contenders.length, 'episodes');
    const evaluations: PolicyEvaluation[] = [];
    for (const { name, plays } of contenders) {
      const before = evaluations.length * taskIds.length;
      const onProgress = (done: number): void => {
        if (ws.shouldStop()) throw new Interrupted(`${before + done} episodes`);
        ws.progress.update(before + done);
      };
      const evaluation = await withPolicy(backend, plays, settings, (policy) =>
        evaluatePolicy(ws.client, name, policy, taskIds, onProgress),
      );
      evaluations.push(evaluation);
      const context = { policy_version: name, optimizer_step: 0, reward: 'graded' } as const;
      const records = evaluation.trajectories.map((trajectory) => toEpisodeRecord(trajectory, context));
      ws.store.recordEpisodes(ws.run.run_id, 'evaluate', records);
    }
    ws.progress.finish(`${taskIds.length} tasks of ${split}, reward graded version ${PRESET_VERSIONS.graded}`);
    return evaluations;
  });
}

async function withPolicy<T>(
  backend: Backend,
  plays: Contender['plays'],
  { seed, eval_temperature, eval_max_new_tokens }: EvaluateSettings & { seed: number },
  work: (policy: Policy) => Promise<T>,
): Promise<T> {
  if ('flaw_rate' in plays) return work(createTeacherPolicy(seed, plays.flaw_rate));
  const { model, tokenizer } = loadCheckpoint(plays.checkpoint, backend);
  const sampler = createSampler(model.backend.heap, model.config, await readParameters(model));
  try {
    const options = { temperature: eval_temperature, max_new_tokens: eval_max_new_tokens };
    return await work(createModelPolicy(sampler, tokenizer, { ...options, seed: hash64('evaluate', seed) }));
  } finally {
    sampler.dispose();
    disposeModel(model);
  }
}
