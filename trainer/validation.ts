/**
 * Validation during REINFORCE: every few steps the policy plays the same tasks of the split `val`, greedily, and what it
 * drew is scored under every preset and by the held-out measures. Nothing of it reaches the training: no gradient, no
 * stream of random numbers. The episodes are in the log as stage `validation`, the means as metrics of `reinforce`.
 *
 *   validation/<preset>, held_out/path_f1, held_out/graph_edit_similarity, held_out/renamed_reward, time/validation_s
 */
import type { Level } from '../schemas/task.ts';
import { HELD_OUT_MEASURES, PRESETS } from '../schemas/reward.ts';
import { readAlarms, toAlarmLine } from './alarms.ts';
import { chooseTasks, evaluatePolicy, levelsOf, PLAYED_PRESET, type PlayOptions } from './evaluate.ts';
import { toEpisodeRecord } from './record.ts';
import type { Policy } from './rollout.ts';
import { mean, onlyFinite } from './statistics.ts';
import type { Workspace } from './workspace.ts';

const SPLIT = 'val';

export interface ValidationSettings {
  /** Steps between two validations; 0 for none. */
  validate_every: number;
  validation_tasks: number;
  /** Of the training; where `val` has none of them, all its own. */
  levels: readonly Level[];
  steps: number;
}

/** Plays and logs the validation of a step; answers its metrics. */
export type Validate = (policy: Policy, step: number) => Promise<Record<string, number>>;

/** Before the first step, every so many, and after the last. */
export function isValidationDue(step: number, { validate_every, steps }: ValidationSettings): boolean {
  return validate_every > 0 && (step % validate_every === 0 || step === steps);
}

/** Chooses the tasks, the same for every step. Says on the terminal when an alarm of reward hacking comes up. */
export async function createValidation(
  ws: Workspace,
  settings: ValidationSettings,
  { action_set, max_turns }: Pick<PlayOptions, 'action_set' | 'max_turns'>,
): Promise<Validate> {
  const { client, store, run } = ws;
  const levels = await levelsOf(client, SPLIT, settings.levels);
  const taskIds = await chooseTasks(client, { split: SPLIT, levels, count: settings.validation_tasks });
  const alarmed = new Set<string>();
  return async (policy, step) => {
    const startedMs = performance.now();
    const name = `rl-${step}`;
    const { rewards, episodes, trajectories } = await evaluatePolicy(client, name, policy, taskIds, {
      ...{ action_set, max_turns, samples: 1 },
    });
    const metrics = onlyFinite({
      ...Object.fromEntries(PRESETS.map((preset) => [`validation/${preset}`, mean(rewards[preset])])),
      ...Object.fromEntries(
        HELD_OUT_MEASURES.map((measure) => [
          `held_out/${measure}`,
          mean(episodes.flatMap(({ held_out }) => held_out?.[measure] ?? [])),
        ]),
      ),
      'time/validation_s': (performance.now() - startedMs) / 1000,
    });
    const context = { policy_version: name, optimizer_step: step, reward: PLAYED_PRESET };
    store.transaction(() => {
      const records = trajectories.map((trajectory) => toEpisodeRecord(trajectory, context));
      store.recordEpisodes(run.run_id, 'validation', records);
      store.recordMetrics(run.run_id, 'reinforce', step, metrics);
    });
    for (const alarm of readAlarms(store, run.run_id)) {
      if (!alarmed.has(alarm.metric)) ws.out(`warning: ${toAlarmLine(alarm)}`);
      alarmed.add(alarm.metric);
    }
    return metrics;
  };
}
