/**
 * Server-sent events, in which ORS answers. An answer is there within milliseconds and sent whole, so there is never a silence
 * that comments would have to bridge.
 */
import { Raw } from '../../raw.ts';

/** Longest data of one event, characters; ORS clients hold no longer lines. */
export const CHUNK_SIZE = 4096;

export type Event = readonly [event: string, data: string];

/** An answer of these events. */
export function toEvents(events: readonly Event[]): Raw {
  const text = events.map(([event, data]) => `event: ${event}\ndata: ${data}\n\n`).join('');
  return new Raw('text/event-stream', text, { 'cache-control': 'no-cache' });
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
