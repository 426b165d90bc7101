/** Child processes of tests and benchmarks: servers that are waited for and ended, and commands that print one JSON line. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ROOT } from '../rules/files.ts';

const START_LIMIT_MS = 60_000;

/** A port that was free a moment ago: for servers that cannot take one themselves. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

export interface ServerProcess {
  port: number;
  stop(): Promise<void>;
}

async function answers(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(2000) })).ok;
  } catch {
    return false;
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const ended = once(child, 'exit');
  if ((await Promise.race([ended, sleep(3000, 'late')])) === 'late') child.kill('SIGKILL');
  await ended;
}

/** The variables of this process, but for those that are settings of `canvas-gym`. */
export const plainEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('CANVAS_GYM_')));

/** A server that has been started; it is ready when `ready`, asked every 100 ms with what it printed, knows its port. */
async function start(
  command: string,
  args: readonly string[],
  env: Record<string, string>,
  ready: (said: string) => Promise<number | undefined>,
): Promise<ServerProcess> {
  const options = { cwd: ROOT, env: { ...plainEnvironment(), ...env } };
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  const keep = (chunk: Buffer): void => {
    said = `${said}${chunk.toString()}`.slice(-4000);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const end = performance.now() + START_LIMIT_MS;
  while (performance.now() < end) {
    if (child.exitCode !== null) throw new Error(`${command} ${args.join(' ')} ended:\n${said}`);
    const port = await ready(said);
    if (port !== undefined) return { port, stop: () => stop(child) };
    await sleep(100);
  }
  await stop(child);
  throw new Error(`${command} ${args.join(' ')} was not ready within ${START_LIMIT_MS / 1000} s:\n${said}`);
}

/** Starts a server on `port` and waits until `/health` answers; what it printed is in the error if it never does. */
export async function startProcess(
  command: string,
  args: readonly string[],
  port: number,
  env: Record<string, string> = {},
): Promise<ServerProcess> {
  return start(command, args, env, async () => ((await answers(port)) ? port : undefined));
}

/** Starts `canvas-gym serve` on a port that it takes itself and says once it listens. */
async function serve(node: readonly string[], flags: readonly string[]): Promise<ServerProcess> {
  return start(process.execPath, [...node, 'serve', '--port', '0', ...flags], {}, (said) => {
    const port = /http:\/\/[\w.]+:(\d+)/.exec(said)?.[1];
    return Promise.resolve(port === undefined ? undefined : Number(port));
  });
}

/** Runs a command and parses the last line that it printed. */
export async function runJson(command: string, args: readonly string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(command, args, { cwd: ROOT });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

/** The server as a user installs it: the compiled command line (`npm run build` first), defaults but for `flags`. */
export async function startCompiled(...flags: string[]): Promise<ServerProcess> {
  return serve(['dist/clients/cli/main.js'], flags);
}

/** The server of this checkout, from the sources. */
export async function startSources(): Promise<ServerProcess> {
  return serve(['--import', 'tsx', 'clients/cli/main.ts'], []);
}
