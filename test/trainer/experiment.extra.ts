/** The reward experiment through the real command line, small: stopped while it trains, and taken up again. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { openStore } from '../../clients/store/index.ts';
import { placeIn, runFolders, SMALL, startRun } from './small-run.ts';

const folder = mkdtempSync(join(tmpdir(), 'canvas-gym-experiment-'));
const place = placeIn(folder);
const FLAGS = { ...SMALL, steps: 2, rewards: 'weak,graded', seeds: '1,2', 'validation-tasks': 4 };

afterAll(() => {
  rmSync(folder, { recursive: true });
});

test('killed while it trains and started again, it ends with a table and a page of every reward', async () => {
  const first = startRun('experiment-reward', place, FLAGS);
  while (!first.said.out.includes('weak-2: run')) {
    if (first.child.exitCode !== null) throw new Error(first.said.err);
    await sleep(20);
  }
  first.child.kill('SIGKILL');
  await first.ended;
  const second = startRun('experiment-reward', place, FLAGS);
  expect(await second.ended, second.said.err).toBe(0);

  const [run_id, ...others] = runFolders(place);
  expect(others).toEqual([]);
  expect(second.said.out).toContain(`run ${run_id} (taken up again)`);
  expect(second.said.out).toMatch(/^trained on +weak +article +stronger +graded +path_f1/m);
  const page = readFileSync(join(place.runs, run_id!, 'experiment.html'), 'utf8');
  for (const reward of ['weak', 'graded']) expect(page).toContain(`<th scope="row">${reward}</th>`);
  const store = openStore(place.db);
  for (const name of ['weak-1', 'weak-2', 'graded-1', 'graded-2']) {
    expect(store.getRun(`${run_id}.${name}`)).toMatchObject({ status: 'done', config: { kl_beta: 0 } });
    expect(store.metric(`${run_id}.${name}`, 'reinforce', 'episode/return')).toHaveLength(2);
  }
  store.close();
}, 300_000);
