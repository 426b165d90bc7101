/** Values to columns and back: finite JSON, text that survives exactly, token arrays as blobs. */
import { StoreError } from './errors.ts';

/** The number itself; NaN and infinities throw, since the driver would store NaN as NULL without a word. */
export function toNumber(value: number, column: string): number {
  if (!Number.isFinite(value)) throw new StoreError('not_finite', `${column} is ${value}`);
  return value;
}

export function toNullable(value: number | null, column: string): number | null {
  return value === null ? null : toNumber(value, column);
}

/** JSON text; JSON.stringify alone would write NaN as null. @throws StoreError not_finite */
export function toJson(value: unknown, column: string): string {
  const finite = (key: string, item: unknown): unknown =>
    typeof item === 'number' ? toNumber(item, key === '' ? column : `${column}: ${key}`) : item;
  return JSON.stringify(value, finite);
}

export function fromJson(text: string): unknown {
  return JSON.parse(text);
}

const LOST = /[\0\p{Surrogate}]/gu; // with the u flag only surrogates without a partner match

/** A text as two columns: readable, and exact where the readable one is not (see schema.ts). */
export function toText(text: string): [readable: string, exact: string | null] {
  const readable = text.replace(LOST, (unit) => (unit === '\0' ? '\u2400' : '\ufffd'));
  return [readable, readable === text ? null : JSON.stringify(text)];
}

export function fromText(readable: string, exact: string | null): string {
  return exact === null ? readable : (JSON.parse(exact) as string);
}

/** Token ids, little-endian int32. */
export function toIds(ids: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * ids.length);
  ids.forEach((id, i) => bytes.writeInt32LE(id, 4 * i));
  return bytes;
}

export function fromIds(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.byteLength / 4 }, (_, i) => view.getInt32(4 * i, true));
}

/** Log-probabilities, little-endian float64: exact whatever precision they were computed in. */
export function toLogprobs(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(8 * values.length);
  values.forEach((value, i) => bytes.writeDoubleLE(toNumber(value, 'sampled_logprobs'), 8 * i));
  return bytes;
}

export function fromLogprobs(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.byteLength / 8 }, (_, i) => view.getFloat64(8 * i, true));
}
