/** `canvas-gym teach`: the teacher's answers to training tasks, scored and filtered, as a dataset for `sft`. */
import { defineCommand } from '../../schemas/settings.ts';
import { PRESET_SETTING, presetsFor } from '../presets.ts';
import { nextCommand } from '../shell.ts';
import { teachStage, TeachSettings } from '../stages/teach.ts';
import { announceRun, withWorkspace, WORKSPACE_SETTINGS } from '../workspace.ts';

const Settings = TeachSettings.extend({ ...PRESET_SETTING, ...WORKSPACE_SETTINGS });

export const command = defineCommand({
  name: 'teach',
  summary: 'make a dataset: the teacher proposes, the environment scores, the best are kept',
  settings: Settings,
  presets: presetsFor(Settings),
  run: (settings, context) =>
    withWorkspace({ name: 'teach', schema: Settings }, settings, context, async (ws) => {
      announceRun(ws);
      const examples = await teachStage(ws, settings);
      ws.out(`dataset: ${ws.run.file('dataset.jsonl')} (${examples.length} examples)`);
      ws.out(`next:    ${nextCommand(settings, 'sft', '--dataset', ws.run.file('dataset.jsonl'))}`);
      return { examples: examples.length };
    }),
});
