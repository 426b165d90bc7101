/** Starts the server: in this process, or, with several workers, in processes that share the port. */
import { listen, type RunningServer } from './listen.ts';
import { ServerSettings } from './settings.ts';

const toStderr = (entry: string): void => {
  process.stderr.write(`${entry}\n`);
};

/**
 * Starts a server in this process and resolves once it takes requests.
 * @param settings What is left out has its default; port 0 takes a free one.
 * @throws the socket's error, e.g. EADDRINUSE.
 */
export function startServer(settings: Partial<ServerSettings> = {}): Promise<RunningServer> {
  return listen(ServerSettings.parse(settings), toStderr);
}
