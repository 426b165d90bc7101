/** What runs before every npm script, in a project made up for it, with an npm that only writes down what it is told. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ROOT } from './files.ts';

let folder: string;
const path = (name: string): string => join(folder, name);
const writeJson = (name: string, value: unknown): void => {
  writeFileSync(path(name), JSON.stringify(value));
};

const A = { version: '1.0.0' };
const LOCK = {
  packages: { '': {}, 'node_modules/a': A, 'node_modules/only-on-mac': { version: '2.0.0', optional: true } },
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ensure-installed-'));
  mkdirSync(path('.ci'));
  mkdirSync(path('node_modules'));
  copyFileSync(join(ROOT, '.ci/ensure-installed.mjs'), path('.ci/ensure-installed.mjs'));
  writeJson('package.json', { engines: { node: '>=20.19.0' } });
  writeJson('package-lock.json', LOCK);
  writeJson('node_modules/.package-lock.json', { packages: { 'node_modules/a': A } });
  writeFileSync(
    path('npm-cli.js'),
    `require('fs').writeFileSync(${JSON.stringify(path('asked'))}, process.argv.slice(2).join(' '))`,
  );
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function run(env: Record<string, string> = {}): { status: number | null; said: string; asked: string } {
  const { status, stderr } = spawnSync(process.execPath, [path('.ci/ensure-installed.mjs')], {
    encoding: 'utf8',
    env: { ...process.env, npm_execpath: path('npm-cli.js'), ...env },
  });
  return { status, said: stderr, asked: existsSync(path('asked')) ? readFileSync(path('asked'), 'utf8') : '' };
}

test('says and does nothing where all is installed', () => {
  expect(run()).toEqual({ status: 0, said: '', asked: '' });
});

test.each([
  ['nothing is installed', undefined],
  ['an install was interrupted', '{"packages": {'],
  ['a package is missing', '{"packages": {}}'],
  ['a package is of another version', '{"packages": {"node_modules/a": {"version": "0.9.0"}}}'],
])('installs, dev dependencies too, where %s', (_, hiddenLock) => {
  if (hiddenLock === undefined) rmSync(path('node_modules/.package-lock.json'));
  else writeFileSync(path('node_modules/.package-lock.json'), hiddenLock);
  expect(run({ NODE_ENV: 'production' })).toMatchObject({ status: 0, asked: 'ci --include=dev' });
});

test('compiles native modules anew for another Node', () => {
  writeFileSync(path('node_modules/.node-abi'), '1');
  expect(run().asked).toBe('rebuild');
  expect(readFileSync(path('node_modules/.node-abi'), 'utf8')).toBe(process.versions.modules);
});

test('stops at a Node that is too old, before it installs anything', () => {
  writeJson('package.json', { engines: { node: '>=99.1.0' } });
  rmSync(path('node_modules/.package-lock.json'));
  const { status, said, asked } = run();
  expect([status, asked]).toEqual([1, '']);
  expect(said).toContain(`needs Node 99.1.0 or later, and this is Node ${process.versions.node}`);
});

test('fails where npm fails', () => {
  rmSync(path('node_modules/.package-lock.json'));
  writeFileSync(path('npm-cli.js'), 'process.exit(7)');
  const { status, said } = run();
  expect(status).toBe(1);
  expect(said).toContain('npm ci failed');
});
