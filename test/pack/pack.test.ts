/**
 * The package as a stranger gets it: `npm pack`, then `npm install` of that file in an empty folder, with its own copies of
 * all dependencies.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fencedBlocks } from '../readme/blocks.ts';
import { readText, ROOT } from '../rules/files.ts';
import { npmEnvironment } from './prebuilt.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'canvas-gym-pack-'));
let packed: string[] = [];

const env = npmEnvironment(join(folder, 'prebuilt'));
const inFolder = { cwd: folder, env, maxBuffer: 2 ** 26 };

beforeAll(async () => {
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: ROOT,
    env,
    maxBuffer: 2 ** 26,
  });
  const [tarball] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [{ filename: string; files: { path: string }[] }];
  packed = tarball.files.map(({ path }) => path);
  await run('npm', ['install', `./${tarball.filename}`], inFolder);
}, 400_000);

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

test('it holds compiled code with types and its licence, and no sources or tests', () => {
  expect(packed).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'package.json', 'dist/clients/cli/main.js']));
  expect(packed).toContain('dist/clients/ts/index.d.ts');
  const kernels = packed.filter((path) => path.includes('/kernels'));
  expect(kernels.filter((path) => !/\.(js|d\.ts|map)$/.test(path))).toEqual([
    'dist/trainer/model/wasm/kernels-relaxed.wasm',
    'dist/trainer/model/wasm/kernels.wasm',
  ]);
  const sources = packed.filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'));
  expect([...sources, ...packed.filter((path) => /(^|\/)(test|runs|\.ci)\//.test(path))]).toEqual([]);
});

test('it needs no compiler at run time', () => {
  for (const name of ['tsx', 'typescript', 'esbuild', 'vitest']) {
    expect(existsSync(join(folder, 'node_modules', name)), name).toBe(false);
  }
});

/** `npx canvas-gym serve` on a free port, until the line that says where. */
async function serve(): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn('npx', ['canvas-gym', 'serve', '--port', '0'], {
    ...inFolder,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true, // a group of its own, since npx does not hand every signal on
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /http:\/\/[\w.:]+/.exec(line)?.[0];
    if (url !== undefined) return { child, url };
  }
  throw new Error('canvas-gym serve ended without saying its address');
}

const CONSUMER = `
import { createClient, type Client } from 'canvas-gym/client';

const client: Client = createClient({ url: process.argv[2] ?? '' });
const { state, observation, reward } = await client.reset({ seed: 7, level: 1 });
const nothing: null = reward;
const prompt: string = observation.prompt;
const step = await client.step({ state, action: { actions: [{ type: 'create_shape', id: 'a', shape: 'rectangle', x: 0, y: 0, w: 90, h: 60, text: 'A' }] } });
const value: number = step.reward;
const svg: Blob = await client.render({ state: step.state });
console.log(JSON.stringify({ nothing, prompt: prompt.length, value, svg: svg.type, shapes: step.observation.canvas.shapes.length }));

export async function refused(): Promise<void> {
  // @ts-expect-error there is no such preset
  await client.reset({ reward: 'kind' });
  // @ts-expect-error a step needs an action
  await client.step({ state });
}
`;

const STRICT = {
  compilerOptions: {
    ...{ strict: true, module: 'nodenext', target: 'es2023', lib: ['es2023', 'dom'], types: ['node'] },
    ...{
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      typeRoots: [join(ROOT, 'node_modules/@types')],
    },
  },
  files: ['consumer.ts', 'readme.ts'],
};

/** What the README shows of the client, as a file of the user's; its server is the one that is named to it. */
const README_EXAMPLES = fencedBlocks(readText('README.md'))
  .filter(({ language }) => language === 'ts')
  .map(({ text }) => text.replace("'http://localhost:8000'", "process.argv[2] ?? ''"));

test('canvas-gym/client compiles strictly under nodenext and talks to npx canvas-gym serve', async () => {
  writeFileSync(join(folder, 'consumer.ts'), CONSUMER);
  expect(README_EXAMPLES).toEqual([expect.stringContaining('process.argv[2]')]);
  writeFileSync(join(folder, 'readme.ts'), README_EXAMPLES[0]!);
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(STRICT));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', dependencies: { 'canvas-gym': '*' } }));
  const compiled = await run(
    process.execPath,
    [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', '.'],
    inFolder,
  ).catch((error: unknown) => error as { stdout: string });
  expect(compiled.stdout).toBe('');
  const { child, url } = await serve();
  const ended = once(child, 'close');
  try {
    const { stdout } = await run(process.execPath, ['consumer.js', url], inFolder);
    const answer = JSON.parse(stdout) as Record<string, unknown>;
    await run(process.execPath, ['readme.js', url], inFolder);
    expect(answer).toMatchObject({
      nothing: null,
      shapes: 1,
      svg: expect.stringMatching(/^image\/svg\+xml/) as string,
    });
    expect(answer).toMatchObject({ prompt: expect.any(Number) as number, value: expect.any(Number) as number });
  } finally {
    process.kill(-child.pid!, 'SIGTERM');
  }
  await ended;
}, 120_000);

const TINY = {
  ...{ tasks: 40, 'max-tokens': 4000, validation: 4, steps: 1, 'tasks-per-step': 2, 'group-size': 2 },
  ...{ 'max-new-tokens': 24, 'eval-tasks': 4, 'eval-max-new-tokens': 24 },
};

test('npx canvas-gym quickstart runs every stage and leaves a log, a summary and a report', async () => {
  const flags = Object.entries(TINY).flatMap(([name, value]) => [`--${name}`, String(value)]);
  await run('npx', ['canvas-gym', 'quickstart', '--run-id', 'first', ...flags], inFolder);
  for (const file of ['runs/canvas-gym.db', 'runs/first/summary.json', 'runs/first/report.html']) {
    expect(existsSync(join(folder, file)), file).toBe(true);
  }
}, 120_000);
