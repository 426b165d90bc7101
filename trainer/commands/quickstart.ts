/**
 * `canvas-gym quickstart`: the whole loop once. A server on a free port; teacher -> SFT -> REINFORCE -> evaluation
 * against it over HTTP; everything in the log; a report with curves and pictures. Stopped anywhere and started again, it
 * goes on where it was.
 */
import { z } from 'zod';
import { PRESETS } from '../../schemas/reward.ts';
import { defineCommand } from '../../schemas/settings.ts';
import { readAlarms } from '../alarms.ts';
import { comparePolicies, toRow, type PolicyEvaluation } from '../evaluate.ts';
import { PRESET_SETTING, presetsFor } from '../presets.ts';
import { writeReport } from '../report/command.ts';
import { evaluateStage, EvaluateSettings } from '../stages/evaluate.ts';
import { reinforceStage, ReinforceSettings } from '../stages/reinforce.ts';
import { sftStage, SftStageSettings } from '../stages/sft.ts';
import { teachStage, TeachSettings } from '../stages/teach.ts';
import { nextCommand, type Places } from '../shell.ts';
import { summarise, type EvaluationSummary } from '../summary.ts';
import { toComparisonLine, toReport, toRewardTable } from '../table.ts';
import {
  announceRun,
  BACKEND_SETTING,
  openCompute,
  withWorkspace,
  WORKSPACE_SETTINGS,
  type Workspace,
} from '../workspace.ts';

const Settings = z.strictObject({
  ...PRESET_SETTING,
  ...TeachSettings.shape,
  ...SftStageSettings.shape,
  ...ReinforceSettings.shape,
  ...EvaluateSettings.omit({ eval_levels: true }).shape,
  ...BACKEND_SETTING,
  ...WORKSPACE_SETTINGS,
});

export const command = defineCommand({
  name: 'quickstart',
  summary: 'run teacher, SFT, REINFORCE, evaluation and report once, end to end',
  settings: Settings,
  presets: presetsFor(Settings),
  run: (settings, context) =>
    withWorkspace({ name: 'quickstart', schema: Settings }, settings, context, async (ws) => {
      ws.progress.plan(['teach', 'sft', 'reinforce', 'evaluate']);
      announceRun(ws);
      const compute = await openCompute(ws, settings);
      const examples = await teachStage(ws, settings);
      const sft = await sftStage(ws, compute, examples, settings);
      const rl = await reinforceStage(ws, compute, sft, settings);
      const contenders = [
        { name: 'teacher', plays: { flaw_rate: settings.flaw_rate } },
        { name: 'sft', plays: { checkpoint: sft } },
        { name: `rl-${settings.steps}`, plays: { checkpoint: rl } },
      ];
      const splits = await evaluateStage(ws, compute, contenders, { ...settings, eval_levels: settings.levels });
      const evaluation = summarise(splits, settings.pass_at_reward);
      const report = ws.run.file('report.html');
      await writeReport(ws.store, ws.client, ws.run.run_id, report, settings, evaluation);
      const names = contenders.map(({ name }) => name);
      const evaluations = splits[0]!.policies.filter(({ policy }) => names.includes(policy));
      conclude(ws, settings, { evaluations, evaluation, report });
      return { ...toSummary(ws, evaluations), evaluation, alarms: readAlarms(ws.store, ws.run.run_id) };
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

interface Conclusion {
  /** Teacher, SFT and REINFORCE on the tasks of the first split. */
  evaluations: readonly PolicyEvaluation[];
  evaluation: EvaluationSummary;
  report: string;
}

/** The last lines: the table, how sure it is, where the report is, and what to try next. */
function conclude(
  ws: Workspace,
  settings: Places & { levels: readonly number[] },
  { evaluations, evaluation, report }: Conclusion,
): void {
  const [, sft, rl] = evaluations;
  const isOne = evaluation.splits.length === 1;
  ws.out('');
  for (const line of toRewardTable(evaluations.map(toRow))) ws.out(line);
  const pair = evaluation.splits[0]!.comparisons.find(
    ({ policy, above }) => policy === rl!.policy && above === sft!.policy,
  );
  if (isOne) ws.out(toComparisonLine(pair!));
  else for (const line of toReport(evaluation)) ws.out(line);
  ws.out('');
  ws.out(`report: ${report}`);
  ws.out('try next:');
  ws.out(`  ${nextCommand({}, 'play', '--level', '1')}`);
  const policies = ['teacher', ws.run.file('sft'), ws.run.file('rl')].join(',');
  const levels = ['--eval-levels', settings.levels.join(',')];
  ws.out(`  ${nextCommand(settings, 'evaluate', '--split', 'all', ...levels, '--policies', policies)}`);
  ws.out(`  ${nextCommand({ db: settings.db }, 'export', ws.run.run_id)}`);
}
