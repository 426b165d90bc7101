/**
 * The inner loops of every product: 4 rows by 8 columns of the result stay in eight registers while `depth` runs. Eight
 * independent sums are what two multiply-add units of four cycles each can keep going.
 *
 * All strides are in bytes. B is read as rows of 8 elements, `strideB` apart (a packed panel, 32 bytes, or rows of a
 * matrix). Columns past `width` are computed and not stored.
 */
import { fma, loadPart, storePart } from './simd';

/** Adds to or sets 8 columns of one row of the result, or the first `width` of them. */
function put(c: usize, left: v128, right: v128, width: i32, accumulate: bool): void {
  if (width >= 8) {
    if (accumulate) {
      left = f32x4.add(left, v128.load(c));
      right = f32x4.add(right, v128.load(c, 16));
    }
    v128.store(c, left);
    v128.store(c, right, 16);
    return;
  }
  if (width >= 4) {
    v128.store(c, accumulate ? f32x4.add(left, v128.load(c)) : left);
    c += 16;
    width -= 4;
    left = right;
  }
  if (width > 0) storePart(c, accumulate ? f32x4.add(left, loadPart(c, width)) : left, width);
}

/** C [4, width] = A [4, depth] B, rows of A `rowA` apart. */
export function tileRows(
  a: usize,
  rowA: usize,
  b: usize,
  strideB: usize,
  depth: i32,
  c: usize,
  rowC: usize,
  width: i32,
  accumulate: bool,
): void {
  const zero = f32x4.splat(0);
  let c00 = zero;
  let c01 = zero;
  let c10 = zero;
  let c11 = zero;
  let c20 = zero;
  let c21 = zero;
  let c30 = zero;
  let c31 = zero;
  const c1 = c + rowC;
  const c2 = c1 + rowC;
  const c3 = c2 + rowC;
  if (accumulate && width >= 8) {
    c00 = v128.load(c);
    c01 = v128.load(c, 16);
    c10 = v128.load(c1);
    c11 = v128.load(c1, 16);
    c20 = v128.load(c2);
    c21 = v128.load(c2, 16);
    c30 = v128.load(c3);
    c31 = v128.load(c3, 16);
  }
  let a1 = a + rowA;
  let a2 = a1 + rowA;
  let a3 = a2 + rowA;
  for (const end = a + ((<usize>depth) << 2); a < end; a += 4) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    const x0 = v128.load_splat<f32>(a);
    c00 = fma(x0, b0, c00);
    c01 = fma(x0, b1, c01);
    const x1 = v128.load_splat<f32>(a1);
    c10 = fma(x1, b0, c10);
    c11 = fma(x1, b1, c11);
    const x2 = v128.load_splat<f32>(a2);
    c20 = fma(x2, b0, c20);
    c21 = fma(x2, b1, c21);
    const x3 = v128.load_splat<f32>(a3);
    c30 = fma(x3, b0, c30);
    c31 = fma(x3, b1, c31);
    a1 += 4;
    a2 += 4;
    a3 += 4;
    b += strideB;
  }
  if (width < 8) {
    put(c, c00, c01, width, accumulate);
    put(c1, c10, c11, width, accumulate);
    put(c2, c20, c21, width, accumulate);
    put(c3, c30, c31, width, accumulate);
    return;
  }
  v128.store(c, c00);
  v128.store(c, c01, 16);
  v128.store(c1, c10);
  v128.store(c1, c11, 16);
  v128.store(c2, c20);
  v128.store(c2, c21, 16);
  v128.store(c3, c30);
  v128.store(c3, c31, 16);
}

/** C [4, width] = A B where the 4 elements of a column of A lie side by side, columns `strideA` apart. */
export function tileColumns(
  a: usize,
  strideA: usize,
  b: usize,
  strideB: usize,
  depth: i32,
  c: usize,
  rowC: usize,
  width: i32,
  accumulate: bool,
): void {
  const zero = f32x4.splat(0);
  let c00 = zero;
  let c01 = zero;
  let c10 = zero;
  let c11 = zero;
  let c20 = zero;
  let c21 = zero;
  let c30 = zero;
  let c31 = zero;
  const c1 = c + rowC;
  const c2 = c1 + rowC;
  const c3 = c2 + rowC;
  if (accumulate && width >= 8) {
    c00 = v128.load(c);
    c01 = v128.load(c, 16);
    c10 = v128.load(c1);
    c11 = v128.load(c1, 16);
    c20 = v128.load(c2);
    c21 = v128.load(c2, 16);
    c30 = v128.load(c3);
    c31 = v128.load(c3, 16);
  }
  for (let k = 0; k < depth; k++) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    const x0 = v128.load_splat<f32>(a);
    c00 = fma(x0, b0, c00);
    c01 = fma(x0, b1, c01);
    const x1 = v128.load_splat<f32>(a, 4);
    c10 = fma(x1, b0, c10);
    c11 = fma(x1, b1, c11);
    const x2 = v128.load_splat<f32>(a, 8);
    c20 = fma(x2, b0, c20);
    c21 = fma(x2, b1, c21);
    const x3 = v128.load_splat<f32>(a, 12);
    c30 = fma(x3, b0, c30);
    c31 = fma(x3, b1, c31);
    a += strideA;
    b += strideB;
  }
  if (width < 8) {
    put(c, c00, c01, width, accumulate);
    put(c1, c10, c11, width, accumulate);
    put(c2, c20, c21, width, accumulate);
    put(c3, c30, c31, width, accumulate);
    return;
  }
  v128.store(c, c00);
  v128.store(c, c01, 16);
  v128.store(c1, c10);
  v128.store(c1, c11, 16);
  v128.store(c2, c20);
  v128.store(c2, c21, 16);
  v128.store(c3, c30);
  v128.store(c3, c31, 16);
}

/** C [1, width] = A [1, depth] B, elements of A `strideA` apart. */
export function tileRow(
  a: usize,
  strideA: usize,
  b: usize,
  strideB: usize,
  depth: i32,
  c: usize,
  width: i32,
  accumulate: bool,
): void {
  let left = f32x4.splat(0);
  let right = f32x4.splat(0);
  for (let k = 0; k < depth; k++) {
    const x = v128.load_splat<f32>(a);
    left = fma(x, v128.load(b), left);
    right = fma(x, v128.load(b, 16), right);
    a += strideA;
    b += strideB;
  }
  put(c, left, right, width, accumulate);
}

/** C [1, 32] = A [1, depth] B for four groups of 8 columns, `group` bytes apart: eight sums for a single row. */
export function tileRow32(
  a: usize,
  b: usize,
  group: usize,
  strideB: usize,
  depth: i32,
  c: usize,
  accumulate: bool,
): void {
  const zero = f32x4.splat(0);
  let c0 = zero;
  let c1 = zero;
  let c2 = zero;
  let c3 = zero;
  let c4 = zero;
  let c5 = zero;
  let c6 = zero;
  let c7 = zero;
  let b1 = b + group;
  let b2 = b1 + group;
  let b3 = b2 + group;
  if (accumulate) {
    c0 = v128.load(c);
    c1 = v128.load(c, 16);
    c2 = v128.load(c, 32);
    c3 = v128.load(c, 48);
    c4 = v128.load(c, 64);
    c5 = v128.load(c, 80);
    c6 = v128.load(c, 96);
    c7 = v128.load(c, 112);
  }
  for (const end = a + ((<usize>depth) << 2); a < end; a += 4) {
    const x = v128.load_splat<f32>(a);
    c0 = fma(x, v128.load(b), c0);
    c1 = fma(x, v128.load(b, 16), c1);
    c2 = fma(x, v128.load(b1), c2);
    c3 = fma(x, v128.load(b1, 16), c3);
    c4 = fma(x, v128.load(b2), c4);
    c5 = fma(x, v128.load(b2, 16), c5);
    c6 = fma(x, v128.load(b3), c6);
    c7 = fma(x, v128.load(b3, 16), c7);
    b += strideB;
    b1 += strideB;
    b2 += strideB;
    b3 += strideB;
  }
  v128.store(c, c0);
  v128.store(c, c1, 16);
  v128.store(c, c2, 32);
  v128.store(c, c3, 48);
  v128.store(c, c4, 64);
  v128.store(c, c5, 80);
  v128.store(c, c6, 96);
  v128.store(c, c7, 112);
}
