/** Child processes of tests and benchmarks: servers that are waited for and ended, and commands that print one JSON line. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ROOT } from '../rules/files.ts';

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
    return (await fetch(`http://127.0.0.1:${port}/health`)).ok;
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

/** Starts a server on `port` and waits until `/health` answers; what it printed is in the error if it never does. */
export async function startProcess(
  command: string,
  args: readonly string[],
  port: number,
  env: Record<string, string> = {},
): Promise<ServerProcess> {
  const child = spawn(command, args, { cwd: ROOT, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  const keep = (chunk: Buffer): void => {
    said = `${said}${chunk.toString()}`.slice(-4000);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  for (let waited_s = 0; waited_s < 60; waited_s += 0.1) {
    if (child.exitCode !== null) throw new Error(`${command} ${args.join(' ')} ended:\n${said}`);
    if (await answers(port)) return { port, stop: () => stop(child) };
    await sleep(100);
  }
  await stop(child);
  throw new Error(`${command} ${args.join(' ')} did not answer within 60 s:\n${said}`);
}

/** Runs a command and parses the last line that it printed. */
export async function runJson(command: string, args: readonly string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(command, args, { cwd: ROOT });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

/** The server as a user installs it: the compiled command line (`npm run build` first), defaults but for `flags`. */
export async function startCompiled(...flags: string[]): Promise<ServerProcess> {
  const port = await freePort();
  return startProcess(process.execPath, ['dist/clients/cli/main.js', 'serve', '--port', String(port), ...flags], port);
}

/** The server of this checkout, from the sources. */
export async function startSources(): Promise<ServerProcess> {
  const port = await freePort();
  return startProcess(
    process.execPath,
    ['--import', 'tsx', 'clients/cli/main.ts', 'serve', '--port', String(port)],
    port,
  );
}
