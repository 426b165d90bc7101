/**
 * Makes a native backend ready under .cache/native, where `npm ci` leaves it alone:
 *
 *   npm run setup:native        tfjs-node       TensorFlow on the CPU
 *   npm run setup:native:gpu    tfjs-node-gpu   TensorFlow with CUDA; NVIDIA's libraries too, where a driver is
 *   npm run setup:webgpu        webgpu          Dawn and tfjs's WebGPU backend
 *
 * tfjs-node's own install downloads a libtensorflow of 2022 from a storage service. This one takes libtensorflow out of
 * TensorFlow's wheel on PyPI, by pip and so from whatever mirror pip is set to, and compiles the addon of the npm package
 * against it. Needs Python with pip and a C++ compiler. A second run finds everything done and changes nothing.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createBackend } from '../backend.ts';
import { cudaFolder, findCuda } from '../backends/cuda.ts';
import { nativeFolder, type NativeName } from '../backends/packages.ts';
import * as pins from './pins.ts';
import { assertSpace, assertTools, compileAddon, installPackages, runProgram, unpackWheel } from './tools.ts';

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** What this project has already, and must have once: the engine and its kernels. */
const SHARED = ['tfjs-core', 'tfjs-layers', 'tfjs-backend-cpu'];

/** Installs packages of npm anew. */
function install(name: NativeName, dependencies: Readonly<Record<string, string>>): string {
  const folder = nativeFolder(name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  installPackages(folder, dependencies);
  for (const shared of SHARED)
    rmSync(join(folder, 'node_modules/@tensorflow', shared), { recursive: true, force: true });
  return folder;
}

function setUpTensorflow(name: 'tfjs-node' | 'tfjs-node-gpu'): void {
  const wheel = pins.TENSORFLOW[name];
  assertTools();
  mkdirSync(nativeFolder(name), { recursive: true });
  assertSpace(nativeFolder(name), [wheel], 400);
  say(`installing @tensorflow/${name} ${pins.TFJS_VERSION} of npm`);
  const folder = install(name, {
    [`@tensorflow/${name}`]: pins.TFJS_VERSION,
    'node-api-headers': pins.NODE_API_HEADERS_VERSION,
  });
  const packageFolder = join(folder, 'node_modules/@tensorflow', name);
  say(`fetching ${wheel.name} ${wheel.version} of PyPI (${wheel.megabytes} MB)`);
  unpackTensorflow(wheel, join(packageFolder, 'deps'));
  say('compiling the addon');
  const find = createRequire(join(packageFolder, 'package.json'));
  const gyp = find('@mapbox/node-pre-gyp') as { find: (path: string) => string };
  const { include_dir: headers } = find('node-api-headers') as { include_dir: string };
  const output = gyp.find(join(packageFolder, 'package.json'));
  mkdirSync(dirname(output), { recursive: true });
  compileAddon(packageFolder, headers, output);
}

/** libtensorflow to deps/lib, its C headers to deps/include. */
function unpackTensorflow(wheel: pins.Wheel, deps: string): void {
  mkdirSync(join(deps, 'lib'), { recursive: true });
  const libraries = ['libtensorflow_cc.so.2', 'libtensorflow_framework.so.2'];
  const headers = ['tensorflow/c/*.h', '*ctstring*.h', '*tsl/c/*.h'].map((path) => `tensorflow/include/${path}`);
  unpackWheel(wheel, deps, [...libraries.map((file) => `tensorflow/${file}`), ...headers]);
  for (const file of libraries) renameSync(join(deps, 'tensorflow', file), join(deps, 'lib', file));
  renameSync(join(deps, 'tensorflow/include'), join(deps, 'include'));
  rmSync(join(deps, 'tensorflow'), { recursive: true });
  symlinkSync('libtensorflow_cc.so.2', join(deps, 'lib/libtensorflow.so.2')); // the name that tfjs-node's own tools look for
}

/** NVIDIA's libraries, where a driver is and something is missing; libtensorflow looks for them beside its own folder. */
function setUpCuda(): void {
  const { driver, libraries } = findCuda();
  const missing = libraries.filter(({ isFound }) => !isFound).map(({ file }) => file);
  if (missing.length === 0) return;
  const size = (pins.CUDA.reduce((sum, { megabytes }) => sum + megabytes, 0) / 1000).toFixed(1);
  if (driver === undefined) {
    say(`no NVIDIA driver here: its CUDA libraries (${size} GB) are left out; run this again where one is`);
    return;
  }
  const deps = dirname(cudaFolder());
  assertSpace(deps, pins.CUDA, 0);
  say(`the driver ${driver} is here and ${missing.join(', ')} not: fetching CUDA of PyPI (${size} GB)`);
  for (const wheel of pins.CUDA) unpackWheel(wheel, deps, ['nvidia/*/lib/*.so*']);
}

function setUpWebgpu(): void {
  const { DAWN_VERSION, TFJS_VERSION } = pins;
  say(`installing webgpu ${DAWN_VERSION} and @tensorflow/tfjs-backend-webgpu ${TFJS_VERSION} of npm`);
  install('webgpu', { webgpu: DAWN_VERSION, '@tensorflow/tfjs-backend-webgpu': TFJS_VERSION });
}

/** What a folder was made of; another recipe, or a setup that was cut short, is made anew. */
function recipeOf(name: NativeName): string {
  const { TFJS_VERSION, NODE_API_HEADERS_VERSION, DAWN_VERSION, TENSORFLOW } = pins;
  if (name === 'webgpu') return `${DAWN_VERSION} ${TFJS_VERSION}`;
  return `${TFJS_VERSION} ${NODE_API_HEADERS_VERSION} ${TENSORFLOW[name].sha256}`;
}

/** Sets a backend up unless it is, and starts it. @throws SetupFailed, BackendUnavailable */
async function setUp(name: NativeName): Promise<void> {
  const marker = join(nativeFolder(name), '.recipe');
  const isDone = existsSync(marker) && readFileSync(marker, 'utf8') === recipeOf(name);
  if (isDone) say(`${name} is set up already`);
  else if (name === 'webgpu') setUpWebgpu();
  else setUpTensorflow(name);
  rmSync(marker, { force: true }); // it comes back once the backend starts
  if (name === 'tfjs-node-gpu') setUpCuda();
  const [kilobytes] = runProgram('du', ['-sk', nativeFolder(name)], '.').split('\t');
  say(`${nativeFolder(name)}: ${Math.round(Number(kilobytes) / 1000)} MB`);
  say((await createBackend(name)).device);
  writeFileSync(marker, recipeOf(name));
}

const [name] = process.argv.slice(2);
try {
  if (name !== 'tfjs-node' && name !== 'tfjs-node-gpu' && name !== 'webgpu') throw new Error('usage: setup.ts BACKEND');
  await setUp(name);
  process.exit(0); // Dawn keeps the process up
} catch (error) {
  process.stderr.write(`setup: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
