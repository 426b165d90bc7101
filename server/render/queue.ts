/** Bounds how much runs at a time: so many jobs at once, so many waiting in order, and the rest is turned away. */

export interface Queue {
  /**
   * Runs a job when its turn comes. The place is taken until the job's promise settles, whoever still waits for it.
   * @returns undefined where the queue is full. A job whose signal aborted before its turn is never started.
   */
  run<T>(job: () => Promise<T>, signal: AbortSignal): Promise<T> | undefined;
}

export function createQueue(limits: { readonly running: number; readonly waiting: number }): Queue {
  const waiting: (() => void)[] = [];
  let running = 0;
  const next = (): void => {
    while (running < limits.running && waiting.length > 0) waiting.shift()!();
  };
  return {
    run<T>(job: () => Promise<T>, signal: AbortSignal) {
      if (running >= limits.running && waiting.length >= limits.waiting) return undefined;
      return new Promise<T>((resolve, reject) => {
        const start = (): void => {
          running++;
          const done = job().finally(() => {
            running--;
            next();
          });
          done.then(resolve, reject);
        };
        const giveUp = (): void => {
          const at = waiting.indexOf(start);
          if (at >= 0) waiting.splice(at, 1);
          reject(new Error('given up before its turn'));
        };
        signal.addEventListener('abort', giveUp, { once: true });
        waiting.push(start);
        next();
      });
    },
  };
}
