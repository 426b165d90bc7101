/**
 * This project's side of `rl_step` and `rl_to_equal_reward`, answering what torch/grpo.py answers (see side.ts): the stage
 * `reinforce` as its command runs it, log and checkpoints included, held before the first request of each step until the
 * next step is asked for.
 *
 *   tsx test/bench/trainer/ours-rl.ts CHECKPOINT TASKS.jsonl '{"url": ..., settings of reinforce}'
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { reinforceStage, ReinforceSettings } from '../../../trainer/stages/reinforce.ts';
import {
  BACKEND_SETTING,
  openCompute,
  withWorkspace,
  WORKSPACE_SETTINGS,
  type Workspace,
} from '../../../trainer/workspace.ts';
import { peakMemory } from './side.ts';

const Settings = ReinforceSettings.extend({ ...WORKSPACE_SETTINGS, ...BACKEND_SETTING });

const [checkpoint, file, given] = process.argv.slice(2) as [string, string, string];
const taskIds = readFileSync(file, 'utf8')
  .trim()
  .split('\n')
  .map((line) => (JSON.parse(line) as { task_id: string }).task_id);
const folder = mkdtempSync(join(tmpdir(), 'canvas-gym-bench-'));
const requests = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

/** Waits for the next request. Once there are none, ends the process: the other side has seen enough. */
async function waitForRequest(): Promise<void> {
  if ((await requests.next()).done !== true) return;
  rmSync(folder, { recursive: true });
  process.exit(0);
}

const answer = (value: object): void => {
  process.stdout.write(`${JSON.stringify({ ...value, ...peakMemory() })}\n`);
};

/**
 * The workspace, but a step waits until it is asked for, and answers when the next one begins; and the tasks played are those
 * of the file, in their order, again and again.
 */
function stepByStep(ws: Workspace): { workspace: Workspace; answerStep: () => void } {
  let metrics: Readonly<Record<string, number>> | undefined;
  let startMs = 0;
  let asked: Promise<void> | undefined;
  let played = 0;
  const answerStep = (): void => {
    if (!metrics) return;
    const seconds = (performance.now() - startMs) / 1000;
    answer({ seconds, reward: metrics['episode/return'], tokens: metrics['episode/completion_tokens'] });
    metrics = undefined;
  };
  const next = async (): Promise<void> => {
    answerStep();
    await waitForRequest();
    startMs = performance.now();
  };
  const workspace: Workspace = {
    ...ws,
    client: {
      ...ws.client,
      reset: async (request, ...rest) => {
        const task_id = taskIds[played++ % taskIds.length]!;
        await (asked ??= next()); // the first of a step waits, the others with it
        return ws.client.reset({ ...request, task_id }, ...rest);
      },
    },
    store: {
      ...ws.store,
      recordMetrics: (...args) => {
        ws.store.recordMetrics(...args);
        if (args[3]['episode/return'] === undefined) return; // not a step's metrics
        metrics = args[3];
        asked = undefined;
      },
    },
  };
  return { workspace, answerStep };
}

const silent = { plan: () => undefined, start: () => undefined, update: () => undefined, finish: () => undefined };
const context = {
  startServer: () => Promise.reject(new Error('the server runs already')),
  out: () => undefined,
  progress: silent,
  signal: new AbortController().signal,
};
const places = { db: join(folder, 'log.db'), runs: join(folder, 'runs') };
const settings = Settings.parse({ ...(JSON.parse(given) as object), ...places });
await withWorkspace({ name: 'reinforce', schema: z.strictObject(Settings.shape) }, settings, context, async (ws) => {
  const compute = await openCompute(ws, settings);
  await waitForRequest();
  answer({ device: compute.backend.device });
  const { workspace, answerStep } = stepByStep(ws);
  await reinforceStage(workspace, compute, checkpoint, settings);
  answerStep(); // the last one, which no other follows
  return {};
});
rmSync(folder, { recursive: true });
