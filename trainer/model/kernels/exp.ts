/** Exponential and logarithm from arithmetic alone: no table, hence no data segment in the memory of others. */
import { fma } from './simd';

/**
 * exp of four lanes, relative error about 1e-7: exp(x) = 2^n exp(r) with n = round(x / ln 2) and |r| <= ln 2 / 2, where a
 * polynomial of degree 6 is enough (the coefficients are those of the Cephes library's expf, Moshier 1992). ln 2 is taken in two parts
 * so that n ln 2 is exact. Arguments are cut to [-88, 88]: no infinity, and 0 for anything under -87.7.
 */
export function exp4(x: v128): v128 {
  x = f32x4.max(f32x4.min(x, f32x4.splat(88)), f32x4.splat(-88));
  const n = f32x4.nearest(f32x4.mul(x, f32x4.splat(1.44269504)));
  let r = fma(n, f32x4.splat(-0.693359375), x);
  r = fma(n, f32x4.splat(2.1219444e-4), r);
  let y = fma(r, f32x4.splat(1.98756915e-4), f32x4.splat(1.3981999507e-3));
  y = fma(y, r, f32x4.splat(8.3334519073e-3));
  y = fma(y, r, f32x4.splat(4.1665795894e-2));
  y = fma(y, r, f32x4.splat(1.6666665459e-1));
  y = fma(y, r, f32x4.splat(5.0000001201e-1));
  y = f32x4.add(fma(y, f32x4.mul(r, r), r), f32x4.splat(1));
  return f32x4.mul(y, i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(n), i32x4.splat(127)), 23));
}

/** 1 / (1 + exp(-x)) */
export function sigmoid4(x: v128): v128 {
  const one = f32x4.splat(1);
  return f32x4.div(one, f32x4.add(one, exp4(f32x4.neg(x))));
}

/**
 * Natural logarithm of a positive normal number, in doubles: x = 2^e m with m in [.7, 1.42], log m = 2 atanh(s) with
 * s = (m - 1) / (m + 1), |s| < .18, and atanh's series up to s^13.
 */
export function log(x: f64): f64 {
  const bits = reinterpret<i64>(x);
  let exponent = <i32>(bits >> 52) - 1023;
  let m = reinterpret<f64>((bits & 0xfffffffffffff) | 0x3ff0000000000000);
  if (m > 1.4142135623730951) {
    m /= 2;
    exponent++;
  }
  const s = (m - 1) / (m + 1);
  const t = s * s;
  const series = 1 + t * (1 / 3.0 + t * (1 / 5.0 + t * (1 / 7.0 + t * (1 / 9.0 + t * (1 / 11.0 + t / 13.0)))));
  return 2 * s * series + <f64>exponent * 0.6931471805599453;
}
