/** A worker of `serve --workers N`: gets the settings from the primary process, listens, and closes when it is told to. */
import process from 'node:process';
import { letBodiesDieYoung } from './heap.ts';
import { listen } from './listen.ts';
import { askPrimary, type SessionAnswer, type SessionQuestion } from './protocols/sessions/worker-link.ts';
import type { ServerSettings } from './settings.ts';

/** What the primary process sends, once the worker hears. */
export type ToWorker = { listen: ServerSettings } | SessionAnswer | 'close';
/** What a worker says: that it hears, and then that it listens, or cannot. */
export type FromWorker = 'hearing' | { port: number } | { error: string; code?: string | undefined } | SessionQuestion;

function tell(message: FromWorker): void {
  process.send?.(message);
}

async function run(settings: ServerSettings): Promise<void> {
  letBodiesDieYoung();
  const log = (entry: string): void => void process.stderr.write(`worker ${process.pid}: ${entry}\n`);
  const server = await listen(settings, log, {
    shared: askPrimary(process, 'shared', tell),
    ors: askPrimary(process, 'ors', tell),
    nemo: askPrimary(process, 'nemo', tell),
  });
  const close = (): void => void server.close().then(() => process.exit(0));
  process.on('message', (message: ToWorker) => {
    if (message === 'close') close();
  });
  process.once('disconnect', close);
  tell({ port: server.port });
}

// Signals reach the whole group of processes; the primary decides what they mean.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);

process.once('message', (message: ToWorker) => {
  if (message === 'close' || !('listen' in message)) return;
  run(message.listen).catch((error: unknown) => {
    const { message, code } = error as NodeJS.ErrnoException;
    tell({ error: message, code });
  });
});

// Messages from before this line would have been lost, so the primary waits for it.
tell('hearing');
