/**
 * The suites of `npm run test:interop`: a folder each, with `requirements.in` (what is tested, pinned), `requirements.txt`
 * (the lock: everything that it brings) and `test_*.py`; where one wants packages without what they require, also
 * `requirements-no-deps.txt`.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../rules/files.ts';

export const SUITES_FOLDER = 'test/interop';

export interface Suite {
  name: string;
  /** Relative to the root. */
  folder: string;
  /** What is tested, as `name==version`. */
  packages: readonly string[];
  /** Least version of Python, from a line `# python >= 3.12` in requirements.in. */
  python: readonly [major: number, minor: number];
  /** Needs torch, some gigabytes, and is left out unless CANVAS_GYM_TORCH is 1. */
  isTorch: boolean;
}

/** What the locks are made with and for; older ones lack packages that they name. */
export const LEAST_PYTHON = [3, 11] as const;

const linesOf = (path: string): string[] =>
  readFileSync(join(ROOT, path), 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

const packagesOf = (path: string): string[] =>
  linesOf(path)
    .filter((line) => !line.startsWith('#'))
    .map((line) => line.replace(/\s+#.*$/, ''));

/** The least Python that a suite's requirements.in asks for. */
export function pythonOf(folder: string): Suite['python'] {
  const wanted = /^# python >= (\d+)\.(\d+)$/m.exec(readFileSync(join(ROOT, folder, 'requirements.in'), 'utf8'));
  return wanted ? [Number(wanted[1]), Number(wanted[2])] : LEAST_PYTHON;
}

function readSuite(name: string): Suite {
  const folder = `${SUITES_FOLDER}/${name}`;
  for (const file of ['requirements.in', 'requirements.txt'])
    if (!existsSync(join(ROOT, folder, file)))
      throw new Error(`${folder}/${file} is missing; npm run test:interop -- --lock ${name} makes requirements.txt`);
  const alone = `${folder}/requirements-no-deps.txt`;
  const packages = [`${folder}/requirements.in`, ...(existsSync(join(ROOT, alone)) ? [alone] : [])].flatMap(packagesOf);
  const loose = [...packages, ...packagesOf(`${folder}/requirements.txt`)].find(
    (line) => !/^[\w.[\],-]+==\S+/.test(line),
  );
  if (loose !== undefined) throw new Error(`${folder}: ${loose} is not pinned; write NAME==VERSION`);
  return {
    name,
    folder,
    packages,
    python: pythonOf(folder),
    isTorch: [...packages, ...packagesOf(`${folder}/requirements.txt`)].some((line) => line.startsWith('torch==')),
  };
}

export function suiteNames(): string[] {
  return readdirSync(join(ROOT, SUITES_FOLDER), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(ROOT, SUITES_FOLDER, entry.name, 'requirements.in')))
    .map(({ name }) => name)
    .sort();
}

/** The suites of these names, all of them for no name. */
export function readSuites(names: readonly string[]): Suite[] {
  const known = suiteNames();
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`no suite ${unknown}; there are ${known.join(', ')}`);
  return (names.length > 0 ? names : known).map(readSuite);
}
