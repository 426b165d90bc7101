/**
 * An environment server of a command's own: `canvas-gym serve` on a free port, as a child process, so that it has a core
 * to itself and the command talks to it over HTTP like anyone. It ends with the command, however the command ends: the
 * channel between them closes, and `serve` takes that as its sign to stop.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { createClient } from '../ts/index.ts';

const START_MS = 60_000;
const STOP_MS = 8_000;

export interface ServerHandle {
  url: string;
  close: () => Promise<void>;
}

function spawnServer(): ChildProcess {
  const [, main = ''] = process.argv;
  const args = [...process.execArgv, main, 'serve', '--host', '127.0.0.1', '--port', '0'];
  // A process group of its own: Ctrl-C reaches the command, which ends the server once it needs it no more.
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], detached: true });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  const ended = once(child, 'exit').then(() => 'ended');
  if (child.connected) child.disconnect();
  if ((await Promise.race([ended, sleep(STOP_MS, 'late', { ref: false })])) === 'late') child.kill('SIGKILL');
  await ended;
}

/** The address in the first line that the server prints. */
async function readAddress(child: ChildProcess): Promise<string> {
  const lines = createInterface({ input: child.stdout! });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the server ended as it started (exit code ${String(code)})`);
  });
  const first = once(lines, 'line') as Promise<[string]>;
  const late = sleep(START_MS, undefined, { ref: false }).then(() => {
    throw new Error(`the server did not start within ${START_MS / 1000} s`);
  });
  const [line] = await Promise.race([first, ended, late]);
  ended.catch(() => undefined);
  late.catch(() => undefined);
  const [url] = /http:\/\/\S+/.exec(line) ?? [];
  if (url === undefined) throw new Error(`the server said ${JSON.stringify(line)} instead of its address`);
  return url;
}

/**
 * Starts a server and resolves once it takes requests.
 * @param note Told what the server says on standard error, and that it ended although nobody asked it to.
 */
export async function startServerProcess(note: (line: string) => void): Promise<ServerHandle> {
  const child = spawnServer();
  createInterface({ input: child.stderr! }).on('line', note);
  const onExit = (code: number | null): void => {
    note(`the environment's server ended by itself (exit code ${String(code)})`);
  };
  try {
    const url = await readAddress(child);
    child.once('exit', onExit);
    child.channel?.unref();
    child.unref();
    return {
      url,
      close: async () => {
        child.off('exit', onExit);
        await stop(child);
      },
    };
  } catch (error) {
    await stop(child);
    throw error;
  }
}

/** @throws the client's errors where nobody answers there; Error where somebody else does */
async function assertServer(url: string): Promise<void> {
  const health: unknown = await createClient({ url }).health();
  if (!z.looseObject({ status: z.string(), version: z.string() }).safeParse(health).success) {
    throw new Error(`no canvas-gym server at ${url} (its /health answers something else)`);
  }
}

/** Runs `work` against the server at `url`, or against one of the command's own. */
export async function withServer<T>(
  url: string | undefined,
  startServer: () => Promise<ServerHandle>,
  work: (url: string) => Promise<T>,
): Promise<T> {
  if (url !== undefined) {
    await assertServer(url);
    return work(url);
  }
  const server = await startServer();
  try {
    return await work(server.url);
  } finally {
    await server.close();
  }
}
