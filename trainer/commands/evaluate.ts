/**
 * `canvas-gym evaluate`: policies on the same unseen tasks of one split or several, scored under every preset and by the
 * held-out measures. What it prints also stands in the run's summary.json, see trainer/summary.ts.
 */
import { z } from 'zod';
import { defineCommand } from '../../schemas/settings.ts';
import { toContenders } from '../contender.ts';
import { evaluateStage, EvaluateSettings } from '../stages/evaluate.ts';
import { summarise } from '../summary.ts';
import { toReport } from '../table.ts';
import { announceRun, BACKEND_SETTING, openCompute, withWorkspace, WORKSPACE_SETTINGS } from '../workspace.ts';

const Settings = EvaluateSettings.extend({
  ...WORKSPACE_SETTINGS,
  ...BACKEND_SETTING,
  policies: z
    .array(z.string().min(1))
    .min(1)
    .refine((names) => new Set(names).size === names.length, { error: 'names a policy twice' })
    .default(['teacher'])
    .describe('teacher, or folders of checkpoints, separated by commas'),
});

export const command = defineCommand({
  name: 'evaluate',
  summary: 'compare policies on tasks they were not trained on',
  settings: Settings,
  run: async (settings, context) => {
    const contenders = toContenders(settings.policies);
    await withWorkspace({ name: 'evaluate', schema: Settings }, settings, context, async (ws) => {
      announceRun(ws);
      const compute = await openCompute(ws, settings);
      const evaluations = await evaluateStage(ws, compute, contenders, settings);
      const evaluation = summarise(evaluations, settings.pass_at_reward);
      for (const line of toReport(evaluation)) ws.out(line);
      return { evaluation };
    });
  },
});
