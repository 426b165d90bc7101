/** The strip of a report: which tasks and versions it shows of the validation episodes in the log. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openStore, type EpisodeRecord, type Store } from '../../clients/store/index.ts';
import { createClient } from '../../clients/ts/index.ts';
import { createRng, hash64 } from '../../schemas/seed.ts';
import { createApp } from '../../server/app.ts';
import { evaluatePolicy } from '../../trainer/evaluate.ts';
import { toEpisodeRecord } from '../../trainer/record.ts';
import { loadStrip } from '../../trainer/report/load-strip.ts';
import type { Policy } from '../../trainer/rollout.ts';
import { createScriptedTeacher } from '../../trainer/teacher/scripted.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'strip-'));
const SAMPLED = { finish_reason: 'stop', prompt_ids: [1], completion_ids: [2], sampled_logprobs: [-0.5] } as const;
const TASKS = ['val.pipeline.1.0', 'val.pipeline.1.1', 'val.cycle.1.0', 'val.network.1.0'];
const app = createApp({});
const client = createClient({ url: 'http://app', fetch: (request) => app.fetch(request) });
const stores: Store[] = [];

afterAll(() => {
  for (const store of stores) store.close();
  rmSync(FOLDER, { recursive: true });
});

/** Draws what was asked for the tasks named, says something useless of the others. */
function knowing(known: readonly string[]): Policy {
  return (observations) =>
    observations.map((observation, i) => {
      const teacher = createScriptedTeacher(createRng(hash64('strip', observation.prompt)), { flaw_rate: 0 });
      const text = known.includes(TASKS[i]!) ? teacher.propose(observation, 1)[0]! : 'I cannot draw that.';
      return { ...SAMPLED, text };
    });
}

/** A run whose validation plays the tasks at each step by the policy that knows some of them. */
async function runOf(known: Readonly<Record<number, readonly string[]>>, run_id: string): Promise<Store> {
  const store = openStore(join(FOLDER, `${run_id}.db`));
  stores.push(store);
  store.createRun({ run_id, command: 'reinforce', config: {} });
  for (const [step, names] of Object.entries(known)) {
    const { trajectories } = await evaluatePolicy(client, `rl-${step}`, knowing(names), TASKS);
    const context = { policy_version: `rl-${step}`, optimizer_step: Number(step), reward: 'graded' } as const;
    const records = trajectories.map((each): EpisodeRecord => toEpisodeRecord(each, context));
    store.recordEpisodes(run_id, 'validation', records);
  }
  return store;
}

test('two tasks of different families that gained most, and the one that lost most, by version from left to right', async () => {
  const [first, second, third, lost] = TASKS as [string, string, string, string];
  const store = await runOf({ 0: [lost], 10: [first, lost], 5: [lost], 20: [first, second, third] }, 'changing');
  const strips = await loadStrip(store, client, 'changing');
  expect(strips.map(({ task_id }) => task_id.split('.')[1])).toHaveLength(3);
  expect(new Set(strips.slice(0, 2).map(({ task_id }) => task_id.split('.')[1]))).toEqual(
    new Set(['pipeline', 'cycle']),
  );
  expect(strips[2]!.task_id).toBe(lost);
  for (const { drawings, change } of strips) {
    expect(drawings.map(({ policy }) => policy)).toEqual(['rl-0', 'rl-5', 'rl-10', 'rl-20']);
    expect(change).toBe(drawings[3]!.reward! - drawings[0]!.reward!);
  }
  expect(strips[2]!.drawings[0]!.svg).toMatch(/^<svg /);
  expect(strips[2]!.drawings[3]!.svg).toBeUndefined();
  expect(strips[2]!.change).toBeLessThan(-0.5);
});

test('of many versions the first, the last and some between; what does not change has no row', async () => {
  const [first] = TASKS as [string];
  const steps = Object.fromEntries(Array.from({ length: 14 }, (_, i) => [i * 10, i < 7 ? [] : [first]]));
  const strips = await loadStrip(await runOf(steps, 'long'), client, 'long');
  expect(strips.map(({ task_id }) => task_id)).toEqual([first]);
  expect(strips[0]!.drawings.map(({ policy }) => policy)).toEqual(['rl-0', 'rl-30', 'rl-70', 'rl-100', 'rl-130']);
});

test('one version is no strip', async () => {
  expect(await loadStrip(await runOf({ 0: TASKS }, 'short'), client, 'short')).toEqual([]);
});
