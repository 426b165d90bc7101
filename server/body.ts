/** Reading a request's body: its size while it comes in, its encoding, its depth before anything recursive sees it. */
import { isObject } from '../schemas/json.ts';
import { ApiError } from './errors.ts';
import type { HoldBytes } from './held-bodies.ts';

/** Deepest nesting of a body. A state needs 5; nested model output counts too, where it is sent parsed. */
export const MAX_BODY_DEPTH = 64;

function tooLarge(limit: number): ApiError {
  return new ApiError('body_too_large', `body must be at most ${limit} bytes; send less, or more requests`, {
    place: ['body'],
  });
}

function tooDeep(): ApiError {
  return new ApiError('too_deep', `body must not nest deeper than ${MAX_BODY_DEPTH} levels`, { place: ['body'] });
}

/**
 * The bytes of a body.
 * @param hold Told of bytes before they are read; what it throws ends the reading.
 * @throws ApiError body_too_large as soon as that is known, body_cut when the client goes away.
 */
export async function readBody(request: Request, limit: number, hold: HoldBytes): Promise<Uint8Array> {
  const encoding = request.headers.get('content-encoding');
  if (encoding !== null && encoding.toLowerCase() !== 'identity') {
    const given = encoding.slice(0, 60);
    throw new ApiError('unsupported_encoding', `send the body without Content-Encoding (it is ${given})`, {
      place: ['body'],
    });
  }
  const announced = request.headers.get('content-length');
  if (announced !== null && Number(announced) > limit) throw tooLarge(limit);
  if (announced !== null) hold(Number(announced));
  try {
    return announced === null ? await readStream(request, limit, hold) : new Uint8Array(await request.arrayBuffer());
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError('body_cut', 'the body ended before it was complete', { place: ['body'] });
  }
}

/** Reads a body of unknown length, no further than the limit. */
async function readStream(request: Request, limit: number, hold: HoldBytes): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > limit) throw tooLarge(limit);
    hold(chunk.byteLength);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Bodies up to this size are parsed first and then looked through, which is cheaper; at this size any nesting is harmless. */
const SCAN_FROM_BYTES = 2 ** 20;

/** Whether a parsed value nests deeper than `max`. */
function nestsDeeperThan(value: unknown, max: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (max === 0) return true;
  const items: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  for (const item of items) if (nestsDeeperThan(item, max - 1)) return true;
  return false;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Whether JSON text nests deeper than `max`; stops where it does. Reads any bytes, well-formed or not. */
export function isDeeperThan(json: Uint8Array, max: number): boolean {
  const size = json.length;
  let depth = 0;
  for (let i = 0; i < size; i++) {
    const byte = json[i]!;
    if (byte === QUOTE) {
      for (i++; i < size && json[i] !== QUOTE; i++) if (json[i] === BACKSLASH) i++;
    } else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > max) return true;
    } else if (byte === 0x7d || byte === 0x5d) {
      depth--;
    }
  }
  return false;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : 'it is not UTF-8';
    const hint = /token 'N'|token 'I'|minus sign/.test(reason)
      ? '; JSON has no NaN or Infinity, send null or leave it out'
      : '';
    throw new ApiError('not_json', `body must be JSON: ${reason}${hint}`, { place: ['body'] });
  }
}

/**
 * The JSON object in a body; an empty body is `{}` where that is allowed.
 * @throws ApiError not_json, too_deep, not_an_object.
 */
export function parseBody(bytes: Uint8Array, allowEmpty: boolean): Record<string, unknown> {
  if (bytes.length === 0) {
    if (allowEmpty) return {};
    throw new ApiError('not_json', 'body is empty; send a JSON object', { place: ['body'] });
  }
  if (bytes.length > SCAN_FROM_BYTES && isDeeperThan(bytes, MAX_BODY_DEPTH)) throw tooDeep();
  const value = parseJson(bytes);
  if (bytes.length <= SCAN_FROM_BYTES && nestsDeeperThan(value, MAX_BODY_DEPTH)) throw tooDeep();
  if (isObject(value)) return value;
  const kind = value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
  throw new ApiError('not_an_object', `body must be an object, not ${kind}`, { place: ['body'] });
}
