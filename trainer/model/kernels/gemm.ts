/** Matrix products with any transposition: C [m, n] = A B, or C += A B. Steps are in elements. */
import { packLines } from './pack';
import { tileColumns, tileRow, tileRow32, tileRows } from './tile';

/** Depth of a block: a panel of B and a strip of A of this depth lie in the first-level cache together. */
const DEPTH: i32 = 512;
/** Rows that pass over all panels at a time: they stay in the second-level cache. */
const ROWS: i32 = 64;

/**
 * Element (i, k) of A lies at `i * rowA + k * columnA`, (k, j) of B at `k * rowB + j * columnB`; one step of each is 1. C is
 * row-major, `n` wide. `work` has room for min(k, 512) * (n rounded up to 8), and the same for m rounded up to 4 if rowA is 1.
 */
export function gemm(
  a: usize,
  rowA: i32,
  columnA: i32,
  b: usize,
  rowB: i32,
  columnB: i32,
  c: usize,
  m: i32,
  n: i32,
  k: i32,
  accumulate: i32,
  work: usize,
): void {
  for (let start = 0; start < k; start += DEPTH) {
    const depth = min(DEPTH, k - start);
    const partA = a + ((<usize>(start * columnA)) << 2);
    packLines(b + ((<usize>(start * rowB)) << 2), columnB, rowB, n, depth, 8, work);
    const isAdded = accumulate != 0 || start > 0;
    if (columnA == 1) {
      multiplyRows(partA, rowA, work, c, m, n, depth, isAdded);
    } else {
      const strips = work + ((<usize>(((n + 7) & ~7) * depth)) << 2);
      packLines(partA, rowA, columnA, m, depth, 4, strips);
      multiplyStrips(strips, work, c, m, n, depth, isAdded);
    }
  }
}

/** C from rows of A and packed panels of B. */
function multiplyRows(a: usize, rowA: i32, panels: usize, c: usize, m: i32, n: i32, depth: i32, isAdded: bool): void {
  const lineA = (<usize>rowA) << 2;
  const lineC = (<usize>n) << 2;
  const panel = (<usize>depth) << 5;
  for (let first = 0; first < m; first += ROWS) {
    const last = min(m, first + ROWS);
    const whole = first + ((last - first) & ~3);
    for (let j = 0; j < n; j += 8) {
      const b = panels + <usize>(j >> 3) * panel;
      const to = c + ((<usize>j) << 2);
      for (let i = first; i < whole; i += 4) {
        tileRows(a + <usize>i * lineA, lineA, b, 32, depth, to + <usize>i * lineC, lineC, n - j, isAdded);
      }
      for (let i = whole; i < last; i++) {
        tileRow(a + <usize>i * lineA, 4, b, 32, depth, to + <usize>i * lineC, n - j, isAdded);
      }
    }
  }
}

/** C from packed strips of A and packed panels of B. */
function multiplyStrips(strips: usize, panels: usize, c: usize, m: i32, n: i32, depth: i32, isAdded: bool): void {
  const lineC = (<usize>n) << 2;
  const panel = (<usize>depth) << 5;
  const strip = (<usize>depth) << 4;
  const whole = m & ~3;
  for (let j = 0; j < n; j += 8) {
    const b = panels + <usize>(j >> 3) * panel;
    const to = c + ((<usize>j) << 2);
    for (let i = 0; i < whole; i += 4) {
      tileColumns(strips + <usize>(i >> 2) * strip, 16, b, 32, depth, to + <usize>i * lineC, lineC, n - j, isAdded);
    }
    for (let i = whole; i < m; i++) {
      const row = strips + <usize>(whole >> 2) * strip + ((<usize>(i - whole)) << 2);
      tileRow(row, 16, b, 32, depth, to + <usize>i * lineC, n - j, isAdded);
    }
  }
}

/** Packs B once for `gemmPacked`: k * (n rounded up to 8) elements. Steps as in `gemm`. */
export function packMatrix(b: usize, rowB: i32, columnB: i32, k: i32, n: i32, panels: usize): void {
  packLines(b, columnB, rowB, n, k, 8, panels);
}

/** C [m, n] = A [m, k] B with B packed, or C += A B: for few rows at a time. */
export function gemmPacked(a: usize, panels: usize, c: usize, m: i32, n: i32, k: i32, accumulate: i32): void {
  const isAdded = accumulate != 0;
  const whole = m & ~3;
  if (whole > 0) multiplyRows(a, k, panels, c, whole, n, k, isAdded);
  const panel = (<usize>k) << 5;
  for (let i = whole; i < m; i++) {
    const row = a + ((<usize>(i * k)) << 2);
    const to = c + ((<usize>(i * n)) << 2);
    let j = 0;
    for (; j + 32 <= n; j += 32) {
      tileRow32(row, panels + <usize>(j >> 3) * panel, panel, 32, k, to + ((<usize>j) << 2), isAdded);
    }
    for (; j < n; j += 8) {
      tileRow(row, 4, panels + <usize>(j >> 3) * panel, 32, k, to + ((<usize>j) << 2), n - j, isAdded);
    }
  }
}
