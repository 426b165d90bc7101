/** `canvas-gym sft`: supervised fine-tuning of the tiny model, from nothing, on a dataset of `teach`. */
import { z } from 'zod';
import { defineCommand } from '../../schemas/settings.ts';
import { readDataset } from '../dataset.ts';
import { PRESET_SETTING, presetsFor } from '../presets.ts';
import { nextCommand } from '../shell.ts';
import { sftStage, SftStageSettings } from '../stages/sft.ts';
import { announceRun, BACKEND_SETTING, openCompute, withWorkspace, WORKSPACE_SETTINGS } from '../workspace.ts';

const Settings = SftStageSettings.extend({
  ...PRESET_SETTING,
  ...WORKSPACE_SETTINGS,
  ...BACKEND_SETTING,
  dataset: z.string().min(1).describe('JSON lines of {task_id, prompt, completion, reward}, as teach writes them'),
});

export const command = defineCommand({
  name: 'sft',
  summary: 'train the tiny model from nothing on a dataset',
  settings: Settings,
  presets: presetsFor(Settings),
  run: (settings, context) =>
    withWorkspace({ name: 'sft', schema: Settings }, settings, context, async (ws) => {
      announceRun(ws);
      const compute = await openCompute(ws, settings);
      const checkpoint = await sftStage(ws, compute, readDataset(settings.dataset), settings);
      ws.out(`checkpoint: ${checkpoint}`);
      ws.out(`next:       ${nextCommand(settings, 'reinforce', '--checkpoint', checkpoint)}`);
      return { checkpoint };
    }),
});
