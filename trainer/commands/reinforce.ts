/** `canvas-gym reinforce`: REINFORCE from a checkpoint, against the environment. */
import { z } from 'zod';
import { defineCommand } from '../../schemas/settings.ts';
import { reinforceStage, ReinforceSettings } from '../stages.ts';
import {
  announceRun,
  BACKEND_SETTING,
  commandLine,
  openBackend,
  withWorkspace,
  WORKSPACE_SETTINGS,
} from '../workspace.ts';

export const command = defineCommand({
  name: 'reinforce',
  summary: 'improve a checkpoint by its rewards in the environment',
  settings: ReinforceSettings.extend({
    ...WORKSPACE_SETTINGS,
    ...BACKEND_SETTING,
    checkpoint: z
      .string()
      .min(1)
      .describe('Folder of the checkpoint to start from; also the reference of the KL penalty'),
  }),
  run: (settings, context) =>
    withWorkspace('reinforce', settings, context, async (ws) => {
      announceRun(ws);
      const backend = await openBackend(ws, settings);
      const checkpoint = await reinforceStage(ws, backend, settings.checkpoint, settings);
      ws.out(`checkpoint: ${checkpoint}`);
      ws.out(`next:       ${commandLine()} evaluate --policies teacher,${settings.checkpoint},${checkpoint}`);
      return { checkpoint };
    }),
});
