/**
 * One side of a comparison: a process of its own that answers requests, JSON lines both ways, until it is closed. So each
 * side keeps its memory and threads to itself, warms up once, and rests while the other is measured.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { ROOT } from '../../rules/files.ts';
import { plainEnvironment } from '../../tools/processes.ts';

export interface Side {
  /** @throws Error with what the process printed last, where it ends without an answer or answers something else */
  ask<T extends z.ZodRawShape>(request: Record<string, unknown>, answer: T): Promise<Answer<T>>;
  /** Ends the process. */
  close(): Promise<void>;
}

/** Every answer also says how much memory the process has had at most. */
const PEAK = { peak_rss_mb: z.number().positive() };
type Answer<T extends z.ZodRawShape> = z.output<z.ZodObject<T & typeof PEAK>>;

/** Starts a side; the first answer comes once it has loaded. */
export function openSide(command: string, args: readonly string[]): Side {
  const child = spawn(command, args, { cwd: ROOT, env: plainEnvironment(), stdio: 'pipe' });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk.toString()}`.slice(-4000);
  });
  child.stdin.on('error', () => undefined); // a process that is gone is met below, with what it said
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exited = once(child, 'close');
  return {
    ask: async (request, shape) => {
      child.stdin.write(`${JSON.stringify(request)}\n`);
      const line = await lines.next();
      if (line.done === true) throw new Error(`${command} ${args.join(' ')} ended:\n${said}`);
      const parsed = z.object({ ...shape, ...PEAK }).safeParse(JSON.parse(line.value));
      if (!parsed.success) throw new Error(`${command} answered ${line.value}`, { cause: parsed.error });
      return parsed.data;
    },
    close: async () => {
      child.stdin.end();
      await exited;
    },
  };
}

/** The requests of the other process, as they come, for the side that is written in TypeScript. */
export async function answerRequests(
  answers: Readonly<Record<string, (request: never) => Promise<Record<string, unknown>>>>,
): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    const { do: name, ...request } = JSON.parse(line) as { do: string };
    const answer = await answers[name]!(request as never);
    process.stdout.write(`${JSON.stringify({ ...answer, ...peakMemory() })}\n`);
  }
}

export const peakMemory = (): { peak_rss_mb: number } => ({ peak_rss_mb: process.resourceUsage().maxRSS / 1024 });
