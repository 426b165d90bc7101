/**
 * What comes in together is worked on together: items that were added during a turn of the event loop are handled at its end,
 * in order. Code and data of each phase then stay in the processor's caches.
 */
export function createBatch<T>(handle: (items: readonly T[]) => void): (item: T) => void {
  let waiting: T[] = [];
  const handleAll = (): void => {
    const items = waiting;
    waiting = [];
    handle(items);
  };
  return (item) => {
    if (waiting.push(item) === 1) setImmediate(handleAll);
  };
}
