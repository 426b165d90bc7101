/**
 * Starts the environment server: in this process, or, with several workers, in processes that share the port.
 *
 *   const server = await startServer({ port: 0 });
 *   ...
 *   await server.close();
 */
import { startCluster } from './cluster.ts';
import { listen, type RunningServer } from './listen.ts';
import { ServerSettings } from './settings.ts';

const toStderr = (entry: string): void => {
  process.stderr.write(`${entry}\n`);
};

/** What to do about a socket that could not be opened. */
function toStartError(error: unknown, { host, port }: ServerSettings): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const reason: string | undefined = {
    EADDRINUSE: `port ${port} of ${host} is in use; choose another one with --port, or 0 for a free one`,
    EACCES: `port ${port} of ${host} needs more rights; choose one over 1023 with --port`,
    EADDRNOTAVAIL: `${host} is no address of this machine; use 127.0.0.1, or 0.0.0.0 for all of them`,
    ENOTFOUND: `${host} is no address of this machine; use 127.0.0.1, or 0.0.0.0 for all of them`,
  }[String(code)];
  return reason === undefined ? error : new Error(reason, { cause: error });
}

/**
 * Starts a server and resolves once it takes requests.
 * @param settings What is left out has its default; port 0 takes a free one.
 * @throws an Error that says what to change when the socket cannot be opened.
 */
export async function startServer(settings: Partial<ServerSettings> = {}): Promise<RunningServer> {
  const complete = ServerSettings.parse(settings);
  try {
    return await (complete.workers > 1 ? startCluster(complete, toStderr) : listen(complete, toStderr));
  } catch (error) {
    throw toStartError(error, complete);
  }
}
