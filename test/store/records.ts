/** Rows to fill a log with. */
import { onTestFinished } from 'vitest';
import { openStore, type EpisodeRecord, type StepRecord, type Store } from '../../clients/store/index.ts';
import type { TeacherSampleRecord } from '../../clients/store/index.ts';
import type { Observation } from '../../schemas/episode.ts';

export const RUN = 'sft-20260530-141207';

/** An open log with one run in it, closed after the test. */
export function openLog(path = ':memory:', onWarning?: (message: string) => void): Store {
  const store = openStore(path, onWarning ? { onWarning } : {});
  onTestFinished(store.close);
  store.createRun({ run_id: RUN, command: 'sft', config: { seed: '7', group_size: 8 } });
  return store;
}

const CANVAS = {
  shapes: [{ id: 'a', shape: 'rectangle' as const, x: 40, y: 40, w: 160, h: 80, text: 'Client' }],
  arrows: [],
};

const OBSERVATION: Observation = {
  ...{ prompt: 'Draw a client.', task_id: 'train.pipeline.1.0', turn: 0, max_turns: 1 },
  canvas_size: { w: 1200, h: 800 },
  ...{ canvas: { shapes: [], arrows: [] }, selected: [], errors: [], applied: 0, rejected: 0, lints: [] },
  ...{ reward_components: {}, total_reward: 0 },
};

export function step(changes: Partial<StepRecord> = {}): StepRecord {
  const action = { type: 'create_shape' as const, ...CANVAS.shapes[0]! };
  return {
    observation: OBSERVATION,
    action: JSON.stringify({ actions: [action] }),
    ...{ parsed: [action], applied: [action], rejected: [], errors: [], canvas: CANVAS },
    ...{ reward: 0.5, components: { node: 1, edge: 0 }, reasons: [] },
    ...changes,
  };
}

/** Episode number `i`: groups of eight, returns that rise with `i`. */
export function episode(i: number, changes: Partial<EpisodeRecord> = {}): EpisodeRecord {
  return {
    ...{ task_id: `train.pipeline.1.${i}`, prompt: 'Draw a client.', seed: '18446744073709551615' },
    ...{ policy_version: 'sft', optimizer_step: 1, group_id: String(i >> 3), member: i & 7 },
    ...{ reward_preset: 'graded', reward_preset_version: 1, episode_return: i / 10_000 },
    ...{ stop_reason: 'submitted', terminated: true, truncated: false, steps: [step()] },
    ...changes,
  };
}

export function episodes(count: number, changes: Partial<EpisodeRecord> = {}): EpisodeRecord[] {
  return Array.from({ length: count }, (_, i) => episode(i, changes));
}

export function sample(i: number, changes: Partial<TeacherSampleRecord> = {}): TeacherSampleRecord {
  return {
    ...{ task_id: `train.pipeline.1.${i}`, prompt: 'Draw a client.', provider: 'scripted', model: 'dagre', sample: 0 },
    ...{ completion: '{"actions":[]}', reward_preset: 'graded', reward: 0.9, components: { node: 1 }, errors: [] },
    ...{ accepted: i % 4 !== 0, ...(i % 4 === 0 && { reject_reason: 'low_reward' }) },
    ...changes,
  };
}

/** How many rows a SELECT counts: `count(store, 'episodes')`. */
export function count(store: Store, from: string): unknown {
  return store.query(`SELECT count(*) AS n FROM ${from}`)[0]?.['n'];
}
