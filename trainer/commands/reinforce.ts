/** `canvas-gym reinforce`: REINFORCE from a checkpoint, against the environment. */
import { z } from 'zod';
import { defineCommand } from '../../schemas/settings.ts';
import { readAlarms } from '../alarms.ts';
import { PRESET_SETTING, presetsFor } from '../presets.ts';
import { nextCommand } from '../shell.ts';
import { reinforceStage, ReinforceSettings } from '../stages/reinforce.ts';
import { announceRun, BACKEND_SETTING, openCompute, withWorkspace, WORKSPACE_SETTINGS } from '../workspace.ts';

const Settings = ReinforceSettings.extend({
  ...PRESET_SETTING,
  ...WORKSPACE_SETTINGS,
  ...BACKEND_SETTING,
  checkpoint: z
    .string()
    .min(1)
    .describe('Folder of the checkpoint to start from; also the reference of the KL penalty'),
});

export const command = defineCommand({
  name: 'reinforce',
  summary: 'improve a checkpoint by its rewards in the environment',
  settings: Settings,
  presets: presetsFor(Settings),
  run: (settings, context) =>
    withWorkspace({ name: 'reinforce', schema: Settings }, settings, context, async (ws) => {
      announceRun(ws);
      const compute = await openCompute(ws, settings);
      const checkpoint = await reinforceStage(ws, compute, settings.checkpoint, settings);
      ws.out(`checkpoint: ${checkpoint}`);
      const policies = ['teacher', settings.checkpoint, checkpoint].join(',');
      const levels = ['--eval-levels', settings.levels.join(',')];
      ws.out(`next:       ${nextCommand(settings, 'evaluate', ...levels, '--policies', policies)}`);
      return { checkpoint, alarms: readAlarms(ws.store, ws.run.run_id) };
    }),
});
