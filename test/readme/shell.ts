/** Runs the commands of a page as a reader would type them: one shell, one working folder, in order. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Example } from './blocks.ts';

export interface Outcome extends Example {
  /** Standard output and standard error, in the order they were written. */
  printed: string;
  exit: number;
}

const MARK = '\u001e';

/** `adapt` changes a command before it is run, e.g. the port of the server it speaks to. */
export async function runExamples(all: readonly Example[], adapt: (command: string) => string): Promise<Outcome[]> {
  const folder = await mkdtemp(join(tmpdir(), 'readme-'));
  try {
    const script = all.map(({ command }) => `${adapt(command)}\nprintf '${MARK}%s${MARK}' $?`).join('\n');
    const run = promisify(execFile)('bash', ['-c', `exec 2>&1\n${script}`], { cwd: folder, timeout: 50_000 });
    const parts = (await run).stdout.split(MARK);
    return all.map((example, i) => ({
      ...example,
      printed: parts[2 * i] ?? '',
      exit: Number(parts[2 * i + 1] ?? Number.NaN),
    }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
