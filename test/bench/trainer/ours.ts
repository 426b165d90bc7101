/**
 * This project's side of the speed benchmarks, answering what torch/worker.py answers (see side.ts):
 *
 *   tsx test/bench/trainer/ours.ts CHECKPOINT WORKLOAD.json BACKEND THREADS
 */
import { readFileSync } from 'node:fs';
import type { BackendName } from '../../../trainer/backend.ts';
import { answerRequests } from './side.ts';
import { createTrainerUnderTest } from './under-test.ts';
import { tokensOf, type Workload } from './workload.ts';

const [checkpoint, file, backend, threads] = process.argv.slice(2) as [string, string, BackendName, string];
const workload = JSON.parse(readFileSync(file, 'utf8')) as Workload;
const trainer = await createTrainerUnderTest(checkpoint, workload, backend, Number(threads));
const { way } = trainer;

/** Repeats `work` for about `seconds`; the first time it is also done once before. Units a second. */
async function rate(name: string, work: () => Promise<unknown>, unitsEach: number, seconds: number): Promise<number> {
  if (!warm.has(name)) await work();
  warm.add(name);
  const start = performance.now();
  let count = 0;
  let elapsed = 0;
  while (elapsed < seconds) {
    await work();
    count++;
    elapsed = (performance.now() - start) / 1000;
  }
  return (count * unitsEach) / elapsed;
}
const warm = new Set<string>();

await answerRequests({
  losses: async ({ steps }: { steps: number }) => {
    const losses: number[] = [];
    for (let i = 0; i < steps; i++) losses.push(await trainer.step());
    return { losses: { [way]: losses } };
  },
  train: async ({ seconds }: { seconds: number }) => ({
    ...{ per_s: await rate('train', () => trainer.step(), tokensOf(workload.batches[0]!), seconds), way },
  }),
  sample: async ({ batch, seconds }: { batch: number; seconds: number }) => ({
    ...{ per_s: await rate(`sample ${batch}`, () => trainer.sample(batch), batch * workload.new_tokens, seconds), way },
  }),
});
await trainer.close();
