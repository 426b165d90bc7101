/** The command line itself: help, errors, exit codes, signals, and what is loaded. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { COMMANDS } from '../../clients/cli/commands.ts';
import { toHelp } from '../../schemas/settings.ts';
import { moduleReferences } from '../rules/references.ts';
import { runCli, startCli, startServer, startSource } from './command-line.ts';
import { temporaryFolder } from '../tools/temporary-folder.ts';

const commands = await Promise.all([...COMMANDS].map(async ([name, load]) => [name, (await load()).command] as const));

test.each(commands)('%s goes by that name and explains itself and each of its settings', (name, command) => {
  expect(command.name).toBe(name);
  expect(command.summary).toMatch(/^[a-z].{10,90}[^.]$/);
  const lines = toHelp(name, command.summary, command.settings)
    .split(/\n(?= {2}\S)/)
    .slice(1);
  expect(lines).toHaveLength(Object.keys(command.settings.shape).length);
  for (const line of lines) expect(line).toMatch(/ {2}\S[^(]{5,}/);
});

test('help lists the commands, and explains one by either of two ways', async () => {
  const [all, one, other] = await Promise.all(
    [['help'], ['help', 'tasks'], ['tasks', '--limit', 'x', '--help']].map((args) => runCli(args)),
  );
  expect(all).toMatchObject({ code: 0, stderr: '' });
  for (const [name, { summary }] of commands)
    expect(all!.stdout).toMatch(new RegExp(`^  ${name} +${summary.replace(/[().]/g, '\\$&')}$`, 'm'));
  expect(one).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/--limit <number> .*default 20 tasks; CANVAS_GYM_LIMIT/) as string,
  });
  expect(other).toEqual(one);
});

describe('wrong usage ends with code 2 and says what would be right', () => {
  test.each([
    ['an unknown command', ['taks'], /"taks"; the nearest one is tasks/],
    ['help for an unknown command', ['help', 'scor'], /"scor"; the nearest one is score/],
    ['an unknown flag', ['tasks', '--limt', '3'], /--limt; the nearest one is --limit/],
    ['a value out of range', ['tasks', '--limit', '0'], /--limit "0"/],
    ['a missing argument', ['score'], /FILE is missing/],
    [
      'an address of another protocol',
      ['tasks', '--url', 'ftp://127.0.0.1'],
      /^.*--url "ftp:.*http:\/\/ or https:\/\/\n/,
    ],
    ['an address that is none', ['tasks', '--url', '127.0.0.1:8000'], /^.*--url "127.*http:\/\/ or https:\/\/\n/],
    ['an address with a password', ['tasks', '--url', 'http://a:b@127.0.0.1'], /--url .*password/],
    ['flags that need each other', ['export', '--format', 'parquet'], /--out FILE/],
  ])('%s', async (_, args, message) => {
    expect(await runCli(args)).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) as string });
  });
});

describe('what fails ends with code 1 and one line that says why', () => {
  test.each([
    ['no log', ['runs'], /^canvas-gym runs: runs\/canvas-gym\.db: no such database\n$/],
    ['no file', ['score', 'none.jsonl', '--url', 'http://127.0.0.1:1'], /^canvas-gym score: .*none\.jsonl.*\n$/],
    [
      'no server',
      ['tasks', '--url', 'http://127.0.0.1:1'],
      /^canvas-gym tasks: no answer from http:\/\/127\.0\.0\.1:1.*\n$/,
    ],
  ])('%s', async (_, args, message) => {
    const outcome = await runCli(args, { cwd: temporaryFolder() });
    expect(outcome).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(message) as string });
  });
});

test.each([
  ['a page', 404, 'text/html; charset=utf-8', '<!doctype html><h1>Not found</h1>', 'answered 404 text/html'],
  ['a page where JSON is due', 200, 'text/html', '<h1>Welcome</h1>', 'answered 200 text/html'],
  ['JSON of its own', 200, 'application/json', '{"ok":true}', 'its /health answers something else'],
])(
  'a server of something else that answers %s is named as such, without a page or a stack',
  async (_, status, type, body, why) => {
    const foreign = createServer((_request, response) => {
      response.writeHead(status, { 'content-type': type }).end(body);
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void foreign.close());
    await once(foreign, 'listening');
    const url = `http://127.0.0.1:${(foreign.address() as AddressInfo).port}`;
    const outcome = await runCli(['play', '--url', url]);
    const stderr = `canvas-gym play: no canvas-gym server at ${url} (${why})\n`;
    expect(outcome).toEqual({ code: 1, stdout: '', stderr });
  },
);

test('the version is that of the package', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  expect(await runCli(['--version'])).toEqual({ code: 0, stdout: `canvas-gym ${version}\n`, stderr: '' });
});

/** All packages that are loaded with a source, without what it loads later on demand. */
function packagesOf(source: URL, seen = new Set<string>()): Set<string> {
  const staticOnly = readFileSync(source, 'utf8').replace(/\bimport\(/g, 'later(');
  for (const { specifier, typeOnly } of moduleReferences(staticOnly)) {
    const target = specifier.startsWith('.') ? new URL(specifier, source).href : specifier;
    if (typeOnly || seen.has(target)) continue;
    seen.add(target);
    if (specifier.startsWith('.')) packagesOf(new URL(target), seen);
  }
  return new Set([...seen].filter((name) => !name.startsWith('file:')));
}

test("serve loads neither the trainer's libraries nor the log", () => {
  const sources = ['main', 'serve'].map((name) => new URL(`../../clients/cli/${name}.ts`, import.meta.url));
  const packages = sources.flatMap((source) => [...packagesOf(source)]);
  expect(packages).toEqual(expect.arrayContaining(['zod', 'hono', '@resvg/resvg-js']));
  expect(packages.filter((name) => /tensorflow|tokenizers|better-sqlite3|graphviz|parquet/.test(name))).toEqual([]);
});

test('serve says where it is, and ends with code 0 on SIGTERM', async () => {
  const server = await startServer('--secret', 'correct horse');
  onTestFinished(() => server.stop());
  expect(server.banner).toMatch(
    /^canvas-gym \S+ listens at http:\/\/127\.0\.0\.1:\d+\ndocs .*\/docs\nlimits .*\nstates +signed\n$/,
  );
  expect(await (await fetch(`${server.url}/health`)).json()).toMatchObject({ status: 'healthy' });
  server.process.kill('SIGTERM');
  expect(await once(server.process, 'exit')).toEqual([0, null]);
});

test('a command that is interrupted ends with code 1', async () => {
  const play = startCli(['play']);
  onTestFinished(() => void play.kill('SIGKILL'));
  await once(play.stdout!, 'data');
  play.kill('SIGINT');
  expect(await once(play, 'exit')).toEqual([1, null]);
});

test('a server that a command started ends with it, even if the command is killed', async () => {
  const owner = startSource(fileURLToPath(new URL('./owner.ts', import.meta.url)), []);
  const [line] = (await once(owner.stdout!, 'data')) as [Buffer];
  const url = line.toString().trim();
  expect((await fetch(`${url}/health`)).ok).toBe(true);
  owner.kill('SIGKILL');
  const isUp = async (): Promise<boolean> =>
    fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  for (let waited_ms = 0; waited_ms < 20_000 && (await isUp()); waited_ms += 100) await sleep(100);
  await sleep(1000); // while it closes, it still answers on connections that are open
  expect(await isUp()).toBe(false);
});

test('a reader that goes away is no failure', async () => {
  const child = startCli(['tasks', '--json', '--limit', '1000']);
  child.stdout!.once('data', () => child.stdout!.destroy());
  expect(await once(child, 'exit')).toEqual([0, null]);
});
