/** Rows of a table: embedding, choice of rows, and their gradient. */
import { addInto } from './simd';

/** out [count, width] = the rows of table [., width] with the numbers `rows` [count]. */
export function gatherRows(table: usize, rows: usize, out: usize, count: i32, width: i32): void {
  const line = (<usize>width) << 2;
  for (let i = 0; i < count; i++) {
    memory.copy(out + <usize>i * line, table + <usize>load<i32>(rows + ((<usize>i) << 2)) * line, line);
  }
}

/** The rows given of table [., width] gain dy [count, width]; rows may repeat. */
export function scatterAdd(dy: usize, rows: usize, table: usize, count: i32, width: i32): void {
  const line = (<usize>width) << 2;
  for (let i = 0; i < count; i++) {
    addInto(dy + <usize>i * line, table + <usize>load<i32>(rows + ((<usize>i) << 2)) * line, width);
  }
}
