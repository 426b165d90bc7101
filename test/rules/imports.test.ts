/** Who may import whom, and what a pure core may use. Every rule is first tried on a made-up source that breaks it. */
import { expect, test } from 'vitest';
import { readText, sourceFiles } from './files.ts';
import { directionFaults, ENTRIES, importCycle, packageFaults, purityFaults, unreached } from './rules.ts';

/** AssemblyScript, which is compiled to wasm: its imports name modules without a suffix, and none is run from here. */
const KERNELS = 'trainer/model/kernels/';
const paths = sourceFiles('schemas', 'server', 'clients', 'trainer').filter((path) => !path.startsWith(KERNELS));
const sources = new Map(paths.map((path) => [path, readText(path)]));
const dependencies = Object.keys((JSON.parse(readText('package.json')) as { dependencies: object }).dependencies);

const faultsOf = (rule: (path: string, source: string) => string[]): string[] =>
  [...sources].flatMap(([path, source]) => rule(path, source));

test.each([
  ['schemas imports the server', 'schemas/a.ts', `import { x } from '../server/app.ts';`],
  ['schemas imports a client', 'schemas/a.ts', `export type { X } from '../clients/ts/index.ts';`],
  ['a core imports the app', 'server/canvas/a.ts', `import type { X } from '../app.ts';`],
  ['the canvas imports the reward', 'server/canvas/a.ts', `import { x } from '../reward/score.ts';`],
  ['the server imports the trainer', 'server/a.ts', `const x = await import('../trainer/sft.ts');`],
  ['the server imports the HTTP client', 'server/a.ts', `import '../clients/ts/index.ts';`],
  ['the client imports the server', 'clients/ts/a.ts', `type X = import('../../server/app.ts').X;`],
  ['the store imports the client', 'clients/store/a.ts', `import { x } from '../ts/index.ts';`],
  ['the trainer imports the server', 'trainer/a.ts', `import { x } from '../server/reward/score.ts';`],
  ['the trainer imports the server by require', 'trainer/model/a.ts', `const x = require('../../server/app.ts');`],
  ['the trainer imports the command line', 'trainer/a.ts', `import { x } from '../clients/cli/main.ts';`],
  ['sources import tests', 'trainer/a.ts', `import { x } from '../test/rules/files.ts';`],
  ['a folder that no rule covers', 'clients/other/a.ts', ''],
])('the direction rule refuses: %s', (_, path, source) => {
  expect(directionFaults(path, source)).toHaveLength(1);
});

test.each([
  ['a core imports the schemas', 'server/tasks/a.ts', `import { x } from '../../schemas/task.ts';`],
  ['the server imports the store', 'server/a.ts', `import { x } from '../clients/store/index.ts';`],
  [
    'the command line imports everything',
    'clients/cli/a.ts',
    `import '../../server/app.ts'; import '../../trainer/sft.ts';`,
  ],
  [
    'a comment or a text names an import',
    'trainer/a.ts',
    `// import '../server/app.ts'\nconst x = "import '../server/app.ts'";`,
  ],
])('the direction rule allows: %s', (_, path, source) => {
  expect(directionFaults(path, source)).toEqual([]);
});

test.each([
  ['node modules', `import { readFileSync } from 'node:fs';`],
  ['node modules by their old names', `import { readFileSync } from 'fs';`],
  ['the clock', `const now = new Date();`],
  ['a timer', `performance.now();`],
  ['chance', `const x = Math.random();`],
  ['chance by another spelling', `const x = Math['random']();`],
  ['the console', `console.log(1);`],
  ['the process', `const home = process.env['HOME'];`],
  ['the network', `await fetch('http://127.0.0.1');`],
  ['a way round it', `globalThis.console.log(1);`],
  ['the locale', `'a'.localeCompare('b');`],
])('the purity rule refuses: %s', (_, source) => {
  expect(purityFaults('server/reward/a.ts', source)).toHaveLength(1);
  expect(purityFaults('server/app.ts', source)).toEqual([]);
});

test('the purity rule allows the same words as labels, types and members', () => {
  const source = `interface A { process: string; at: Date } const a = { console: 1 }; a.console; Math.max(1, 2);`;
  expect(purityFaults('server/canvas/a.ts', source)).toEqual([]);
});

test('the package rule refuses what package.json does not list', () => {
  const source = `import a from 'left/x'; import b from '@scope/right/y'; import type { C } from 'types'; import 'node:fs';`;
  expect(packageFaults('trainer/a.ts', source, ['@scope/right'])).toEqual([
    'trainer/a.ts: left is not in the dependencies of package.json',
  ]);
});

test('the cycle rule finds a cycle, and does not count imports of types', () => {
  const b = `export * from './c.ts';`;
  const cycle = new Map([
    ['x/a.ts', `import './b.ts';`],
    ['x/b.ts', b],
    ['x/c.ts', `import { a } from './a.ts';`],
  ]);
  expect(importCycle(cycle)).toEqual(['x/a.ts', 'x/b.ts', 'x/c.ts', 'x/a.ts']);
  expect(importCycle(new Map([...cycle, ['x/c.ts', `import type { A } from './a.ts';`]]))).toBeUndefined();
});

test('there are sources to check', () => {
  for (const part of ['schemas/', 'server/', 'clients/', 'trainer/']) {
    expect([...sources.keys()].filter((path) => path.startsWith(part)).length, part).toBeGreaterThan(2);
  }
});

test('imports go in the allowed directions only', () => {
  expect(faultsOf(directionFaults)).toEqual([]);
});

test('the cores use no I/O, clock, chance, console or locale', () => {
  expect(faultsOf(purityFaults)).toEqual([]);
});

test('sources import no package that an installed copy would lack', () => {
  expect(faultsOf((path, source) => packageFaults(path, source, dependencies))).toEqual([]);
});

test('no sources import each other in a circle', () => {
  expect(importCycle(sources)).toBeUndefined();
});

test('every source is reached from where the package begins', () => {
  const chain = new Map([
    ['a.ts', `import './b.ts';`],
    ['b.ts', ''],
    ['left.ts', `import './a.ts';`],
  ]);
  expect(unreached(chain, ['a.ts'])).toEqual(['left.ts']);
  expect(unreached(sources, ENTRIES)).toEqual([]);
});
