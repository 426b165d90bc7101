/** A thread of the score pool: takes the body of a batch, answers with the reply in bytes. */
import { parentPort, workerData } from 'node:worker_threads';
import { createDispatcher } from './dispatch.ts';
import type { BodyLimits } from './dispatch.ts';
import type { CompletionCounts, FromThread, ToThread } from './score-pool.ts';

const port = parentPort;
if (port === null) throw new Error('this module runs in a thread of the score pool');

const tell = (message: FromThread, transfer: ArrayBuffer[] = []): void => {
  port.postMessage(message, transfer);
};

let counts: CompletionCounts = [];
const dispatcher = createDispatcher({
  body_limits: workerData as BodyLimits,
  log: (entry) => {
    tell({ log: entry });
  },
  metrics: {
    countRequest: () => undefined,
    countCompletions: (preset, count) => counts.push([preset, count]),
    watch: () => undefined,
    toText: () => '',
    close: () => undefined,
  },
});

const encoder = new TextEncoder();

async function answer({ id, request }: ToThread): Promise<void> {
  const { route, query, body } = request;
  const reply = await dispatcher.dispatch(route, { query, body, headers: { get: () => null } });
  const bytes = encoder.encode(reply.body as string);
  const completions = counts;
  counts = [];
  tell({ id, reply: { ...reply, body: bytes }, completions }, [bytes.buffer]);
}

port.on('message', (message: ToThread) => void answer(message));
tell('ready');
