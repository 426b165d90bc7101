/** `canvas-gym teach`: the teacher's answers to training tasks, scored and filtered, as a dataset for `sft`. */
import { defineCommand } from '../../schemas/settings.ts';
import { teachStage, TeachSettings } from '../stages.ts';
import { announceRun, commandLine, withWorkspace, WORKSPACE_SETTINGS } from '../workspace.ts';

export const command = defineCommand({
  name: 'teach',
  summary: 'make a dataset: the teacher proposes, the environment scores, the best are kept',
  settings: TeachSettings.extend(WORKSPACE_SETTINGS),
  run: (settings, context) =>
    withWorkspace('teach', settings, context, async (ws) => {
      announceRun(ws);
      const examples = await teachStage(ws, settings);
      ws.out(`dataset: ${ws.run.file('dataset.jsonl')} (${examples.length} examples)`);
      ws.out(`next:    ${commandLine()} sft --dataset ${ws.run.file('dataset.jsonl')}`);
      return { examples: examples.length };
    }),
});
