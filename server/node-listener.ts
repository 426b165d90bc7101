/**
 * The short way from a socket to the dispatcher, for the requests that a trainer sends by the thousand: a POST whose path is
 * a route's, with a body of announced size within the limit. It spares them the Request and Response objects of the Fetch
 * API, which cost about as much as the step itself. Everything else, and every refusal about the body, goes to `fallback`.
 *
 * Requests that came in together are answered together: first all sockets are read, then all steps taken, then all answers
 * sent. Code and data of each phase stay in the processor's caches, which saves a quarter of the time at 32 connections.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { ROUTES, ROUTE_IDS, type Route, type RouteId } from '../schemas/routes.ts';
import { createBatch } from './batch.ts';
import type { Dispatcher, Reply } from './dispatch.ts';
import type { HeldBodies } from './held-bodies.ts';

const POST_ROUTES: ReadonlyMap<string, RouteId> = new Map(
  ROUTE_IDS.filter((id) => isPlain(ROUTES[id])).map((id) => [ROUTES[id].path, id]),
);

/** A route with a query is plain too, for the requests that send none: a path that equals the route's has no `?`. */
function isPlain({ method, params }: Route): boolean {
  return method === 'POST' && params === undefined;
}

/** Whether the body is plain, of a size that is announced and allowed. */
function hasPlainBody({ headers }: IncomingMessage, limit: number): boolean {
  const { 'content-length': length, 'content-encoding': encoding, expect } = headers;
  return length !== undefined && Number(length) <= limit && encoding === undefined && expect === undefined;
}

/** Bodies of up to so many bytes are not counted as held: they come in with their headers, and connections are bounded. */
const SMALL_BYTES = 16_384;

/** Calls back with the whole body; never, where the client goes away before. */
function collect(request: IncomingMessage, done: (bytes: Uint8Array) => void): void {
  const chunks: Uint8Array[] = [];
  request.on('data', (chunk: Uint8Array) => chunks.push(chunk));
  request.on('end', () => {
    done(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
  });
}

/** Takes room for a body until it is given back, or the client goes away in the middle; undefined where there is none. */
function hold(request: IncomingMessage, bodies: HeldBodies): (() => void) | undefined {
  const size = Number(request.headers['content-length']);
  if (size <= SMALL_BYTES) return () => undefined;
  if (!bodies.take(size)) return undefined;
  let isWhole = false;
  request.on('end', () => (isWhole = true));
  request.on('close', () => {
    if (!isWhole) bodies.give(size);
  });
  return () => {
    bodies.give(size);
  };
}

function send(response: ServerResponse, { status, headers, body }: Reply): void {
  if (body instanceof ReadableStream) {
    response.writeHead(status, headers);
    pipeline(Readable.fromWeb(body), response, () => undefined); // a client may go away
    return;
  }
  headers['content-length'] = String(typeof body === 'string' ? Buffer.byteLength(body) : body.length);
  response.writeHead(status, headers);
  response.end(body);
}

/** A request whose body is there. */
interface Exchanged {
  answer: () => Reply | Promise<Reply>;
  end: (reply: Reply) => void;
}

export function createNodeListener(dispatcher: Dispatcher, fallback: RequestListener): RequestListener {
  const atEndOfTurn = createBatch<Exchanged>((exchanged) => {
    const replies = exchanged.map(({ answer }) => answer());
    for (const [i, { end }] of exchanged.entries()) {
      const reply = replies[i]!;
      if (reply instanceof Promise) void reply.then(end);
      else end(reply);
    }
  });
  return (request, response) => {
    const id = request.method === 'POST' ? POST_ROUTES.get(request.url ?? '') : undefined;
    if (id === undefined || !hasPlainBody(request, dispatcher.limitOf(id))) {
      fallback(request, response);
      return;
    }
    const release = hold(request, dispatcher.bodies);
    if (release === undefined) {
      fallback(request, response);
      return;
    }
    const headers = { get: (name: string): string | null => request.headers[name]?.toString() ?? null };
    const end = (reply: Reply): void => {
      release();
      send(response, reply);
    };
    collect(request, (body) => {
      atEndOfTurn({ answer: () => dispatcher.dispatch(id, { body, headers }), end });
    });
  };
}
