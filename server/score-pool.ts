/**
 * Threads that score large batches, so that one process uses all cores, and a batch of thousands does not keep others
 * waiting for a step. A thread takes the body as bytes and gives the reply as bytes: parsing, checks, scoring and writing all
 * happen there. Threads start with the first large batch; until one is ready, batches are scored where they came in.
 */
import type { Worker } from 'node:worker_threads';
import type { RouteId } from '../schemas/routes.ts';
import type { BodyLimits, Reply } from './dispatch.ts';
import { startThread } from '../schemas/loader.ts';
import type { Metrics } from './metrics.ts';

/** Preset and number of completions scored. */
export type CompletionCounts = [preset: string, count: number][];
/** A request as a thread needs it: of a route that is `in_thread`. */
export interface BatchRequest {
  route: RouteId;
  query: Readonly<Record<string, string>>;
  body: Uint8Array;
}
export interface ToThread {
  id: number;
  request: BatchRequest;
}
export type FromThread = 'ready' | { log: string } | { id: number; reply: Reply; completions: CompletionCounts };

export interface ScorePool {
  /**
   * Answers a request in a thread; undefined when that is no gain, or no thread is ready.
   * Rejects when the thread ends before it has answered.
   */
  score(request: BatchRequest): Promise<Reply> | undefined;
  close(): Promise<void>;
}

export interface ScorePoolOptions {
  /** Most threads; 0 for none. */
  threads: number;
  body_limits: BodyLimits;
  metrics: Metrics;
  /** Where faults are told. */
  log: (entry: string) => void;
}

/** Smallest body that goes to a thread, bytes: scoring less takes about as long as handing it over. */
const LEAST_BYTES = 8192;

/** Room for new objects in a thread, MiB. Everything a batch makes is garbage after it: with less, it is collected too often. */
const YOUNG_MB = 64;

interface Thread {
  worker: Worker;
  isReady: boolean;
  waiting: Map<number, { resolve: (reply: Reply) => void; reject: (error: Error) => void }>;
}

function fail({ waiting }: Thread, fault: string): void {
  for (const { reject } of waiting.values()) reject(new Error(`the thread that scored this batch ended: ${fault}`));
  waiting.clear();
}

export function createScorePool(options: ScorePoolOptions): ScorePool {
  const { threads: most, body_limits, metrics, log } = options;
  const threads = new Set<Thread>();
  let lastId = 0;
  let isClosing = false;
  let canStart = most > 0;

  const hear = (thread: Thread, message: FromThread): void => {
    if (message === 'ready') thread.isReady = true;
    else if ('log' in message) log(message.log);
    else {
      for (const [preset, count] of message.completions) metrics.countCompletions(preset, count);
      thread.waiting.get(message.id)?.resolve(message.reply);
      thread.waiting.delete(message.id);
    }
  };
  /** A thread that is gone: its batches fail, and where it never was ready, no other is tried. */
  const end = (thread: Thread, fault: string): void => {
    if (threads.delete(thread) && !isClosing) {
      log(`a thread of the score pool ended: ${fault}`);
      if (!thread.isReady) canStart = false;
    }
    fail(thread, fault);
  };
  const start = (): void => {
    const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_MB };
    const worker = startThread(import.meta.url, 'score-thread', { resourceLimits, workerData: body_limits });
    const thread: Thread = { worker, isReady: false, waiting: new Map() };
    threads.add(thread);
    worker.on('message', (message: FromThread) => {
      hear(thread, message);
    });
    worker.on('error', (error) => {
      end(thread, String(error));
    });
    worker.on('exit', () => {
      end(thread, 'it exited');
    });
  };
  const leastBusy = (): Thread | undefined => {
    let least: Thread | undefined;
    for (const thread of threads) {
      if (thread.isReady && (least === undefined || thread.waiting.size < least.waiting.size)) least = thread;
    }
    return least;
  };

  return {
    score(request) {
      if (request.body.length < LEAST_BYTES || isClosing) return undefined;
      const thread = leastBusy();
      if (canStart && threads.size < most && thread?.waiting.size !== 0) start();
      if (!thread) return undefined;
      const id = ++lastId;
      return new Promise<Reply>((resolve, reject) => {
        thread.waiting.set(id, { resolve, reject });
        thread.worker.postMessage({ id, request } satisfies ToThread);
      });
    },
    async close() {
      isClosing = true;
      await Promise.all([...threads].map(({ worker }) => worker.terminate()));
    },
  };
}
