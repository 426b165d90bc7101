/** The layout of the project: top level, sizes, what must not be written down, and the README's tree in step with the files. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectFiles, readText, ROOT } from './files.ts';
import { isListedFile, parseTree, privateFaults, topLevelFaults, toTree, treeBlock, treeFaults } from './layout.ts';

const files = projectFiles();
const MAX_BYTES = 5 * 2 ** 20;
const sizeOf = (path: string): number => statSync(join(ROOT, path)).size;

test('the top level is the fixed one', () => {
  expect(topLevelFaults(['src/a.ts', 'Makefile', 'vitest.config.ts', '.ci/run', 'test/a.ts'])).toEqual([
    'src is outside the fixed top level',
    'Makefile is outside the fixed top level',
  ]);
  expect(topLevelFaults(files)).toEqual([]);
});

test.each([
  ['a home folder', ['', 'home', 'ann', 'canvas'].join('/')],
  ['a checkout', `cd ${['', 'work', 'main'].join('/')}`],
  ['a registry', ['https:', '', 'registry.example.org', 'x.tgz'].join('/')],
  ['a download address in the lock file', ['"resolved"', '"x"'].join(': ')],
])('the privacy rule refuses %s', (_, text) => {
  expect(privateFaults('a.md', text)).toHaveLength(1);
});

test('no file names a machine path, a registry or a download address', () => {
  const texts = files.filter((path) => sizeOf(path) < 2 ** 20).map((path) => [path, readText(path)] as const);
  expect(privateFaults('a.md', 'https://example.org/home/ann, ./home/x, ${root}/home/x')).toEqual([]);
  expect(texts.flatMap(([path, text]) => privateFaults(path, text))).toEqual([]);
});

test('no file is over 5 MiB', () => {
  expect(files.length).toBeGreaterThan(50);
  expect(files.filter((path) => sizeOf(path) > MAX_BYTES)).toEqual([]);
});

test('the rule for the tree sees a missing file, a stale line and a line without a comment', () => {
  const tree = [
    'README.md   this page',
    'server/   the environment',
    '  app.ts   routes',
    '  old.ts   gone',
    'test/   tests',
    'LICENSE',
  ];
  expect(
    treeFaults(parseTree(tree.join('\n')), [
      'LICENSE',
      'README.md',
      'server/app.ts',
      'server/new.ts',
      'test/a/b.test.ts',
    ]),
  ).toEqual(['server/new.ts has no line', 'server/old.ts is gone', 'LICENSE has no comment']);
});

test('a tree is read as it was written', () => {
  const lines = [
    'LICENSE',
    'server/',
    'server/app.ts',
    'server/main.ts',
    'server/canvas/',
    'server/canvas/parse.ts',
    'test/',
  ];
  const tree = lines.map((path) => ({ path, comment: `about ${path}` }));
  expect(parseTree(toTree([...tree].reverse()))).toEqual(tree);
});

test('the tree at the end of the README is in step with the files', () => {
  const lines = parseTree(treeBlock(readText('README.md')));
  expect(treeFaults(lines, files.filter(isListedFile))).toEqual([]);
});
