/** Threads that do the trainer's jobs. One is asked by its number; what it was asked for comes back as a promise. */
import type { Backend } from '../backend.ts';
import { startThread } from '../../schemas/loader.ts';
import type { Answer, FromThread, JobName, Request } from './jobs.ts';

export interface Threads {
  readonly count: number;
  /** @throws what the job threw; Error where the thread ended instead */
  ask<N extends JobName>(thread: number, name: N, request: Request<N>): Promise<Answer<N>>;
  close(): Promise<void>;
}

interface Waiting {
  resolve: (answer: unknown) => void;
  reject: (error: unknown) => void;
}

/** Starts `count` threads with a backend each. @throws Error where one does not come up */
export async function startThreads(count: number, backend: Backend['name']): Promise<Threads> {
  const threads = await Promise.all(Array.from({ length: count }, () => start(backend)));
  return {
    count,
    ask: (thread, name, request) => threads[thread]!.ask(name, request),
    close: async () => {
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}

interface Thread {
  ask<N extends JobName>(name: N, request: Request<N>): Promise<Answer<N>>;
  close(): Promise<void>;
}

/** The id of "ready", which a thread says unasked. */
const READY = 0;

async function start(backend: Backend['name']): Promise<Thread> {
  const worker = startThread(import.meta.url, 'thread', { workerData: backend });
  const waiting = new Map<number, Waiting>();
  let lastId = READY;
  let ended: Error | undefined;
  /** A thread that has nothing to do does not keep the process alive. */
  const answered = (id: number): Waiting | undefined => {
    const job = waiting.get(id);
    waiting.delete(id);
    if (waiting.size === 0) worker.unref();
    return job;
  };
  const expect = (id: number): Promise<unknown> =>
    new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      worker.ref();
    });
  const fail = (error: unknown): void => {
    for (const id of [...waiting.keys()]) answered(id)?.reject(error);
  };
  worker.on('message', (message: FromThread) => {
    if (message === 'ready') answered(READY)?.resolve(undefined);
    else if ('error' in message) answered(message.id)?.reject(message.error);
    else answered(message.id)?.resolve(message.answer);
  });
  worker.on('error', fail);
  worker.on('exit', (code) => {
    ended = new Error(`a thread of the trainer ended, exit code ${code}`);
    fail(ended);
  });
  await expect(READY);
  return {
    ask: <N extends JobName>(name: N, request: Request<N>) => {
      if (ended) return Promise.reject(ended); // nobody would answer
      const answer = expect(++lastId);
      try {
        worker.postMessage({ id: lastId, name, request });
      } catch (error) {
        answered(lastId)?.reject(error); // the request holds what cannot be sent
      }
      return answer as Promise<Answer<N>>;
    },
    close: async () => {
      await worker.terminate();
    },
  };
}
