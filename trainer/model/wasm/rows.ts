/** Row and matrix moves in plain typed-array code. `f` is the heap; places are element indices into it. */
import type { Place } from './heap.ts';

/** Rows and columns of a block that stays in the first cache. */
const BLOCK = 16;

/** out [columns, rows] = x [rows, columns] transposed. */
export function transposeInto(f: Float32Array, x: Place, out: Place, rows: number, columns: number): void {
  for (let r0 = 0; r0 < rows; r0 += BLOCK) {
    const rEnd = Math.min(rows, r0 + BLOCK);
    for (let c0 = 0; c0 < columns; c0 += BLOCK) {
      const cEnd = Math.min(columns, c0 + BLOCK);
      for (let c = c0; c < cEnd; c++) {
        let from = x + r0 * columns + c;
        for (let to = out + c * rows + r0, end = out + c * rows + rEnd; to < end; to++, from += columns) {
          f[to] = f[from]!;
        }
      }
    }
  }
}

/** out [n, width] = rows of table [R, width]. */
export function gatherInto(f: Float32Array, table: Place, rows: Int32Array, out: Place, width: number): void {
  for (let i = 0; i < rows.length; i++) {
    const from = table + rows[i]! * width;
    f.copyWithin(out + i * width, from, from + width);
  }
}

/** table [R, width] gains dy [n, width] at the rows given; rows may repeat. */
export function scatterAddInto(f: Float32Array, dy: Place, rows: Int32Array, table: Place, width: number): void {
  for (let i = 0; i < rows.length; i++) {
    const from = dy + i * width;
    const to = table + rows[i]! * width;
    for (let j = 0; j < width; j++) f[to + j] = f[to + j]! + f[from + j]!;
  }
}
