/** `canvas-gym serve`: the environment's server, until it is told to stop. */
import { once } from 'node:events';
import { ABOUT } from '../../server/about.ts';
import { letBodiesDieYoung } from '../../server/heap.ts';
import { startServer } from '../../server/main.ts';
import { ServerSettings } from '../../server/settings.ts';
import { defineCommand } from '../../schemas/settings.ts';

function toSize(bytes: number): string {
  return bytes >= 2 ** 20 ? `${Math.round(bytes / 2 ** 20)} MiB` : `${Math.round(bytes / 2 ** 10)} KiB`;
}

function toBanner(url: string, settings: ServerSettings): string[] {
  const { max_body, max_batch_body, max_connections, request_timeout, workers, secret } = settings;
  const sizes = `bodies ${toSize(max_body)} (batches ${toSize(max_batch_body)}) in ${request_timeout} s`;
  return [
    `${ABOUT.name} ${ABOUT.version} listens at ${url}`,
    `docs    ${url}/docs`,
    `limits  ${sizes}, ${max_connections} connections, ${workers} ${workers === 1 ? 'process' : 'processes'}`,
    `states  ${secret === undefined ? 'not signed: clients are trusted (--secret signs them)' : 'signed'}`,
  ];
}

/** Resolves when the process is told to stop: by a signal, or by the end of the process that started it. */
async function untilStopped(signal: AbortSignal): Promise<void> {
  const signs = [once(signal, 'abort')];
  if (process.connected) signs.push(once(process, 'disconnect'));
  await Promise.race(signs);
}

export const command = defineCommand({
  name: 'serve',
  summary: 'serve the environment over HTTP',
  settings: ServerSettings,
  async run(settings, { out, signal }) {
    letBodiesDieYoung();
    const server = await startServer(settings);
    toBanner(server.url, settings).forEach(out);
    if (!signal.aborted) await untilStopped(signal);
    await server.close();
  },
});
