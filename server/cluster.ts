/** Several processes behind one port: node:cluster gives each connection to one of them in turn. */
import cluster, { type Worker } from 'node:cluster';
import { fileURLToPath } from 'node:url';
import { toUrl, type RunningServer } from './listen.ts';
import type { ServerSettings } from './settings.ts';
import type { FromWorker, ToWorker } from './worker.ts';

/** The sources need a loader on a Node that does not strip types; the compiled files do not. */
function setUpWorkers(): void {
  const isSource = import.meta.url.endsWith('.ts');
  const exec = fileURLToPath(new URL(isSource ? './worker.ts' : './worker.js', import.meta.url));
  const hasLoader = process.execArgv.some((argument) => argument.includes('tsx'));
  const loader = isSource && !hasLoader ? ['--import', 'tsx'] : [];
  cluster.setupPrimary({ exec, args: [], execArgv: [...process.execArgv, ...loader] });
}

/** Waits for the one answer of a new worker: its port. */
function start(worker: Worker, settings: ServerSettings): Promise<number> {
  return new Promise((resolve, reject) => {
    worker.once('exit', () => {
      reject(new Error('a worker ended before it listened'));
    });
    worker.once('message', (message: FromWorker) => {
      if ('port' in message) resolve(message.port);
      else reject(Object.assign(new Error(message.error), { code: message.code }));
    });
    worker.send({ listen: settings } satisfies ToWorker);
  });
}

function end(worker: Worker, deadlineMs: number): Promise<void> {
  return new Promise((resolve) => {
    const deadline = setTimeout(() => worker.process.kill('SIGKILL'), deadlineMs);
    worker.once('exit', () => {
      clearTimeout(deadline);
      resolve();
    });
    if (worker.isConnected()) worker.send('close' satisfies ToWorker);
  });
}

/** Extra time over the workers' own deadline before they are killed. */
const GRACE_MS = 1000;

/**
 * Starts `settings.workers` processes on one port and resolves once all take requests. A worker that dies later is
 * replaced, and said so.
 * @throws when a worker cannot listen.
 */
export async function startCluster(settings: ServerSettings, log: (entry: string) => void): Promise<RunningServer> {
  setUpWorkers();
  const workers = new Set<Worker>();
  let isClosing = false;
  const add = async (port: number): Promise<number> => {
    const worker = cluster.fork();
    workers.add(worker);
    worker.once('exit', () => workers.delete(worker));
    const listening = await start(worker, { ...settings, port });
    worker.once('exit', (code: number | null, signal: string | null) => {
      if (isClosing) return;
      log(`worker ${String(worker.process.pid)} ended (${signal ?? String(code)}); starting another`);
      add(port).catch((error: unknown) => {
        log(String(error));
      });
    });
    return listening;
  };
  const close = async (): Promise<void> => {
    isClosing = true;
    await Promise.all([...workers].map((worker) => end(worker, settings.shutdown_timeout * 1000 + GRACE_MS)));
  };
  try {
    const port = await add(settings.port);
    for (let i = 1; i < settings.workers; i++) await add(port);
    return { url: toUrl(settings.host, port), port, close };
  } catch (error) {
    await close();
    throw error;
  }
}
