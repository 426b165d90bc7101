/**
 * A load generator for one server on loopback: keep-alive connections over plain sockets, one request in flight on each.
 *
 * It does as little as a client can, so that the server is what is measured: requests are bytes made beforehand, and of an
 * answer only the status line, the content length and the end are read. Left out, since no server here needs them:
 * chunked answers, pipelining, redirects. An answer that it cannot read is an error, never skipped.
 */
import { connect, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';

export interface LoadPlan {
  port: number;
  /** Whole requests, sent in turn. */
  requests: readonly Buffer[];
  connections: number;
  /** Seconds before counting starts. */
  warm_s: number;
  /** Seconds that are counted. */
  seconds: number;
}

export interface LoadResult {
  /** Answers with status 200 a second. */
  per_s: number;
  p50_ms: number;
  p99_ms: number;
  /** Share of one core that the generator itself used: near 1 means that it, and not the server, was the limit. */
  client_cpu: number;
  /** Statuses other than 200. */
  refused: number;
}

export function postRequest(path: string, body: unknown): Buffer {
  const payload = Buffer.from(JSON.stringify(body));
  const head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${payload.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), payload]);
}

const HEAD_END = Buffer.from('\r\n\r\n');

/** The bytes of the first whole answer in `data`, undefined while it is incomplete. */
function answerLength(data: Buffer): number | undefined {
  const headEnd = data.indexOf(HEAD_END);
  if (headEnd === -1) return undefined;
  const length = /\r\ncontent-length: *(\d+)/i.exec(data.toString('latin1', 0, headEnd))?.[1];
  if (length === undefined)
    throw new Error(`an answer without content-length:\n${data.toString('latin1', 0, headEnd)}`);
  const total = headEnd + HEAD_END.length + Number(length);
  return data.length >= total ? total : undefined;
}

/** One connection; `ask` sends a request and gives the whole answer. */
export class Connection {
  readonly #socket: Socket;
  #data: Buffer = Buffer.alloc(0);
  #answered: ((answer: Buffer) => void) | undefined;
  #failed: ((error: Error) => void) | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => {
      this.#read(chunk);
    });
    socket.on('error', (error) => this.#failed?.(error));
    socket.on('close', () => this.#failed?.(new Error('the server closed the connection')));
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.off('error', reject);
        resolve(new Connection(socket));
      });
      socket.once('error', reject);
    });
  }

  #read(chunk: Buffer): void {
    this.#data = this.#data.length === 0 ? chunk : Buffer.concat([this.#data, chunk]);
    const length = answerLength(this.#data);
    if (length === undefined) return;
    const answer = this.#data.subarray(0, length);
    this.#data = this.#data.subarray(length);
    this.#answered?.(answer);
  }

  ask(request: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.#answered = resolve;
      this.#failed = reject;
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#failed = undefined;
    this.#socket.destroy();
  }
}

export const isOk = (answer: Buffer): boolean => answer.toString('latin1', 9, 12) === '200';

/** The JSON body of an answer. */
export const bodyOf = (answer: Buffer): unknown =>
  JSON.parse(answer.toString('utf8', answer.indexOf(HEAD_END) + HEAD_END.length));

const quantile = (sorted: readonly number[], q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;

export async function load(plan: LoadPlan): Promise<LoadResult> {
  const connections = await Promise.all(Array.from({ length: plan.connections }, () => Connection.open(plan.port)));
  const latencies: number[] = [];
  let [refused, next] = [0, 0];
  const start = performance.now() + plan.warm_s * 1000;
  const end = start + plan.seconds * 1000;
  const run = async (connection: Connection): Promise<void> => {
    for (let sent = performance.now(); sent < end;) {
      const answer = await connection.ask(plan.requests[next++ % plan.requests.length]!);
      const now = performance.now();
      if (sent >= start && now <= end) {
        if (isOk(answer)) latencies.push(now - sent);
        else refused++;
      }
      sent = now;
    }
  };
  const cpuBefore = process.cpuUsage();
  await Promise.all(connections.map(run));
  const cpu = process.cpuUsage(cpuBefore);
  for (const connection of connections) connection.close();
  latencies.sort((a, b) => a - b);
  return {
    per_s: latencies.length / plan.seconds,
    p50_ms: quantile(latencies, 0.5),
    p99_ms: quantile(latencies, 0.99),
    client_cpu: (cpu.user + cpu.system) / 1e6 / (plan.warm_s + plan.seconds),
    refused,
  };
}
