/** Server-sent events: how ORS streams the answer of a call. */

/** Longest data of one event, characters; ORS clients hold no longer lines. */
export const CHUNK_SIZE = 4096;
/** Silence after which a comment is sent, ms: clients give up after 30 s, proxies too. */
export const PING_MS = 10_000;

export const EVENT_HEADERS = { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' } as const;

export function toEvent(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`;
}

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/**
 * JSON text in parts of at most CHUNK_SIZE characters, which joined are the same JSON value. No part splits a character or
 * begins with white space: clients trim what they receive.
 */
export function toChunks(json: string): string[] {
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
  return chunks;
}

/**
 * The events of a call: its id at once, comments while it runs, then the answer in parts, or an error.
 * Goes on without the client where it leaves: the answer is kept for when it comes back.
 * @param answer The answer as JSON text; rejects with an Error whose message the client may see.
 */
export function streamAnswer(taskId: string, answer: Promise<string>, pingMs = PING_MS): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let isGone = false;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (text: string): void => {
        if (!isGone) controller.enqueue(encoder.encode(text));
      };
      send(toEvent('task_id', taskId));
      const ping = setInterval(() => {
        send(': ping\n\n');
      }, pingMs);
      const end = (events: string): void => {
        clearInterval(ping);
        send(events);
        if (!isGone) controller.close();
      };
      answer.then(
        (json) => {
          const chunks = toChunks(json);
          end(chunks.map((chunk, i) => toEvent(i === chunks.length - 1 ? 'end' : 'chunk', chunk)).join(''));
        },
        (error: unknown) => {
          end(toEvent('error', error instanceof Error ? error.message : String(error)));
        },
      );
    },
    cancel() {
      isGone = true;
    },
  });
}
