/** Runs the real command line in a folder of the test's own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { fileURLToPath, pathToFileURL } from 'node:url';

const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const MAIN = fileURLToPath(new URL('../../clients/cli/main.ts', import.meta.url));

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** The environment without the variables that would be settings. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('CANVAS_GYM_')));
}

export function startSource(source: string, args: readonly string[], cwd = tmpdir()): ChildProcess {
  return spawn(process.execPath, ['--import', TSX, source, ...args], { cwd, env: cleanEnvironment() });
}

/** Starts `canvas-gym ...args`; the caller ends it. */
export function startCli(args: readonly string[], cwd?: string): ChildProcess {
  return startSource(MAIN, args, cwd);
}

/** Runs `canvas-gym ...args` to its end. */
export async function runCli(
  args: readonly string[],
  { input = '', cwd }: { input?: string; cwd?: string } = {},
): Promise<Outcome> {
  const child = startCli(args, cwd);
  child.stdin!.on('error', () => undefined).end(input); // it may end without reading
  const [stdout, stderr] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'close')]);
  return { code: child.exitCode, stdout, stderr };
}

export interface Server {
  url: string;
  banner: string;
  process: ChildProcess;
  stop: () => Promise<void>;
}

/** Starts `canvas-gym serve` on a free port and waits for the lines it prints first. */
export async function startServer(...flags: string[]): Promise<Server> {
  const child = startCli(['serve', '--port', '0', ...flags]);
  let banner = '';
  for await (const chunk of child.stdout!) {
    banner += String(chunk);
    if (banner.includes('\nstates')) break;
  }
  const [url = ''] = /http:\S+/.exec(banner) ?? [];
  return {
    ...{ url, banner, process: child },
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}
