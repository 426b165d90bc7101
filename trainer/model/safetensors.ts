/**
 * The safetensors format, float32 only: 8 bytes of header length, a JSON header of names, shapes and byte ranges, the
 * values. https://github.com/huggingface/safetensors. Left out: other number types.
 */
import { z } from 'zod';

export interface NamedArray {
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

/** Bytes that are not a whole float32 safetensors file. */
export class SafetensorsError extends Error {
  readonly code = 'safetensors_invalid';
}

const LENGTH_BYTES = 8;
const ALIGNMENT = 8;

const Entry = z.object({
  dtype: z.literal('F32'),
  shape: z.array(z.number().int().min(0)),
  data_offsets: z.tuple([z.number().int().min(0), z.number().int().min(0)]),
});
const Header = z.record(z.string(), z.unknown());

export function encodeSafetensors(arrays: ReadonlyMap<string, NamedArray>): Uint8Array {
  const header: Record<string, unknown> = { __metadata__: { format: 'pt' } };
  let size = 0;
  for (const [name, { shape, values }] of arrays) {
    header[name] = { dtype: 'F32', shape, data_offsets: [size, size + values.byteLength] };
    size += values.byteLength;
  }
  const text = JSON.stringify(header);
  const headerBytes = new TextEncoder().encode(text + ' '.repeat(-Buffer.byteLength(text) & (ALIGNMENT - 1)));
  const out = new Uint8Array(LENGTH_BYTES + headerBytes.length + size);
  new DataView(out.buffer).setBigUint64(0, BigInt(headerBytes.length), true);
  out.set(headerBytes, LENGTH_BYTES);
  let at = LENGTH_BYTES + headerBytes.length;
  for (const { values } of arrays.values()) {
    out.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), at);
    at += values.byteLength;
  }
  return out;
}

/** @throws SafetensorsError if the bytes are cut, not this format, or not float32 */
export function decodeSafetensors(bytes: Uint8Array): Map<string, NamedArray> {
  const { header, data } = splitFile(bytes);
  const arrays = new Map<string, NamedArray>();
  let end = 0;
  for (const [name, raw] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    const entry = Entry.safeParse(raw);
    if (!entry.success) throw new SafetensorsError(`${name} is not a float32 tensor`);
    const [from, to] = entry.data.data_offsets;
    const length = entry.data.shape.reduce((a, b) => a * b, 1);
    if (to - from !== length * 4) throw new SafetensorsError(`${name}: shape and byte range do not agree`);
    if (to > data.length) throw new SafetensorsError(`the file is cut: ${name} ends ${to - data.length} bytes past it`);
    arrays.set(name, { shape: entry.data.shape, values: new Float32Array(data.slice(from, to).buffer) });
    end = Math.max(end, to);
  }
  if (end !== data.length) throw new SafetensorsError(`${data.length - end} bytes belong to no tensor`);
  return arrays;
}

function splitFile(bytes: Uint8Array): { header: Record<string, unknown>; data: Uint8Array } {
  if (bytes.length < LENGTH_BYTES) throw new SafetensorsError('the file is cut: it has no header');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = LENGTH_BYTES + Number(view.getBigUint64(0, true));
  if (end > bytes.length) throw new SafetensorsError('the file is cut within its header');
  try {
    const header = Header.parse(JSON.parse(new TextDecoder().decode(bytes.subarray(LENGTH_BYTES, end))));
    // A plain Uint8Array: slices of a Buffer would share its memory.
    return { header, data: new Uint8Array(bytes.buffer, bytes.byteOffset + end, bytes.length - end) };
  } catch (error) {
    throw new SafetensorsError('the header is not JSON', { cause: error });
  }
}
