/**
 * Server-sent events, in which ORS answers. An answer is there within milliseconds as a rule and sent whole. Where it has to
 * wait, for a busy process that keeps the session, comments tell the client that it is still coming.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../errors.ts';
import { Raw } from '../../raw.ts';

/** Longest data of one event, characters; ORS clients hold no longer lines. */
export const CHUNK_SIZE = 4096;

export type Event = readonly [event: string, data: string];

const toText = (events: readonly Event[]): string =>
  events.map(([event, data]) => `event: ${event}\ndata: ${data}\n\n`).join('');

const toRaw = (body: Raw['body']): Raw =>
  new Raw('text/event-stream', body, { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' });

/** An answer of these events. */
export function toEvents(events: readonly Event[]): Raw {
  return toRaw(toText(events));
}

/**
 * An answer of events that may take long: in one piece where they are there within `pingMs`, else as a stream of `head` at once
 * and then a comment after every `pingMs` of silence.
 * @param head The event before them.
 * @throws what `events` rejects with where it does so in time; after that it is told in an event `error`.
 */
export async function toLateEvents(
  head: Event,
  events: Promise<readonly Event[]>,
  pingMs: number,
  report: (error: unknown) => void,
): Promise<Raw> {
  const late = new AbortController();
  const isLate = sleep(pingMs, true, { signal: late.signal }).catch(() => false);
  const first = await Promise.race([events.then((list) => toEvents([head, ...list])), isLate]).finally(() => {
    late.abort();
  });
  return first instanceof Raw ? first : toRaw(toStream(head, events, pingMs, report));
}

/** What is told of a fault: a refusal in its own words; anything else is reported. */
function toError(error: unknown, report: (error: unknown) => void): Event {
  if (error instanceof ApiError) return ['error', error.message.replaceAll('\n', ' ')];
  report(error);
  return ['error', 'the server failed on this call; nothing changed'];
}

/** Goes on without the client where it leaves: the answer is kept for when it comes back. */
function toStream(
  head: Event,
  events: Promise<readonly Event[]>,
  pingMs: number,
  report: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let isGone = false;
  return new ReadableStream<Uint8Array>({
    async start(controller) {
      const send = (text: string): void => {
        if (!isGone) controller.enqueue(encoder.encode(text));
      };
      send(toText([head]));
      const pings = setInterval(() => {
        send(': ping\n\n');
      }, pingMs);
      const last = await events.catch((error: unknown) => [toError(error, report)]);
      clearInterval(pings);
      send(toText(last));
      if (!isGone) controller.close();
    },
    cancel() {
      isGone = true;
    },
  });
}

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/**
 * JSON text in parts of at most CHUNK_SIZE characters, which joined are the same JSON value. No part splits a character or
 * begins with white space: clients trim what they receive.
 */
export function toChunks(json: string): Event[] {
  const chunks: string[] = [];
  for (let start = 0; start < json.length;) {
    // White space is only inside strings, where an escape stands for it as well.
    const head = json[start]!;
    const escaped = /[\s\x85]/.test(head) ? `\\u${head.charCodeAt(0).toString(16).padStart(4, '0')}` : head;
    let end = Math.min(json.length, start + CHUNK_SIZE - escaped.length + 1);
    if (end < json.length && isLowSurrogate(json.charCodeAt(end))) end--;
    chunks.push(escaped + json.slice(start + 1, end));
    start = end;
  }
  return chunks.map((chunk, i) => [i === chunks.length - 1 ? 'end' : 'chunk', chunk]);
}
