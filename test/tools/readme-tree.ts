/**
 * Brings the tree at the end of the README in step with the files: keeps the comments that are there, drops lines of files
 * that are gone, and gives a new file the first sentence of its header as a comment, to be shortened by hand.
 *
 *   npx tsx test/tools/readme-tree.ts
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFiles, readText, ROOT } from '../rules/files.ts';
import { isListedFile, parseTree, toTree, treeBlock } from '../rules/layout.ts';

const COMMENT = /\/\*\*?(.*?)\*\/|"""(.*?)"""|(?:^|\n)(?:#|\/\/) (.*?)\n(?!#|\/\/)/s;

/** The first sentence of a file's first comment or docstring, without a full stop. */
function headline(path: string): string {
  const comment = COMMENT.exec(readText(path).replace(/^#!.*\n/, ''));
  const text = (comment?.[1] ?? comment?.[2] ?? comment?.[3] ?? '').replace(/\s*\n\s*(\*|#|\/\/)?\s*|\s+/g, ' ').trim();
  return /^(.*?)(\.|:)( |$)/.exec(text.replace(/^preset/i, 'Preset'))?.[1] ?? text;
}

const readme = readText('README.md');
const block = treeBlock(readme);
const known = new Map(parseTree(block).map(({ path, comment }) => [path, comment]));
/** Folders whose files need no lines of their own. */
const wholeFolders = [...known.keys()].filter((path) => /^(\.ci|test\/\w+|(\w+\/)+data)\/$/.test(path));
const files = projectFiles().filter(
  (path) => isListedFile(path) && !wholeFolders.some((folder) => path.startsWith(folder)),
);
const folders = [...files, ...wholeFolders.map((folder) => `${folder}x`)].flatMap((path) =>
  path
    .split('/')
    .slice(0, -1)
    .map((_, i, parts) => `${parts.slice(0, i + 1).join('/')}/`),
);
const paths = [...new Set([...files, ...folders, ...wholeFolders])];
const lines = paths.map((path) => ({ path, comment: known.get(path) ?? (path.endsWith('/') ? '' : headline(path)) }));
const at = readme.lastIndexOf(`${block}\`\`\``);
writeFileSync(join(ROOT, 'README.md'), readme.slice(0, at) + toTree(lines) + readme.slice(at + block.length));
