/** Several processes behind one port: node:cluster gives each connection to one of them in turn. */
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { toSessionLimits, toUrl, type RunningServer } from './listen.ts';
import { toProcess } from '../schemas/loader.ts';
import { createNemoKeeper } from './protocols/nemo-gym/session.ts';
import { createOrsKeeper } from './protocols/ors/sessions.ts';
import { serveSessions } from './protocols/sessions/worker-link.ts';
import { createSharedKeeper, releaseSockets } from './protocols/sessions/shared.ts';
import type { ServerSettings } from './settings.ts';
import type { FromWorker, ToWorker } from './worker.ts';

function setUpWorkers(): void {
  const { path, execArgv } = toProcess(import.meta.url, 'worker');
  cluster.setupPrimary({ exec: path, args: [], execArgv });
}

/** Hands a new worker its settings and waits until it listens. */
function start(worker: Worker, settings: ServerSettings): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.once('exit', () => {
      reject(new Error('a worker ended before it listened'));
    });
    worker.on('message', (message: FromWorker) => {
      if (message === 'hearing') worker.send({ listen: settings } satisfies ToWorker);
      else if ('port' in message) resolve();
      else if ('error' in message) reject(Object.assign(new Error(message.error), { code: message.code }));
    });
  });
}

function end(worker: Worker, deadlineMs: number): Promise<void> {
  if (worker.isDead()) return Promise.resolve();
  return new Promise((resolve) => {
    const deadline = setTimeout(() => worker.process.kill('SIGKILL'), deadlineMs);
    worker.once('exit', () => {
      clearTimeout(deadline);
      resolve();
    });
    if (worker.isConnected()) worker.send('close' satisfies ToWorker);
  });
}

/** Time until a replacement that failed is tried again: doubled each time, up to the second. */
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5000;

/** Extra time over the workers' own deadline before they are killed. */
const GRACE_MS = 1000;

/** A port that is free now. Workers cannot each take port 0: whoever is started later has to get the same one. */
async function findFreePort(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * Starts `settings.workers` processes on one port and resolves once all take requests. A worker that dies later is
 * replaced, and said so.
 * @throws when a worker cannot listen.
 */
export async function startCluster(settings: ServerSettings, log: (entry: string) => void): Promise<RunningServer> {
  setUpWorkers();
  const port = settings.port === 0 ? await findFreePort(settings.host) : settings.port;
  const workers = new Set<Worker>();
  const limits = toSessionLimits(settings);
  const now = (): number => performance.now();
  const [shared, ors] = [createSharedKeeper(limits, now), createOrsKeeper(limits, now)];
  const nemo = createNemoKeeper(limits, now);
  let isClosing = false;
  const add = async (): Promise<void> => {
    const worker = cluster.fork();
    workers.add(worker);
    worker.on('error', (error) => {
      log(String(error)); // a message to a worker that is gone; its exit says the rest
    });
    worker.once('exit', () => workers.delete(worker));
    // Comes after the last of its messages, which `exit` may not.
    worker.once('disconnect', () => {
      releaseSockets(shared, worker.process.pid);
    });
    serveSessions(worker, 'shared', shared);
    serveSessions(worker, 'ors', ors);
    serveSessions(worker, 'nemo', nemo);
    await start(worker, { ...settings, port });
    worker.once('exit', (code: number | null, signal: string | null) => {
      if (isClosing) return;
      log(`worker ${String(worker.process.pid)} ended (${signal ?? String(code)}); starting another`);
      replace();
    });
  };
  const waits = new Set<NodeJS.Timeout>();
  /** Starts a worker, and where that fails another, later each time, until one listens or the cluster closes. */
  const replace = (delayMs = FIRST_RETRY_MS): void => {
    add().catch((error: unknown) => {
      if (isClosing) return;
      log(`${String(error)}; trying again in ${delayMs} ms`);
      const wait = setTimeout(() => {
        waits.delete(wait);
        replace(Math.min(2 * delayMs, LAST_RETRY_MS));
      }, delayMs);
      waits.add(wait);
    });
  };
  const close = async (): Promise<void> => {
    isClosing = true;
    for (const wait of waits) clearTimeout(wait);
    await Promise.all([...workers].map((worker) => end(worker, settings.shutdown_timeout * 1000 + GRACE_MS)));
  };
  try {
    await Promise.all(Array.from({ length: settings.workers }, add));
    return { url: toUrl(settings.host, port), port, close };
  } catch (error) {
    await close();
    throw error;
  }
}
