/** Four lanes at a time: what the other kernels share. Lengths are in elements, places in bytes. */

/** a b + c, in one instruction (and one rounding) where the build has relaxed SIMD. */
export function fma(a: v128, b: v128, c: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return f32x4.relaxed_madd(a, b, c);
  return f32x4.add(f32x4.mul(a, b), c);
}

/** Sum of the four lanes. */
export function sum4(x: v128): f32 {
  const pairs = f32x4.add(x, v128.shuffle<f32>(x, x, 2, 3, 0, 1));
  return f32x4.extract_lane(pairs, 0) + f32x4.extract_lane(pairs, 1);
}

export function max4(x: v128): f32 {
  const pairs = f32x4.max(x, v128.shuffle<f32>(x, x, 2, 3, 0, 1));
  return max(f32x4.extract_lane(pairs, 0), f32x4.extract_lane(pairs, 1));
}

/** The first `count` (1 to 3) elements at `from`, zero in the other lanes; nothing past them is read. */
export function loadPart(from: usize, count: i32): v128 {
  let x = v128.load32_zero(from);
  if (count > 1) x = f32x4.replace_lane(x, 1, load<f32>(from, 4));
  if (count > 2) x = f32x4.replace_lane(x, 2, load<f32>(from, 8));
  return x;
}

/** Stores the first `count` (1 to 3) lanes. */
export function storePart(to: usize, x: v128, count: i32): void {
  store<f32>(to, f32x4.extract_lane(x, 0));
  if (count > 1) store<f32>(to, f32x4.extract_lane(x, 1), 4);
  if (count > 2) store<f32>(to, f32x4.extract_lane(x, 2), 8);
}

/** Four elements, or the `left` that are left of a row and zeros. */
export function take(from: usize, left: i32): v128 {
  return left >= 4 ? v128.load(from) : loadPart(from, left);
}

/** Stores four elements, or the `left` that are left of a row. */
export function give(to: usize, x: v128, left: i32): void {
  if (left >= 4) v128.store(to, x);
  else storePart(to, x, left);
}

/** Sum of x y over `length` elements. */
export function dot(x: usize, y: usize, length: i32): f32 {
  const whole = (<usize>(length & ~3)) << 2;
  let sum = f32x4.splat(0);
  for (let at: usize = 0; at < whole; at += 16) sum = fma(v128.load(x + at), v128.load(y + at), sum);
  if ((length & 3) > 0) sum = fma(loadPart(x + whole, length & 3), loadPart(y + whole, length & 3), sum);
  return sum4(sum);
}

/** y += x over `length` elements. */
export function addInto(x: usize, y: usize, length: i32): void {
  for (let left = length; left > 0; left -= 4) {
    give(y, f32x4.add(take(x, left), take(y, left)), left);
    x += 16;
    y += 16;
  }
}
