/** `canvas-gym sft`: supervised fine-tuning of the tiny model, from nothing, on a dataset of `teach`. */
import { z } from 'zod';
import { defineCommand } from '../../schemas/settings.ts';
import { readDataset } from '../dataset.ts';
import { sftStage, SftStageSettings } from '../stages.ts';
import {
  announceRun,
  BACKEND_SETTING,
  commandLine,
  openBackend,
  withWorkspace,
  WORKSPACE_SETTINGS,
} from '../workspace.ts';

export const command = defineCommand({
  name: 'sft',
  summary: 'train the tiny model from nothing on a dataset',
  settings: SftStageSettings.extend({
    ...WORKSPACE_SETTINGS,
    ...BACKEND_SETTING,
    dataset: z.string().min(1).describe('JSON lines of {task_id, prompt, completion, reward}, as teach writes them'),
  }),
  run: (settings, context) =>
    withWorkspace('sft', settings, context, async (ws) => {
      announceRun(ws);
      const backend = await openBackend(ws, settings);
      const checkpoint = await sftStage(ws, backend, readDataset(settings.dataset), settings);
      ws.out(`checkpoint: ${checkpoint}`);
      ws.out(`next:       ${commandLine()} reinforce --checkpoint ${checkpoint}`);
      return { checkpoint };
    }),
});
