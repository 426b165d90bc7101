/**
 * A virtual environment for each suite, under .cache/interop: made from the suite's lock, and made again where the lock or
 * Python's version has changed; then this project's own package, which is installed again where its files have changed.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../rules/files.ts';
import type { Suite } from './suites.ts';

const run = promisify(execFile);
const CACHE = join(ROOT, '.cache/interop');
const PACKAGE = join(ROOT, 'clients/python');
const INSTALL_MS = 15 * 60_000;
const PIP = ['-m', 'pip', '--disable-pip-version-check', '--no-input', '--quiet'];
/** Installs a suite in seconds where pip takes more than a minute, since suites share most packages, which it links. */
const UV = 'uv==0.13.9';

/** The Python that makes the environments. */
const PYTHON = process.env['CANVAS_GYM_PYTHON'] ?? 'python3';

/** What an environment is made from: the folder's requirements.txt, and requirements-no-deps.txt where there is one. */
type Locked = Pick<Suite, 'name' | 'folder'>;

interface Failed {
  stdout?: string;
  stderr?: string;
  message: string;
}

/** Runs a program; what it printed last is the error's message. */
async function program(executable: string, args: readonly string[], cwd = ROOT): Promise<string> {
  try {
    const { stdout } = await run(executable, args, { cwd, timeout: INSTALL_MS, maxBuffer: 2 ** 26 });
    return stdout.trim();
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Failed;
    const said = `${stdout}\n${stderr}`.trim().split('\n').slice(-15).join('\n');
    throw new Error(said === '' ? message : said, { cause: error });
  }
}

/** Version of the Python that makes the environments, e.g. "3.11.7". */
export async function pythonVersion(): Promise<string> {
  const script = 'import platform, venv, ensurepip; print(platform.python_version())';
  try {
    return await program(PYTHON, ['-c', script]);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `${PYTHON} with venv is needed (Debian: apt-get install python3-venv), or CANVAS_GYM_PYTHON=/path/to/python: ${reason}`,
      { cause: error },
    );
  }
}

/** What keeps this Python from running what needs at least `python`; undefined for nothing. */
export function versionFault(python: Suite['python'], version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor, leastMinor] = python;
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return undefined;
  return `needs Python ${leastMajor}.${leastMinor} or later, and ${PYTHON} is ${version}; name another with CANVAS_GYM_PYTHON`;
}

const venvPython = (folder: string): string =>
  join(folder, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');

const hashOf = (...parts: readonly (string | Buffer)[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('hex');
};

const readMarker = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');

/** Builds this project's package; equal sources give an equal file. */
export async function buildWheel(): Promise<string> {
  const folder = join(CACHE, 'wheel');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await program(
    PYTHON,
    ['-B', '-c', 'import build_backend, sys; build_backend.build_wheel(sys.argv[1])', folder],
    PACKAGE,
  );
  return join(folder, readdirSync(folder)[0]!);
}

/** Packages that a suite wants without what they require, where it has such a file. */
const noDepsOf = (suite: Locked): string[] =>
  [join(ROOT, suite.folder, 'requirements-no-deps.txt')].filter((path) => existsSync(path));

/** Path of uv, which is installed once. */
let uvPath: Promise<string> | undefined;

async function installUv(): Promise<string> {
  const folder = join(CACHE, 'uv');
  const path = join(folder, process.platform === 'win32' ? 'Scripts/uv.exe' : 'bin/uv');
  if (existsSync(path)) return path;
  await program(PYTHON, ['-m', 'venv', folder]);
  await program(venvPython(folder), [...PIP, 'install', UV]);
  return path;
}

async function uv(...args: readonly string[]): Promise<string> {
  uvPath ??= installUv();
  return program(await uvPath, ['--quiet', '--no-config', '--cache-dir', join(CACHE, 'uv-cache'), ...args]);
}

async function installLock(suite: Locked, folder: string, version: string): Promise<void> {
  const lock = join(ROOT, suite.folder, 'requirements.txt');
  const marker = join(folder, '.lock-hash');
  const alone = noDepsOf(suite);
  const hash = hashOf(...[lock, ...alone].map((path) => readFileSync(path)), version, UV);
  if (readMarker(marker) === hash) return;
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  await uv('venv', '--seed', '--python', PYTHON, folder);
  // The lock names everything: whatever an installer would add to it is missing there, and `pip check` says so.
  const install = ['pip', 'install', '--python', venvPython(folder), '--no-deps', '-r'];
  await uv(...install, lock);
  await uv('pip', 'check', '--python', venvPython(folder));
  for (const path of alone) await uv(...install, path);
  writeFileSync(marker, hash);
}

async function installWheel(folder: string, wheel: string): Promise<void> {
  const marker = join(folder, '.wheel-hash');
  const hash = hashOf(readFileSync(wheel));
  if (readMarker(marker) === hash) return;
  await uv('pip', 'install', '--python', venvPython(folder), '--no-deps', '--no-index', '--reinstall', wheel);
  writeFileSync(marker, hash);
}

/** Makes an environment ready, for a suite in its own place, and returns its Python. */
export async function prepare(
  suite: Locked,
  wheel: string,
  version: string,
  folder = join(CACHE, suite.name),
): Promise<string> {
  await installLock(suite, folder, version);
  await installWheel(folder, wheel);
  return venvPython(folder);
}

/** Writes a suite's lock anew from its requirements.in: for the least Python that it is to run with, whichever runs this. */
export async function writeLock(folder: string, [major, minor]: Suite['python']): Promise<void> {
  const wanted = join(ROOT, folder, 'requirements.in');
  const flags = ['--no-header', '--no-annotate', '--python', PYTHON, '--python-version', `${major}.${minor}`];
  writeFileSync(join(ROOT, folder, 'requirements.txt'), `${await uv('pip', 'compile', ...flags, wanted)}\n`);
}
