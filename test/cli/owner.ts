/** A process that starts a server of its own, says where it is, and does nothing more: to be killed by a test. */
import { fileURLToPath } from 'node:url';
import { startServerProcess } from '../../clients/cli/server-process.ts';

process.argv[1] = fileURLToPath(new URL('../../clients/cli/main.ts', import.meta.url));
const { url } = await startServerProcess(() => undefined);
process.stdout.write(`${url}\n`);
setInterval(() => undefined, 1000);
