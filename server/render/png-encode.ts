/**
 * PNG file of RGBA pixels (https://www.w3.org/TR/png-3/): rows unfiltered, since drawings are flat, and compressed on a
 * thread of libuv's pool. The rasteriser's own encoder gives larger files and holds the event loop up to 0.2 s.
 */
import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const RGBA_8_BIT = Uint8Array.of(8, 6, 0, 0, 0);
const deflateAsync = promisify(deflate);

/** `pixels` holds 4 * width * height bytes, row by row, top first. */
export async function encodePng(pixels: Uint8Array, width: number, height: number): Promise<Uint8Array> {
  const header = Buffer.concat([uint32(width), uint32(height), RGBA_8_BIT]);
  const data = await deflateAsync(unfilteredRows(pixels, 4 * width, height));
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

/** Each row behind a byte that names its filter: 0, none. */
function unfilteredRows(pixels: Uint8Array, rowBytes: number, height: number): Uint8Array {
  const rows = new Uint8Array((rowBytes + 1) * height);
  for (let y = 0; y < height; y++) rows.set(pixels.subarray(y * rowBytes, (y + 1) * rowBytes), y * (rowBytes + 1) + 1);
  return rows;
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  return Buffer.concat([uint32(data.length), body, uint32(crc32(body))]);
}

function uint32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
