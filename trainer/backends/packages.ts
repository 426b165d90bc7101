/**
 * Packages that only some backends need, so that `npm install` does not bring them. Each lies in a folder of its own under
 * .cache/native, where `npm run setup:*` puts it and `npm ci` leaves it alone, or where an ordinary `npm install` put it.
 * They must use this project's tfjs-core, whose engine the trainer calls: setup takes their own copies away, so that Node
 * finds ours.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BackendUnavailable } from './start.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The backends that need packages of their own. */
export type NativeName = 'tfjs-node' | 'tfjs-node-gpu' | 'webgpu';

export const PACKAGES: Readonly<Record<NativeName, readonly [string, ...string[]]>> = {
  'tfjs-node': ['@tensorflow/tfjs-node'],
  'tfjs-node-gpu': ['@tensorflow/tfjs-node-gpu'],
  webgpu: ['webgpu', '@tensorflow/tfjs-backend-webgpu'],
};

const SETUP: Readonly<Record<NativeName, string>> = {
  'tfjs-node': 'npm run setup:native',
  'tfjs-node-gpu': 'npm run setup:native:gpu',
  webgpu: 'npm run setup:webgpu',
};

/** Where setup puts a backend's packages. */
export const nativeFolder = (name: NativeName): string => join(ROOT, '.cache/native', name);

/** What to run to have a backend. */
export const howToInstall = (name: NativeName): string => `${SETUP[name]}, or npm install ${PACKAGES[name].join(' ')}`;

/** How Node finds a backend's packages: in setup's folder, else as an ordinary dependency; undefined for neither. */
export function findPackages(name: NativeName): NodeJS.Require | undefined {
  const isSetUp = existsSync(join(nativeFolder(name), 'node_modules', PACKAGES[name][0]));
  const finder = createRequire(isSetUp ? join(nativeFolder(name), 'package.json') : import.meta.url);
  try {
    for (const packageName of PACKAGES[name]) finder.resolve(packageName);
    return finder;
  } catch {
    return undefined;
  }
}

/** @throws BackendUnavailable saying how to install it */
export function requirePackages(name: NativeName, find = findPackages): NodeJS.Require {
  const finder = find(name);
  if (finder) return finder;
  throw new BackendUnavailable(`the backend ${name} is not installed. To install it: ${howToInstall(name)}`);
}

/** Loads what a backend's package is, or says why it does not load. @throws BackendUnavailable */
export async function loadPart<T>(name: NativeName, load: () => T | Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n');
    const message = `the backend ${name} is installed but does not load (${reason ?? ''}). To install it anew: ${howToInstall(name)}`;
    throw new BackendUnavailable(message, { cause: error });
  }
}
