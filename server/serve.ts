/** `canvas-gym serve`: starts the server, says where it is and what its limits are, and ends it in order. */
import { defineCommand } from '../schemas/settings.ts';
import { ABOUT } from './about.ts';
import { startServer } from './main.ts';
import { ServerSettings } from './settings.ts';

const MIB = 2 ** 20;

function toSize(bytes: number): string {
  return bytes >= MIB ? `${Math.round((bytes / MIB) * 10) / 10} MiB` : `${Math.round(bytes / 1024)} KiB`;
}

/** The first lines of a server: address, docs page, limits, whether states are signed. */
export function describeServer(url: string, settings: ServerSettings): string[] {
  const { max_body, max_batch_body, max_connections, request_timeout, workers, secret } = settings;
  const limits = `${toSize(max_body)} a body (${toSize(max_batch_body)} on /score), ${request_timeout} s a request, ${max_connections} connections`;
  return [
    `${ABOUT.name} ${ABOUT.version} at ${url}${workers > 1 ? `, ${workers} workers` : ''}`,
    `docs    ${url}/docs`,
    `limits  ${limits}`,
    secret === undefined
      ? 'states  not signed: a caller can change them (sign them with --secret or CANVAS_GYM_SECRET)'
      : 'states  signed: a changed one is refused',
  ];
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else
      signal.addEventListener(
        'abort',
        () => {
          resolve();
        },
        { once: true },
      );
  });
}

export const serve = defineCommand({
  name: 'serve',
  summary: 'the environment over HTTP',
  settings: ServerSettings,
  async run(settings, context) {
    const server = await startServer(settings);
    for (const line of describeServer(server.url, settings)) context.out(line);
    await untilAborted(context.signal);
    context.out('closing: running requests may end');
    await server.close();
  },
});
