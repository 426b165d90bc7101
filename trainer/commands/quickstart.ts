/**
 * `canvas-gym quickstart`: the whole loop once. A server on a free port; teacher -> SFT -> REINFORCE -> evaluation
 * against it over HTTP; everything in the log; a report with curves and pictures. Stopped anywhere and started again, it
 * goes on where it was.
 */
import { z } from 'zod';
import { PRESETS } from '../../schemas/reward.ts';
import { defineCommand } from '../../schemas/settings.ts';
import { comparePolicies, toRow, type PolicyEvaluation } from '../evaluate.ts';
import { writeReport } from '../report/command.ts';
import { PRESET_SETTING, presetsFor } from '../presets.ts';
import { evaluateStage, EvaluateSettings } from '../stages/evaluate.ts';
import { reinforceStage, ReinforceSettings } from '../stages/reinforce.ts';
import { sftStage, SftStageSettings } from '../stages/sft.ts';
import { teachStage, TeachSettings } from '../stages/teach.ts';
import { nextCommand, type Places } from '../shell.ts';
import { toRewardTable } from '../table.ts';
import {
  announceRun,
  BACKEND_SETTING,
  openBackend,
  withWorkspace,
  WORKSPACE_SETTINGS,
  type Workspace,
} from '../workspace.ts';

const Settings = z.strictObject({
  ...TeachSettings.shape,
  ...SftStageSettings.shape,
  ...PRESET_SETTING,
  ...ReinforceSettings.shape,
  ...EvaluateSettings.omit({ eval_levels: true }).shape,
  ...BACKEND_SETTING,
  ...WORKSPACE_SETTINGS,
});

export const command = defineCommand({
  name: 'quickstart',
  summary: 'run teacher, SFT, REINFORCE, evaluation and report once, end to end',
  settings: Settings,
  run: (settings, context) =>
    withWorkspace({ name: 'quickstart', schema: Settings }, settings, context, async (ws) => {
  presets: presetsFor(Settings),
      ws.progress.plan(['teach', 'sft', 'reinforce', 'evaluate']);
      announceRun(ws);
      const backend = await openBackend(ws, settings);
      const examples = await teachStage(ws, settings);
      const sft = await sftStage(ws, backend, examples, settings);
      const rl = await reinforceStage(ws, backend, sft, settings);
      const contenders = [
        { name: 'teacher', plays: { flaw_rate: settings.flaw_rate } },
        { name: 'sft', plays: { checkpoint: sft } },
        { name: `rl-${settings.steps}`, plays: { checkpoint: rl } },
      ];
      const evaluations = await evaluateStage(ws, backend, contenders, { ...settings, eval_levels: settings.levels });
      const report = ws.run.file('report.html');
      await writeReport(ws.store, ws.client, ws.run.run_id, report, settings);
      const summary = toSummary(ws, evaluations);
      conclude(ws, settings, evaluations, report);
      return summary;
    }),
});

function toSummary({ store, run }: Workspace, evaluations: readonly PolicyEvaluation[]): Record<string, unknown> {
  const times = store.stageTimes(run.run_id);
  const seconds = (stage: string): number => times.find((time) => time.stage === stage)?.seconds ?? 0;
  const [, sft, rl] = evaluations;
  return {
    seconds: Object.fromEntries(['teach', 'sft', 'reinforce', 'evaluate'].map((stage) => [stage, seconds(stage)])),
    rewards: evaluations.map(toRow),
    rl_above_sft: Object.fromEntries(PRESETS.map((preset) => [preset, comparePolicies(rl!, sft!, preset)])),
  };
}

/** The last lines: the table, how sure it is, where the report is, and what to try next. */
function conclude(ws: Workspace, places: Places, evaluations: readonly PolicyEvaluation[], report: string): void {
  const [, sft, rl] = evaluations;
  const difference = comparePolicies(rl!, sft!, 'graded');
  const sign = difference.mean < 0 ? '' : '+';
  ws.out('');
  for (const line of toRewardTable(evaluations.map(toRow))) ws.out(line);
  ws.out(
    `${rl!.policy} above sft, same tasks, graded: ${sign}${difference.mean.toFixed(3)} ±${difference.standard_error.toFixed(3)}`,
  );
  ws.out('');
  ws.out(`report: ${report}`);
  ws.out('try next:');
  ws.out(`  ${nextCommand({}, 'play', '--level', '1')}`);
  const policies = ['teacher', ws.run.file('sft'), ws.run.file('rl')].join(',');
  ws.out(`  ${nextCommand(places, 'evaluate', '--split', 'test_vocab', '--policies', policies)}`);
  ws.out(`  ${nextCommand({ db: places.db }, 'export', ws.run.run_id)}`);
}
