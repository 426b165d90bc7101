/** How processes and threads of ours are started, from the sources as well as from the compiled files. */
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';

const IS_SOURCE = import.meta.url.endsWith('.ts');
/** Node 22.18 and later read the sources by themselves; before, tsx has to. */
const NEEDS_LOADER = IS_SOURCE && !('typescript' in process.features && process.features.typescript !== false);

function pathOf(name: string): string {
  return fileURLToPath(new URL(`./${name}${IS_SOURCE ? '.ts' : '.js'}`, import.meta.url));
}

/** Path and Node's arguments for a process that runs the module `name` of this folder. */
export function toProcess(name: string): { path: string; execArgv: string[] } {
  const hasLoader = process.execArgv.some((argument) => argument.includes('tsx'));
  const loader = NEEDS_LOADER && !hasLoader ? ['--import', 'tsx'] : [];
  return { path: pathOf(name), execArgv: [...process.execArgv, ...loader] };
}

/** A thread that runs the module `name` of this folder. `--import tsx` does not reach threads, so there it is called. */
export function startThread(name: string, options: WorkerOptions): Worker {
  const path = pathOf(name);
  if (!NEEDS_LOADER) return new Worker(path, options);
  const [tsx, url] = [JSON.stringify(import.meta.resolve('tsx/esm/api')), JSON.stringify(pathToFileURL(path).href)];
  return new Worker(`import(${tsx}).then(({ register }) => { register(); return import(${url}); })`, {
    ...options,
    eval: true,
  });
}
