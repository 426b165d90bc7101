/** Requests of HTTP that ask for another protocol and do not get it. */
import { STATUS_CODES, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '../../../schemas/error.ts';
import { ApiError, toErrorBody } from '../../errors.ts';

/** Headers of a request that ask for another protocol. */
const UPGRADING = /^(connection|upgrade|http2-settings)$/i;

/**
 * Gives a request back to the HTTP server that asked for a protocol other than web sockets, e.g. h2c as curl --http2 does: it
 * is answered as if it had not asked, which HTTP allows, and Node does where nobody listens to upgrades.
 */
export function ignoreUpgrade(
  server: Server,
  { method, url, rawHeaders }: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  const lines = [`${String(method)} ${String(url)} HTTP/1.1`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name = '', value = ''] = rawHeaders.slice(i);
    if (!UPGRADING.test(name)) lines.push(`${name}: ${value}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}

/** Answers as HTTP does, and closes the connection. */
export function refuseUpgrade(socket: Duplex, code: ErrorCode, message: string): void {
  const error = new ApiError(code, message);
  const { status } = error;
  const body = JSON.stringify(toErrorBody(error));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? code}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${head.join('\r\n')}\r\nconnection: close\r\n\r\n${body}`);
}
