/** Servers that the suite plays against: a whole one, and one whose scoring fails. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { toApp } from '../../server/app.ts';
import { createDispatcher } from '../../server/dispatch.ts';
import { reset } from '../../server/episode.ts';
import { score } from '../../server/grade.ts';
import { startServer } from '../../server/main.ts';
import { attachSockets } from '../../server/protocols/openenv/sockets.ts';
import { render } from '../../server/render/index.ts';
import type { World } from './driver.ts';

export async function openWorld(): Promise<World> {
  return startServer({ port: 0, secret: 'a secret of this suite', shutdown_timeout: 1 });
}

export const FAULT = 'the scorer fell over, password 1234';

const fail = (): never => {
  throw new Error(FAULT);
};

/** As `score` answers where an item cannot be scored. */
const failingScore: typeof score = async (request, report) => {
  const answer = await score({ ...request, completions: request.completions.map(() => '') }, report);
  report(new Error(FAULT));
  return { ...answer, rewards: answer.rewards.map(() => null) };
};

function listenAnywhere(server: Server): Promise<AddressInfo> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve(server.address() as AddressInfo);
    });
  });
}

/** A server that begins episodes and then cannot score; `log` holds what it was told of. */
export async function openFailingWorld(log: string[]): Promise<World> {
  const environment = { reset, step: fail, reward: fail, score: failingScore, render };
  const dispatcher = createDispatcher({ environment, log: (entry) => log.push(entry) });
  const listener = getRequestListener(toApp(dispatcher).fetch);
  const server = createServer((request, response) => void listener(request, response));
  const limits = { max_sockets: 16, max_frame: 2 ** 20, socket_idle_timeout: 60, socket_ping_interval: 60 };
  const sockets = attachSockets(server, dispatcher.context, limits);
  const { port } = await listenAnywhere(server);
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        sockets.close(10);
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
}
