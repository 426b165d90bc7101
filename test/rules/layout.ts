/** Rules about files rather than imports: what lies at the top level, what no file may say, and the tree in the README. */

/** The fixed top level: folders and files of design and licence, then dot files and tools' config files. */
const TOP_LEVEL = [
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'README.md', 'LICENSE'],
  ...['schemas', 'server', 'clients', 'trainer', 'test'],
];

export const topLevelFaults = (files: readonly string[]): string[] =>
  [...new Set(files.map((path) => path.split('/')[0] ?? ''))]
    .filter((entry) => !TOP_LEVEL.includes(entry) && !/^\.|^[a-z.-]+\.config\.(js|mjs|ts)$/.test(entry))
    .map((entry) => `${entry} is outside the fixed top level`);

/** Paths of one person's machine, addresses of a package registry, and download addresses in the lock file. */
const PRIVATE = [
  /(?<![\w.$}-])\/(home|root|Users|work|farm)\/[\w.-]+/,
  /https?:\/\/[\w.-]*(registry|pypi|artifactory)[\w.-]*/,
  /"resolved"\s*:/,
];

export const privateFaults = (path: string, text: string): string[] =>
  PRIVATE.flatMap((pattern) => {
    const found = pattern.exec(text);
    return found === null ? [] : [`${path}: ${found[0]}`];
  });

export interface TreeLine {
  /** Relative to the root; a folder ends with "/". */
  path: string;
  comment: string;
}

/** Reads a tree of two blanks a level, `name   comment` a line. */
export function parseTree(block: string): TreeLine[] {
  const folders: string[] = [];
  return block.split('\n').flatMap((line) => {
    const match = /^( *)(\S+)(?: {2,}(.*))?$/.exec(line);
    if (match === null) return [];
    const [, indent = '', name = '', comment = ''] = match;
    const depth = indent.length / 2;
    folders.length = depth;
    folders[depth] = name;
    return [{ path: folders.join(''), comment }];
  });
}

/** Files that need a line: all but the lock file, dot files and tools' config files at the top. */
export const isListedFile = (path: string): boolean =>
  path !== 'package-lock.json' && (path.includes('/') || !/^\.|\.config\.\w+$/.test(path));

/** The reverse of `parseTree`: sorted, the files of a folder before its folders, comments in one column. */
export function toTree(lines: readonly TreeLine[]): string {
  const key = (path: string): string =>
    path.replace(/[^/]+(\/?)/g, (part, slash: string) => (slash === '' ? `0${part}` : `1${part}`));
  const sorted = [...lines].sort((a, b) => (key(a.path) < key(b.path) ? -1 : 1));
  const shown = sorted.map(({ path, comment }) => {
    const depth = path.replace(/\/$/, '').split('/').length - 1;
    return { name: '  '.repeat(depth) + path.replace(/^(.*\/)?([^/]+\/?)$/, '$2'), comment };
  });
  const width = Math.max(...shown.map(({ name }) => name.length)) + 2;
  return shown.map(({ name, comment }) => `${name.padEnd(width)}${comment}`.trimEnd() + '\n').join('');
}

/** The last fenced block of a README. */
export function treeBlock(readme: string): string {
  const blocks = [...readme.matchAll(/^```\w*\n(.*?)^```$/gms)];
  return blocks.at(-1)?.[1] ?? '';
}

/** A folder without lines below it stands for everything in it; any other file needs a line of its own. */
export function treeFaults(lines: readonly TreeLine[], files: readonly string[]): string[] {
  const paths = lines.map(({ path }) => path);
  const whole = paths.filter(
    (path) => path.endsWith('/') && !paths.some((other) => other !== path && other.startsWith(path)),
  );
  const covered = (file: string): boolean => paths.includes(file) || whole.some((folder) => file.startsWith(folder));
  const exists = (path: string): boolean =>
    files.some((file) => (path.endsWith('/') ? file.startsWith(path) : file === path));
  return [
    ...files.filter((file) => !covered(file)).map((file) => `${file} has no line`),
    ...paths.filter((path) => !exists(path)).map((path) => `${path} is gone`),
    ...lines.filter(({ comment }) => comment === '').map(({ path }) => `${path} has no comment`),
  ];
}
