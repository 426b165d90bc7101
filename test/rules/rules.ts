/**
 * The rules that hold the layout together, as functions from a source to the list of its faults.
 *
 *  schemas <- server, clients, trainer. The clients and the trainer know nothing of the server, so that any of them can be
 *  replaced by an outside one. `clients/store` serves both sides. `clients/cli` puts everything together.
 *  The cores of the server (canvas, reward, tasks, render) are pure: same input, same answer, on any machine.
 */
import { posix } from 'node:path';
import { builtinModules } from 'node:module';
import { memberNames, moduleReferences, valueNames } from './references.ts';

/** What each part may import of ours, besides itself. The longest prefix decides; a path may be a folder or a file. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  schemas: [],
  'server/canvas': ['schemas'],
  'server/reward': ['schemas', 'server/canvas'],
  'server/tasks': ['schemas', 'server/canvas', 'server/reward'],
  'server/render': ['schemas', 'server/canvas', 'server/reward'],
  server: ['schemas', 'clients/store'],
  'clients/ts': ['schemas'],
  'clients/store': ['schemas'],
  'clients/cli': ['schemas', 'server', 'clients', 'trainer'],
  trainer: ['schemas', 'clients/ts', 'clients/store'],
};

const PURE = ['server/canvas', 'server/reward', 'server/tasks', 'server/render'];

/** Files of the pure cores that need more than pure code (a font from disk, a time limit, compression), and what. */
const LOADERS: Readonly<Record<string, readonly string[]>> = {
  'server/render/png.ts': ['node:module', 'setTimeout'],
  'server/render/png-encode.ts': ['node:util', 'node:zlib'],
};

const IMPURE_NAMES = new Set([
  ...['Date', 'Math.random', 'performance', 'console', 'process', 'fetch', 'globalThis', 'crypto'],
  ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'require'],
  ...['Intl.Collator', 'Intl.DateTimeFormat', 'Intl.NumberFormat'],
]);
/** Answers of these depend on the locale of the machine. */
const IMPURE_MEMBERS = new Set(['localeCompare', 'toLocaleString', 'toLocaleLowerCase', 'toLocaleUpperCase']);

const isIn = (path: string, part: string): boolean => path === part || path.startsWith(`${part}/`);

function partOf(path: string): string | undefined {
  return Object.keys(MAY_IMPORT)
    .filter((part) => isIn(path, part))
    .sort((a, b) => b.length - a.length)[0];
}

/** The path below the root that a relative import of `path` means; undefined for a package. */
export const importedPath = (path: string, specifier: string): string | undefined =>
  specifier.startsWith('.') ? posix.normalize(posix.join(posix.dirname(path), specifier)) : undefined;

/** Imports of `path` that go against the directions above. */
export function directionFaults(path: string, source: string): string[] {
  const part = partOf(path);
  if (part === undefined) return [`${path}: no import rule covers this folder`];
  const allowed = [part, ...(MAY_IMPORT[part] ?? []), 'package.json'];
  return moduleReferences(source).flatMap(({ specifier }) => {
    const target = importedPath(path, specifier);
    if (target === undefined || allowed.some((folder) => isIn(target, folder))) return [];
    return [`${path}: ${part} must not import ${target}`];
  });
}

const isBuiltin = (specifier: string): boolean => specifier.startsWith('node:') || builtinModules.includes(specifier);

/** Packages that only the sources need, where a checkout has them, and who loads them. */
const SOURCE_ONLY: Readonly<Record<string, readonly string[]>> = { 'schemas/loader.ts': ['tsx'] };

/** Packages that `path` imports although package.json does not list them as dependencies, so that an installed copy lacks them. */
export function packageFaults(path: string, source: string, dependencies: readonly string[]): string[] {
  return moduleReferences(source).flatMap(({ specifier, typeOnly }) => {
    if (specifier.startsWith('.') || isBuiltin(specifier) || typeOnly) return [];
    const name = /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
    return dependencies.includes(name) || SOURCE_ONLY[path]?.includes(name) === true
      ? []
      : [`${path}: ${name} is not in the dependencies of package.json`];
  });
}

/** Input, output, clocks, chance and locale in a pure core. */
export function purityFaults(path: string, source: string): string[] {
  if (!PURE.some((part) => isIn(path, part))) return [];
  const granted = new Set(LOADERS[path] ?? []);
  const modules = moduleReferences(source).flatMap(({ specifier }) => (isBuiltin(specifier) ? [specifier] : []));
  const names = valueNames(source).filter((name) => IMPURE_NAMES.has(name));
  const members = memberNames(source).filter((name) => IMPURE_MEMBERS.has(name));
  const used = [...new Set([...modules, ...names, ...members])];
  return used.filter((name) => !granted.has(name)).map((name) => `${path}: a pure core must not use ${name}`);
}

/** One cycle of imports that are there at run time, as the list of its files; undefined where there is none. */
export function importCycle(sources: ReadonlyMap<string, string>): string[] | undefined {
  const done = new Set<string>();
  const walk = (path: string, trail: readonly string[]): string[] | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (done.has(path)) return undefined;
    for (const { specifier, typeOnly } of moduleReferences(sources.get(path) ?? '')) {
      const target = typeOnly ? undefined : importedPath(path, specifier);
      const cycle = target !== undefined && sources.has(target) ? walk(target, [...trail, path]) : undefined;
      if (cycle !== undefined) return cycle;
    }
    done.add(path);
    return undefined;
  };
  for (const path of sources.keys()) {
    const cycle = walk(path, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

/** Where running the package begins: its command, what it exports, what other processes are started with. */
export const ENTRIES = [
  ...['clients/cli/main.ts', 'clients/ts/index.ts', 'clients/store/index.ts', 'server/app.ts', 'server/worker.ts'],
  ...['server/score-thread.ts', 'trainer/pool/thread.ts', 'trainer/native/setup.ts'],
  // What the tests hold the task suite and the rewards against: a solver, and known bad outputs.
  ...['server/tasks/solver.ts', 'server/tasks/adversarial.ts'],
];

/** Files that no entry leads to, so that only tests, or nothing, use them. */
export function unreached(sources: ReadonlyMap<string, string>, entries: readonly string[]): string[] {
  const seen = new Set<string>();
  const open = [...entries];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    for (const { specifier } of moduleReferences(sources.get(path) ?? '')) {
      const target = importedPath(path, specifier);
      if (target !== undefined) open.push(target);
    }
  }
  return [...sources.keys()].filter((path) => !seen.has(path));
}
