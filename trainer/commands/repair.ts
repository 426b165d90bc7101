/**
 * `canvas-gym repair`: an example of episodes of several turns. A script draws each diagram with one fault; a policy
 * learns from the teacher how to repair it in turn two, a little, and then from its rewards. Prints what it earned before
 * and after, on test tasks.
 */
import { existsSync } from 'node:fs';
import { z } from 'zod';
import { defineCommand } from '../../schemas/settings.ts';
import { hash64 } from '../../schemas/seed.ts';
import { openContender } from '../contender.ts';
import { readDataset, writeDataset, type Example } from '../dataset.ts';
import { toDecoding } from '../decoding/settings.ts';
import { chooseTasks } from '../evaluate.ts';
import type { Compute } from '../pool/compute.ts';
import { toEpisodeRecord } from '../record.ts';
import { createDamagedOpening, evaluateRepair, REPAIR_EPISODE, teachRepairs, type RepairResult } from '../repair.ts';
import { reinforceStage, ReinforceSettings } from '../stages/reinforce.ts';
import { sftStage, SftStageSettings } from '../stages/sft.ts';
import { timed } from '../stages/timed.ts';
import { pairedDifference } from '../statistics.ts';
import { toLines } from '../table.ts';
import {
  announceRun,
  BACKEND_SETTING,
  Interrupted,
  openCompute,
  withWorkspace,
  WORKSPACE_SETTINGS,
  type Workspace,
} from '../workspace.ts';

const Count = z.number().int().positive();

/** The episodes are what makes it repair, and validation would play whole ones. */
const FIXED = {
  reward: true,
  action_set: true,
  max_turns: true,
  validate_every: true,
  validation_tasks: true,
} as const;

const Settings = z.strictObject({
  ...SftStageSettings.shape,
  ...ReinforceSettings.omit(FIXED).shape,
  // longer prompts and fewer words to learn from than drawing has: more of both than its defaults
  layers: SftStageSettings.shape.layers.default(3),
  max_tokens: SftStageSettings.shape.max_tokens.default(1_800_000),
  max_new_tokens: ReinforceSettings.shape.max_new_tokens.default(80),
  repair_tasks: Count.default(3000).meta({ description: 'Training tasks the teacher repairs', unit: 'tasks' }),
  eval_tasks: Count.default(200).meta({ description: 'Test tasks each policy repairs', unit: 'tasks' }),
  ...BACKEND_SETTING,
  ...WORKSPACE_SETTINGS,
});
type Settings = z.output<typeof Settings>;

export const command = defineCommand({
  name: 'repair',
  summary: 'example of several turns: learn to repair a damaged diagram in turn two',
  settings: Settings,
  run: (settings, context) =>
    withWorkspace({ name: 'repair', schema: Settings }, settings, context, async (ws) => {
      ws.progress.plan(['teach', 'sft', 'reinforce', 'evaluate']);
      announceRun(ws);
      const compute = await openCompute(ws, settings);
      const sft = await sftStage(ws, compute, await teachStage(ws, settings), settings);
      const opening = createDamagedOpening(hash64('repair.reinforce', settings.seed));
      const played = { ...settings, ...REPAIR_EPISODE, validate_every: 0, validation_tasks: 1 };
      const rl = await reinforceStage(ws, compute, sft, played, opening);
      const results = await evaluateStage(ws, compute, { sft, [`rl-${settings.steps}`]: rl }, settings);
      return conclude(ws, results);
    }),
});

async function teachStage(ws: Workspace, { repair_tasks, levels, seed }: Settings): Promise<Example[]> {
  const file = ws.run.file('dataset.jsonl');
  if (existsSync(file)) return readDataset(file);
  return timed(ws, 'teach', 0, async () => {
    const taskIds = await chooseTasks(ws.client, { split: 'train', levels, count: repair_tasks });
    ws.progress.start('teach', taskIds.length, 'tasks');
    const examples = await teachRepairs(ws.client, taskIds, hash64('repair.teach', seed), (done) => {
      if (ws.shouldStop()) throw new Interrupted(`${done} tasks`);
      ws.progress.update(done);
    });
    writeDataset(file, examples);
    ws.progress.finish(`${examples.length} repairs and drawings kept`);
    return examples;
  });
}

/** All policies on the same damaged drawings of test tasks. */
async function evaluateStage(
  ws: Workspace,
  compute: Compute,
  checkpoints: Readonly<Record<string, string>>,
  settings: Settings,
): Promise<Map<string, RepairResult>> {
  return timed(ws, 'evaluate', 0, async () => {
    const { levels, eval_tasks, seed, temperature, max_new_tokens } = settings;
    const taskIds = await chooseTasks(ws.client, { split: 'test_iid', levels, count: eval_tasks });
    ws.progress.start('evaluate', taskIds.length * Object.keys(checkpoints).length, 'episodes');
    const results = new Map<string, RepairResult>();
    for (const [name, checkpoint] of Object.entries(checkpoints)) {
      const contender = await openContender(compute, { checkpoint });
      const decoding = { temperature, max_new_tokens, ...toDecoding(settings, REPAIR_EPISODE) };
      const policy = contender.policyOf(hash64('repair.evaluate', seed), decoding);
      const result = await evaluateRepair(ws.client, policy, taskIds, hash64('repair.test', seed));
      await contender.dispose();
      const context = { policy_version: name, optimizer_step: 0, reward: REPAIR_EPISODE.reward };
      const records = result.trajectories.map((trajectory) => toEpisodeRecord(trajectory, context));
      ws.store.recordEpisodes(ws.run.run_id, 'evaluate', records);
      results.set(name, result);
      ws.progress.update(results.size * taskIds.length, { reward: result.reward });
    }
    ws.progress.finish(`${taskIds.length} damaged drawings of test_iid`);
    return results;
  });
}

function conclude(ws: Workspace, results: ReadonlyMap<string, RepairResult>): Record<string, unknown> {
  const rows = [...results].map(([name, { tasks, damaged, repaired, reward, standard_error }]) => [
    name,
    String(tasks),
    damaged.toFixed(3),
    repaired.toFixed(3),
    `${reward.toFixed(3)} ±${standard_error.toFixed(3)}`,
  ]);
  for (const line of toLines(['policy', 'tasks', 'damaged', 'repaired', 'reward of turn two'], rows)) ws.out(line);
  const [before, after] = [...results.values()];
  const above = pairedDifference(after!.rewards, before!.rewards);
  ws.out(`RL above SFT, same drawings: ${above.mean.toFixed(3)} ±${above.standard_error.toFixed(3)}`);
  const summary = [...results].map(([policy, { tasks, damaged, repaired, reward, standard_error }]) => {
    return { policy, tasks, damaged, repaired, reward, standard_error };
  });
  return { repairs: summary, rl_above_sft: above };
}
