/** `canvas-gym evaluate`: policies on the same unseen tasks, scored under every preset. */
import { z } from 'zod';
import { defineCommand } from '../../schemas/settings.ts';
import { CheckpointError, hasCheckpoint } from '../checkpoint.ts';
import { toRow } from '../evaluate.ts';
import { evaluateStage, EvaluateSettings, type Contender } from '../stages/evaluate.ts';
import { toRewardTable } from '../table.ts';
import { DEFAULT_TEACHER_OPTIONS } from '../teacher/scripted.ts';
import { announceRun, BACKEND_SETTING, openBackend, withWorkspace, WORKSPACE_SETTINGS } from '../workspace.ts';

const Settings = EvaluateSettings.extend({
  ...WORKSPACE_SETTINGS,
  ...BACKEND_SETTING,
  policies: z
    .array(z.string().min(1))
    .min(1)
    .default(['teacher'])
    .describe('teacher, or folders of checkpoints, separated by commas'),
});

export const command = defineCommand({
  name: 'evaluate',
  summary: 'compare policies on tasks they were not trained on',
  settings: Settings,
  run: async (settings, context) => {
    const contenders = settings.policies.map(toContender);
    await withWorkspace({ name: 'evaluate', schema: Settings }, settings, context, async (ws) => {
      announceRun(ws);
      const backend = await openBackend(ws, settings);
      const evaluations = await evaluateStage(ws, backend, contenders, settings);
      const rows = evaluations.map(toRow);
      for (const line of toRewardTable(rows)) ws.out(line);
      return { rewards: rows };
    });
  },
});

/** The teacher answers with its usual faults; a checkpoint is called by its folder. */
function toContender(policy: string): Contender {
  if (policy === 'teacher') return { name: policy, plays: DEFAULT_TEACHER_OPTIONS };
  if (!hasCheckpoint(policy)) throw new CheckpointError(`there is no checkpoint at ${policy}`);
  return { name: policy, plays: { checkpoint: policy } };
}
