/** Trajectories as rows of the log. */
import { toStepRecord, type EpisodeRecord } from '../clients/store/index.ts';
import { PRESET_VERSIONS, type Preset } from '../schemas/reward.ts';
import type { Trajectory } from './rollout.ts';

export interface RecordContext {
  /** Which weights acted: `teacher`, `sft`, `rl-40`. */
  policy_version: string;
  optimizer_step: number;
  reward: Preset;
}

export function toEpisodeRecord(trajectory: Trajectory, context: RecordContext): EpisodeRecord {
  const { task_id, group_id, member, opening, turns, terminated, truncated, stop_reason, episode_return } = trajectory;
  const played = opening ? [opening, ...turns] : turns;
  return {
    ...{ task_id, group_id, member, terminated, truncated, stop_reason, episode_return },
    prompt: played[0]?.observation.prompt ?? '',
    policy_version: context.policy_version,
    optimizer_step: context.optimizer_step,
    reward_preset: context.reward,
    reward_preset_version: PRESET_VERSIONS[context.reward],
    steps: played.map(toStepRecord),
  };
}
