/**
 * How processes and threads of ours are started, from the sources as well as from the compiled files. Server and trainer
 * both start some, and this folder is what they share.
 */
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';

const IS_SOURCE = import.meta.url.endsWith('.ts');
/** Node 22.18 and later read the sources by themselves; before, tsx has to. */
const NEEDS_LOADER = IS_SOURCE && !('typescript' in process.features && process.features.typescript !== false);

/** Path of the module `name` in the folder of the module at `base`, its `import.meta.url`. */
function pathOf(base: string, name: string): string {
  return fileURLToPath(new URL(`./${name}${IS_SOURCE ? '.ts' : '.js'}`, base));
}

/** Path and Node's arguments for a process that runs the module `name` beside the module at `base`. */
export function toProcess(base: string, name: string): { path: string; execArgv: string[] } {
  const hasLoader = process.execArgv.some((argument) => argument.includes('tsx'));
  const loader = NEEDS_LOADER && !hasLoader ? ['--import', 'tsx'] : [];
  return { path: pathOf(base, name), execArgv: [...process.execArgv, ...loader] };
}

/** A thread that runs the module `name` beside the module at `base`. `--import tsx` does not reach threads, so there it is called. */
export function startThread(base: string, name: string, options: WorkerOptions): Worker {
  const path = pathOf(base, name);
  if (!NEEDS_LOADER) return new Worker(path, options);
  const [tsx, url] = [JSON.stringify(import.meta.resolve('tsx/esm/api')), JSON.stringify(pathToFileURL(path).href)];
  return new Worker(`import(${tsx}).then(({ register }) => { register(); return import(${url}); })`, {
    ...options,
    eval: true,
  });
}
