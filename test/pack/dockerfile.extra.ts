/**
 * The Dockerfile, instruction by instruction, on this system's Node: each stage is a folder, in which its paths lie. Not run: the
 * base image, its apt-get and its user.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from '../rules/files.ts';
import { GOOD, TASK_ID } from '../protocols/drawings.ts';
import { npmEnvironment } from './prebuilt.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'canvas-gym-image-'));
const env = npmEnvironment(join(folder, 'prebuilt'));

interface Image {
  /** The working folder of the last stage, in this system. */
  folder: string;
  env: Record<string, string>;
  entrypoint: string[];
  cmd: string[];
}

const readLines = (path: string): string[] =>
  readFileSync(join(ROOT, path), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));

/** Copies a file, or what a folder holds, as COPY does; from the checkout without what .dockerignore names. */
function copy(from: string, to: string, isFolder: boolean): void {
  const ignored = readLines('.dockerignore').map((name) => join(ROOT, name));
  const target = isFolder && !from.endsWith('/') ? join(to, basename(from)) : to;
  cpSync(from, target, { recursive: true, filter: (path) => !ignored.includes(path), verbatimSymlinks: true });
}

async function build(): Promise<Image> {
  const stages = new Map<string, string>();
  let stage = '';
  let workdir = '/';
  const image: Image = { folder: '', env, entrypoint: [], cmd: [] };
  const place = (path: string): string => join(stage, resolve('/', workdir, path));
  const steps: Record<string, (text: string) => unknown> = {
    FROM: (text) => {
      stage = join(folder, String(stages.size));
      stages.set(/ AS (\w+)$/.exec(text)?.[1] ?? '', stage);
      workdir = '/';
      image.env = { ...env };
    },
    WORKDIR: (path) => {
      workdir = path;
      mkdirSync(place('.'), { recursive: true });
    },
    RUN: async (command) => {
      if (command.startsWith('apt-get')) return;
      await run('sh', ['-c', command], { cwd: place('.'), env: image.env, maxBuffer: 2 ** 26 });
    },
    COPY: (text) => {
      const [, from, paths = ''] = /^(?:--from=(\w+) )?(.*)$/.exec(text)!;
      const sources = paths.split(' ');
      const to = sources.pop()!;
      const base = from === undefined ? ROOT : stages.get(from)!;
      for (const source of sources) copy(join(base, source), place(to), to.endsWith('/'));
    },
    ENV: (text) => {
      const [name = '', value = ''] = text.split('=');
      image.env[name] = value;
    },
    ENTRYPOINT: (json) => (image.entrypoint = JSON.parse(json) as string[]),
    CMD: (json) => (image.cmd = JSON.parse(json) as string[]),
    USER: () => undefined,
    EXPOSE: () => undefined,
  };
  for (const line of readLines('server/deploy/Dockerfile')) {
    const [, name = '', text = ''] = /^([A-Z]+) (.*)$/.exec(line)!;
    await steps[name]!(text);
  }
  return { ...image, folder: place('.') };
}

let image: Image;
beforeAll(async () => {
  image = await build();
}, 400_000);
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

test('it holds the packages of the lock, and no tools of development', () => {
  const read = (path: string) =>
    (JSON.parse(readFileSync(path, 'utf8')) as { packages: Record<string, { version?: string; dev?: boolean }> })
      .packages;
  const wanted = read(join(ROOT, 'package-lock.json'));
  const installed = read(join(image.folder, 'node_modules/.package-lock.json'));
  expect(Object.keys(installed).length).toBeGreaterThan(50);
  for (const [path, { version }] of Object.entries(installed)) {
    expect([path, version, wanted[path]?.dev]).toEqual([path, wanted[path]?.version, undefined]);
    expect(existsSync(join(image.folder, path)), path).toBe(true);
  }
  for (const name of ['typescript', 'vitest', 'tsx'])
    expect(existsSync(join(image.folder, 'node_modules', name))).toBe(false);
  expect(existsSync(join(image.folder, 'test'))).toBe(false);
});

test('its command is one that it has', async () => {
  const [command, ...args] = [...image.entrypoint, ...image.cmd, '--help'];
  const { stdout } = await run(command, args, { cwd: image.folder, env: image.env });
  expect(stdout).toContain('--host');
});

test('it serves', async () => {
  const [command, ...args] = [...image.entrypoint, 'serve', '--port', '0'];
  const child = spawn(command, args, { cwd: image.folder, env: image.env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  try {
    let url: string | undefined;
    for await (const line of createInterface({ input: child.stdout })) {
      url = /http:\/\/[\w.:]+/.exec(line)?.[0];
      if (url !== undefined) break;
    }
    const body = JSON.stringify({ task_id: TASK_ID, completion: GOOD });
    const response = await fetch(`${url!}/reward`, { method: 'POST', body });
    expect(((await response.json()) as { reward: number }).reward).toBeGreaterThan(0.95);
    const picture = await fetch(`${url!}/render`, {
      method: 'POST',
      body: JSON.stringify({ completion: GOOD, format: 'png' }),
    });
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png']);
  } finally {
    child.kill('SIGTERM');
  }
  await ended;
});
