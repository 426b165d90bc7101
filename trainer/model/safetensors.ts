/**
 * The safetensors format: 8 bytes of header length, a JSON header of names, shapes and byte ranges, the values.
 * https://github.com/huggingface/safetensors. Written as float32; read also from bfloat16 and float16, whose values
 * float32 holds exactly. Left out: other number types.
 */
import { z } from 'zod';

export interface NamedArray {
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

/** Bytes that are not a whole safetensors file of floats. */
export class SafetensorsError extends Error {
  readonly code = 'safetensors_invalid';
}

const LENGTH_BYTES = 8;
const ALIGNMENT = 8;

const WIDTHS = { F32: 4, BF16: 2, F16: 2 } as const;
type Dtype = keyof typeof WIDTHS;

const Entry = z.object({
  dtype: z.enum(Object.keys(WIDTHS) as [Dtype, ...Dtype[]]),
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

/** @throws SafetensorsError if the bytes are cut, not this format, or other numbers than floats of 16 or 32 bits */
export function decodeSafetensors(bytes: Uint8Array): Map<string, NamedArray> {
  const { header, data } = splitFile(bytes);
  const arrays = new Map<string, NamedArray>();
  let end = 0;
  for (const [name, raw] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    const entry = Entry.safeParse(raw);
    if (!entry.success) throw new SafetensorsError(`${name} is not a tensor of float32, bfloat16 or float16`);
    const [from, to] = entry.data.data_offsets;
    const length = entry.data.shape.reduce((a, b) => a * b, 1);
    if (to - from !== length * WIDTHS[entry.data.dtype])
      throw new SafetensorsError(`${name}: shape and byte range do not agree`);
    if (to > data.length) throw new SafetensorsError(`the file is cut: ${name} ends ${to - data.length} bytes past it`);
    arrays.set(name, { shape: entry.data.shape, values: toFloat32(entry.data.dtype, data.slice(from, to)) });
    end = Math.max(end, to);
  }
  if (end !== data.length) throw new SafetensorsError(`${data.length - end} bytes belong to no tensor`);
  return arrays;
}

/** @param bytes A copy of its own, little-endian. */
function toFloat32(dtype: Dtype, bytes: Uint8Array<ArrayBuffer>): Float32Array {
  if (dtype === 'F32') return new Float32Array(bytes.buffer);
  const halves = new Uint16Array(bytes.buffer);
  if (dtype === 'F16') return Float32Array.from(halves, halfToNumber);
  return new Float32Array(Uint32Array.from(halves, (half) => half << 16).buffer); // the upper half of a float32
}

/** IEEE 754 binary16: sign, 5 bits of exponent, 10 of mantissa. */
function halfToNumber(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 0x1f;
  const mantissa = half & 0x3ff;
  if (exponent === 0) return sign * mantissa * 2 ** -24;
  if (exponent === 0x1f) return mantissa === 0 ? sign * Infinity : NaN;
  return sign * (1 + mantissa / 1024) * 2 ** (exponent - 15);
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
