/**
 * `canvas-gym experiment-reward`: the lesson of the reward. One SFT policy is trained on each reward with several seeds;
 * each result is scored under all rewards and by the held-out measures; a page shows which rewards get gamed and how.
 * Stopped anywhere and started again, it goes on where it was.
 */
import { z } from 'zod';
import { Preset, PRESETS } from '../../schemas/reward.ts';
import { defineCommand } from '../../schemas/settings.ts';
import { writeAtomic } from '../atomic.ts';
import { loadCurves, loadExamples } from '../experiment/load.ts';
import { MEASURES, toOutcome, toStart, type Outcome } from '../experiment/outcome.ts';
import { CURVES, renderExperiment, toHow } from '../experiment/page.ts';
import { nameOf, trainEach } from '../experiment/runs.ts';
import { repeatCommands } from '../report/repeat.ts';
import { evaluateStage, EvaluateSettings } from '../stages/evaluate.ts';
import { ReinforceSettings } from '../stages/reinforce.ts';
import { sftStage, SftStageSettings } from '../stages/sft.ts';
import { teachStage, TeachSettings } from '../stages/teach.ts';
import { toLines } from '../table.ts';
import { announceRun, BACKEND_SETTING, openCompute, withWorkspace, WORKSPACE_SETTINGS } from '../workspace.ts';

const Settings = z.strictObject({
  rewards: z
    .array(Preset)
    .min(1)
    .default([...PRESETS])
    .describe('Reward presets to train on, separated by commas'),
  seeds: z
    .array(z.number().int().min(0))
    .min(1)
    .default([1, 2, 3])
    .describe('Seeds of REINFORCE, separated by commas; SFT has --seed'),
  checkpoint: z
    .string()
    .min(1)
    .optional()
    .describe('Folder of the policy to begin with; without it one is taught and trained by SFT first'),
  ...TeachSettings.shape,
  ...SftStageSettings.shape,
  max_tokens: SftStageSettings.shape.max_tokens.default(400_000).meta({
    description:
      'Training tokens of SFT, prompts and completions; few, so that there is much left to learn, well or badly',
    unit: 'tokens',
  }),
  ...ReinforceSettings.omit({ reward: true }).shape,
  steps: ReinforceSettings.shape.steps.default(160),
  kl_beta: z
    .number()
    .min(0)
    .default(0)
    .describe('Weight in the loss of the KL to the policy it starts from; a leash hides what a reward asks for'),
  max_kl: z.number().positive().default(50).meta({
    description:
      'KL (k3) to the policy it starts from at which a run stops: far off, since going astray is what is looked for',
    unit: 'nats a token',
  }),
  ...EvaluateSettings.omit({ eval_levels: true }).shape,
  ...BACKEND_SETTING,
  ...WORKSPACE_SETTINGS,
});

export const command = defineCommand({
  name: 'experiment-reward',
  summary: 'train one policy on each reward and show which rewards get gamed, and how',
  settings: Settings,
  run: (settings, context) =>
    withWorkspace({ name: 'experiment-reward', schema: Settings }, settings, context, async (ws) => {
      announceRun(ws);
      const compute = await openCompute(ws, settings);
      const { rewards, seeds } = settings;
      const start = settings.checkpoint ?? (await sftStage(ws, compute, await teachStage(ws, settings), settings));
      const runs = await trainEach(ws, compute, start, settings);
      const contenders = [
        { name: 'sft', plays: { checkpoint: start } },
        ...runs.map((run) => ({ name: nameOf(run), plays: { checkpoint: run.checkpoint } })),
      ];
      const [split] = await evaluateStage(ws, compute, contenders, { ...settings, eval_levels: settings.levels });
      const byName = new Map(split!.policies.map((policy) => [policy.policy, policy]));
      const before = byName.get('sft')!;
      const outcomes = rewards.map((reward) =>
        toOutcome(
          reward,
          before,
          seeds.map((seed) => byName.get(nameOf({ reward, seed }))!),
        ),
      );
      const page = ws.run.file('experiment.html');
      const names = CURVES.map(([name]) => name);
      writeAtomic(
        page,
        renderExperiment({
          ...{ run_id: ws.run.run_id, steps: settings.steps, seeds, tasks: before.rewards.graded.length },
          ...{ start: toStart(before), outcomes, curves: loadCurves(ws.store, runs, names) },
          examples: await loadExamples(ws.store, ws.client, ws.run.run_id, runs),
          repeat: repeatCommands(ws.store.getRun(ws.run.run_id), settings).filter((line) => !line.includes(' report ')),
        }),
      );
      for (const line of toTable(toStart(before), outcomes)) ws.out(line);
      ws.out(`page: ${page}`);
      return { start: toStart(before), outcomes };
    }),
});

function toTable(start: Readonly<Record<string, number>>, outcomes: readonly Outcome[]): string[] {
  const head = ['trained on', ...MEASURES, 'verdict'];
  const rows = outcomes.map(({ reward, verdict, after, change }) => [
    reward,
    ...MEASURES.map((measure) => `${after[measure].mean.toFixed(3)} ±${change[measure].standard_error.toFixed(3)}`),
    verdict,
  ]);
  const first = ['nothing (SFT)', ...MEASURES.map((measure) => start[measure]!.toFixed(3)), ''];
  return ['', ...toLines(head, [first, ...rows]), '', ...outcomes.map((one) => `${one.reward}: ${toHow(one)}`), ''];
}
