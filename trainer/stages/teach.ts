/** The stage `teach`: the teacher answers training tasks, what the environment likes is kept as a data set. */
import { existsSync } from 'node:fs';
import { z } from 'zod';
import { Preset } from '../../schemas/reward.ts';
import { Level } from '../../schemas/task.ts';
import { readDataset, writeDataset, type Example } from '../dataset.ts';
import { DEFAULT_MIN_REWARD, teach } from '../teach.ts';
import { Interrupted, type Workspace } from '../workspace.ts';
import { timed } from './timed.ts';

const Count = z.number().int().positive();
const Share = z.number().min(0).max(1);
const Levels = z.array(Level).min(1);

export const TeachSettings = z.strictObject({
  levels: Levels.default([1]).describe('Levels of the training tasks, separated by commas'),
  tasks: Count.default(4000).meta({ description: 'Training tasks the teacher answers', unit: 'tasks' }),
  samples: Count.default(4).meta({ description: 'Completions it proposes for each', unit: 'completions' }),
  flaw_rate: Share.default(0.25).describe('Share of proposals with a deliberate fault'),
  teacher_reward: Preset.default('graded').describe('Reward preset that judges the proposals'),
  min_reward: Share.default(DEFAULT_MIN_REWARD).describe('Least reward of a completion that is kept'),
  keep: Count.default(1).meta({ description: 'Most completions kept of a task', unit: 'completions' }),
});
export type TeachSettings = z.output<typeof TeachSettings>;

export async function teachStage(ws: Workspace, settings: TeachSettings & { seed: number }): Promise<Example[]> {
  const file = ws.run.file('dataset.jsonl');
  if (existsSync(file)) return readDataset(file);
  return timed(ws, 'teach', 0, async () => {
    ws.progress.start('teach', settings.tasks, 'tasks');
    const options = { ...settings, run_id: ws.run.run_id, reward: settings.teacher_reward };
    const examples = await teach(ws.client, ws.store, options, (done, metrics) => {
      if (ws.shouldStop()) throw new Interrupted(`${done} tasks`);
      ws.progress.update(done, metrics);
    });
    writeDataset(file, examples);
    ws.progress.finish(`${examples.length} examples kept`);
    return examples;
  });
}
