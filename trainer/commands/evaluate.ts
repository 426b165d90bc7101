/** `canvas-gym evaluate`: policies on the same unseen tasks, scored under every preset. */
import { basename, dirname } from 'node:path';
import { z } from 'zod';
import { defineCommand } from '../../schemas/settings.ts';
import { toRow } from '../evaluate.ts';
import { evaluateStage, EvaluateSettings, type Contender } from '../stages.ts';
import { toRewardTable } from '../table.ts';
import { BACKEND_SETTING, openBackend, withWorkspace, WORKSPACE_SETTINGS } from '../workspace.ts';

export const command = defineCommand({
  name: 'evaluate',
  summary: 'compare policies on tasks they were not trained on',
  settings: EvaluateSettings.extend({
    ...WORKSPACE_SETTINGS,
    ...BACKEND_SETTING,
    policies: z
      .array(z.string().min(1))
      .min(1)
      .default(['teacher'])
      .describe('teacher, or folders of checkpoints, separated by commas'),
  }),
  run: (settings, context) =>
    withWorkspace('evaluate', settings, context, async (ws) => {
      const backend = await openBackend(ws, settings);
      const evaluations = await evaluateStage(ws, backend, settings.policies.map(toContender), settings);
      const rows = evaluations.map(toRow);
      for (const line of toRewardTable(rows)) ws.out(line);
      return { rewards: rows };
    }),
});

/** The teacher's proposals carry their usual faults; a checkpoint is named by its run and folder. */
function toContender(policy: string): Contender {
  if (policy === 'teacher') return { name: 'teacher', plays: { flaw_rate: 0.25 } };
  return { name: `${basename(dirname(policy))}/${basename(policy)}`, plays: { checkpoint: policy } };
}
