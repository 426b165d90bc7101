/**
 * The quickstart killed (SIGKILL) at random moments of every stage and started again each time: in the end the same files,
 * byte for byte, and the same log, row for row, as a run that nobody disturbed.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createRng } from '../../schemas/seed.ts';
import { temporaryFolder } from '../tools/temporary-folder.ts';
import { placeIn, resultOf, runFolders, SMALL, startRun, type Place, type Started } from './small-run.ts';

const SEED = 20n;
const KILLS = 20;

/** When each part begins: what the program says then. */
const PARTS = {
  start: /^/,
  teach: /teach {2}/,
  sft: /sft {2}/,
  reinforce: /reinforce {2}/,
  evaluate: /evaluate {2}/,
  report: /evaluate {2}\d+ episodes in/,
} as const;
type Part = keyof typeof PARTS;
const PART_NAMES = Object.keys(PARTS) as Part[];

/** Resolves once a part began, with the time, ms; undefined where the program ended without it. */
async function begin({ said, ended }: Started, part: Part): Promise<number | undefined> {
  while (!PARTS[part].test(said.err)) {
    if ((await Promise.race([ended, sleep(2, 'waiting')])) !== 'waiting') return undefined;
  }
  return performance.now();
}

/** How long each part takes when nobody disturbs, ms. */
async function measure(place: Place): Promise<Record<Part, number>> {
  const run = startRun('quickstart', place, SMALL);
  const starts: number[] = [];
  for (const part of PART_NAMES) starts.push((await begin(run, part)) ?? performance.now());
  expect(await run.ended, run.said.err).toBe(0);
  const ends = [...starts.slice(1), performance.now()];
  return Object.fromEntries(PART_NAMES.map((part, i) => [part, ends[i]! - starts[i]!])) as Record<Part, number>;
}

/** Starts the command and kills it `delay` ms after a part began. False where it ended before that. */
async function killIn(place: Place, part: Part, delay: number): Promise<boolean> {
  const run = startRun('quickstart', place, SMALL);
  if ((await begin(run, part)) !== undefined) await Promise.race([sleep(delay), run.ended]);
  run.child.kill('SIGKILL');
  const end = await run.ended;
  if (end !== 'SIGKILL') expect(end, run.said.err).toBe(0);
  return end === 'SIGKILL';
}

/** Whether a run is over: the same command would begin another. */
function isComplete(place: Place): boolean {
  return runFolders(place).some((name) => existsSync(join(place.runs, name, 'summary.json')));
}

test(
  `killed at ${KILLS} random moments, seed ${SEED}, a run ends like one that was not`,
  { timeout: 1_800_000 },
  async () => {
    const folder = temporaryFolder();
    const whole = placeIn(join(folder, 'whole'));
    const durations = await measure(whole);
    console.log(`undisturbed, ms: ${PART_NAMES.map((part) => `${part} ${durations[part].toFixed(0)}`).join(', ')}`);
    const expected = resultOf(whole);
    const rng = createRng(SEED);
    const kills: string[] = [];
    for (let round = 0; kills.length < KILLS; round++) {
      const place = placeIn(join(folder, String(round)));
      for (const part of PART_NAMES) {
        const delay = rng.next() * durations[part];
        if (await killIn(place, part, delay)) kills.push(`${part} +${delay.toFixed(0)} ms`);
        if (isComplete(place)) break;
      }
      if (!isComplete(place)) {
        const last = startRun('quickstart', place, SMALL);
        expect(await last.ended, last.said.err).toBe(0);
      }
      expect(runFolders(place), kills.join(', ')).toHaveLength(1);
      const result = resultOf(place);
      expect(result.files, kills.join(', ')).toEqual(expected.files);
      for (const [table, rows] of Object.entries(expected.log)) expect(result.log[table], table).toEqual(rows);
      console.log(`round ${round}: ${kills.length} kills so far, all the same (${kills.slice(-6).join(', ')})`);
    }
    expect(new Set(kills.map((kill) => kill.split(' ')[0]))).toEqual(new Set(PART_NAMES));
  },
);
