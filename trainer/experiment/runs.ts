/**
 * The runs of the reward experiment: one policy, trained on each reward with each seed. Each is a run of its own in the log
 * and has a folder of its own within the experiment's, so that one which was cut off is taken up where it was.
 */
import type { Preset } from '../../schemas/reward.ts';
import type { Compute } from '../pool/compute.ts';
import { reinforceStage, type ReinforceSettings } from '../stages/reinforce.ts';
import type { Workspace } from '../workspace.ts';

export interface TrainedRun {
  run_id: string;
  reward: Preset;
  seed: number;
  /** Folder of its checkpoint. */
  checkpoint: string;
}

/** `weak-2`: trained on the reward weak with seed 2. */
export function nameOf({ reward, seed }: Pick<TrainedRun, 'reward' | 'seed'>): string {
  return `${reward}-${seed}`;
}

/**
 * Trains from the checkpoint `start` on each reward with each seed; what is done already is passed over.
 * @throws as reinforceStage
 */
export async function trainEach(
  ws: Workspace,
  compute: Compute,
  start: string,
  { rewards, seeds, ...settings }: Omit<ReinforceSettings, 'reward'> & { rewards: Preset[]; seeds: number[] },
): Promise<TrainedRun[]> {
  const runs: TrainedRun[] = [];
  for (const reward of rewards) {
    for (const seed of seeds) {
      const name = nameOf({ reward, seed });
      const own = within(ws, name);
      const { run_id } = own.run;
      const config = { ...settings, reward, seed, checkpoint: start };
      const { git_commit } = ws.run;
      ws.store.createRun({ run_id, command: 'reinforce', config, seed: String(seed), git_commit });
      ws.out(`${name}: run ${run_id}`);
      const checkpoint = await reinforceStage(own, compute, start, { ...settings, reward, seed });
      ws.store.finishRun(run_id, 'done', {});
      runs.push({ run_id, reward, seed, checkpoint });
    }
  }
  return runs;
}

/** The workspace of a run within another one. */
function within(ws: Workspace, name: string): Workspace {
  const run_id = `${ws.run.run_id}.${name}`;
  const file = (...names: string[]): string => ws.run.file(name, ...names);
  return { ...ws, run: { ...ws.run, run_id, path: file(), file } };
}
