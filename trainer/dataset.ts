/** The SFT dataset of a run: one JSON object a line, written whole or not at all. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { writeAtomic } from './atomic.ts';

export const Example = z.strictObject({
  task_id: z.string(),
  /** What the policy reads, see prompt.ts. */
  prompt: z.string(),
  completion: z.string(),
  /** What the environment gave for it. */
  reward: z.number(),
});
export type Example = z.infer<typeof Example>;

export function writeDataset(file: string, examples: readonly Example[]): void {
  writeAtomic(file, examples.map((example) => `${JSON.stringify(example)}\n`).join(''));
}

/** @throws Error naming the file and line of the first fault. */
export function readDataset(file: string): Example[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.flatMap((line, i) => (line.trim() === '' ? [] : [parseLine(line, `${file}, line ${i + 1}`)]));
}

function parseLine(line: string, place: string): Example {
  try {
    return Example.parse(JSON.parse(line));
  } catch (error) {
    throw new Error(`${place}: not an example {task_id, prompt, completion, reward}`, { cause: error });
  }
}
