// Run before every npm script, so that each of them works on a fresh clone:
//  1. says so and stops where Node is too old;
//  2. runs `npm ci` where node_modules is missing, unfinished, or belongs to another package-lock.json;
//  3. runs `npm rebuild` where it was installed by this script under a Node whose native modules this one cannot load.
// Plain Node without dependencies; prints nothing when there is nothing to do (a few milliseconds).
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The JSON of a file below the root; undefined where it is missing or cut short. */
function readJson(path) {
  try {
    return JSON.parse(readFileSync(root + path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Whether version `have` ("20.19.0") is at least `need`. */
function atLeast(have, need) {
  const [a, b] = [have, need].map((version) => version.split('.').map(Number));
  for (let i = 0; i < 3; i++) if (a[i] !== b[i]) return a[i] > b[i];
  return true;
}

/** npm writes its hidden lock file last, so one that lacks a package tells of an interrupted or an older install. */
function isInstalled() {
  const wanted = readJson('package-lock.json')?.packages ?? {};
  const installed = readJson('node_modules/.package-lock.json')?.packages;
  if (installed === undefined) return false;
  return Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      path === '' || (optional && !installed[path]) || installed[path]?.version === version,
  );
}

function npm(...args) {
  // pnpm and yarn set npm_execpath to themselves, so only npm's own path is used; without it npm is looked up on the PATH.
  const path = process.env.npm_execpath;
  const options = { cwd: root, stdio: ['ignore', 2, 2] };
  const { status, error } = /npm-cli\.c?js$/.test(path ?? '')
    ? spawnSync(process.execPath, [path, ...args], options)
    : spawnSync('npm', args, { ...options, shell: process.platform === 'win32' });
  if (status === 0) return;
  const reason = error ? `: ${error.message}` : '';
  console.error(`npm ${args[0]} failed${reason}. The lines above say why; the next run starts it again.`);
  process.exit(1);
}

// Which Node the native modules were compiled for.
const marker = `${root}node_modules/.node-abi`;
const abi = process.versions.modules;
const readMarker = () => {
  try {
    return readFileSync(marker, 'utf8');
  } catch {
    return abi; // installed by hand: nothing is known
  }
};

const needed = readJson('package.json').engines.node.replace(/^\D+/, '');
if (!atLeast(process.versions.node, needed)) {
  console.error(`canvas-gym needs Node ${needed} or later, and this is Node ${process.versions.node}.`);
  console.error('Install a newer one (for example with nvm: nvm install 22) and run the command again.');
  process.exit(1);
}
if (!isInstalled()) {
  console.error('Installing the dependencies with npm ci (a minute or two) ...');
  npm('ci', '--include=dev'); // whatever NODE_ENV says: the scripts run the TypeScript sources
  writeFileSync(marker, abi);
} else if (readMarker() !== abi) {
  console.error(`Compiling the native modules for Node ${process.versions.node} ...`);
  npm('rebuild');
  writeFileSync(marker, abi);
}
