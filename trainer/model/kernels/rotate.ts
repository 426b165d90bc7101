/**
 * From rows of [query | key | value] heads to the operands of attention and back: RMS-normalise each query and key head
 * (QK norm), rotate it by the row's position (RoPE, halves paired), put it head by head. Queries also take the scale 1/sqrt(d) of the
 * scores. The table holds a row for each position: d/2 cosines, d/2 sines.
 */
import { inverseRms, rmsNormRowBackward } from './norm';
import { fma, give, take } from './simd';

/** out = rotate(x / rms(x) * gain) * scale for one head. */
export function rotateHead(
  x: usize,
  gain: usize,
  out: usize,
  angles: usize,
  scale: f32,
  headDim: i32,
  epsilon: f32,
): void {
  const half = headDim >> 1;
  const far = (<usize>half) << 2;
  const r = f32x4.splat(inverseRms(x, headDim, epsilon) * scale);
  for (let i = 0; i < half; i += 4) {
    const at = (<usize>i) << 2;
    const left = half - i;
    const a = f32x4.mul(f32x4.mul(take(x + at, left), r), take(gain + at, left));
    const b = f32x4.mul(f32x4.mul(take(x + far + at, left), r), take(gain + far + at, left));
    const cos = take(angles + at, left);
    const sin = take(angles + far + at, left);
    give(out + at, f32x4.sub(f32x4.mul(a, cos), f32x4.mul(b, sin)), left);
    give(out + far + at, fma(b, cos, f32x4.mul(a, sin)), left);
  }
}

/** qkv [rows, (H + 2 KV) d] to q [H, rows, d], k and v [KV, rows, d]. */
export function rotateHeads(
  qkv: usize,
  queryGain: usize,
  keyGain: usize,
  table: usize,
  positions: usize,
  q: usize,
  k: usize,
  v: usize,
  rows: i32,
  heads: i32,
  kvHeads: i32,
  headDim: i32,
  epsilon: f32,
): void {
  const line = (<usize>headDim) << 2;
  const plane = <usize>rows * line;
  const scale: f32 = 1 / sqrt<f32>(<f32>headDim);
  for (let row = 0; row < rows; row++) {
    const angles = table + <usize>load<i32>(positions + ((<usize>row) << 2)) * line;
    const own = <usize>row * line;
    for (let h = 0; h < heads; h++) {
      rotateHead(qkv, queryGain, q + <usize>h * plane + own, angles, scale, headDim, epsilon);
      qkv += line;
    }
    for (let h = 0; h < kvHeads; h++) {
      rotateHead(qkv, keyGain, k + <usize>h * plane + own, angles, 1, headDim, epsilon);
      qkv += line;
    }
    for (let h = 0; h < kvHeads; h++) {
      memory.copy(v + <usize>h * plane + own, qkv, line);
      qkv += line;
    }
  }
}

/** The rotation turned back (dy in place), then RMSNorm's gradient. */
function rotateHeadBackward(
  x: usize,
  gain: usize,
  dy: usize,
  dx: usize,
  dGain: usize,
  angles: usize,
  scale: f32,
  headDim: i32,
  epsilon: f32,
): void {
  const half = headDim >> 1;
  const far = (<usize>half) << 2;
  const scales = f32x4.splat(scale);
  for (let i = 0; i < half; i += 4) {
    const at = (<usize>i) << 2;
    const left = half - i;
    const a = f32x4.mul(take(dy + at, left), scales);
    const b = f32x4.mul(take(dy + far + at, left), scales);
    const cos = take(angles + at, left);
    const sin = take(angles + far + at, left);
    give(dy + at, fma(a, cos, f32x4.mul(b, sin)), left);
    give(dy + far + at, f32x4.sub(f32x4.mul(b, cos), f32x4.mul(a, sin)), left);
  }
  rmsNormRowBackward(x, gain, inverseRms(x, headDim, epsilon), dy, dx, dGain, headDim);
}

/** dQkv and the gains' gradients [d] from dq, dk and dv, which are overwritten. */
export function rotateHeadsBackward(
  qkv: usize,
  queryGain: usize,
  keyGain: usize,
  table: usize,
  positions: usize,
  dq: usize,
  dk: usize,
  dv: usize,
  dQkv: usize,
  dQueryGain: usize,
  dKeyGain: usize,
  rows: i32,
  heads: i32,
  kvHeads: i32,
  headDim: i32,
  epsilon: f32,
): void {
  const line = (<usize>headDim) << 2;
  const plane = <usize>rows * line;
  const scale: f32 = 1 / sqrt<f32>(<f32>headDim);
  memory.fill(dQueryGain, 0, line);
  memory.fill(dKeyGain, 0, line);
  for (let row = 0; row < rows; row++) {
    const angles = table + <usize>load<i32>(positions + ((<usize>row) << 2)) * line;
    const own = <usize>row * line;
    for (let h = 0; h < heads; h++) {
      const dy = dq + <usize>h * plane + own;
      rotateHeadBackward(qkv, queryGain, dy, dQkv, dQueryGain, angles, scale, headDim, epsilon);
      qkv += line;
      dQkv += line;
    }
    for (let h = 0; h < kvHeads; h++) {
      const dy = dk + <usize>h * plane + own;
      rotateHeadBackward(qkv, keyGain, dy, dQkv, dKeyGain, angles, 1, headDim, epsilon);
      qkv += line;
      dQkv += line;
    }
    for (let h = 0; h < kvHeads; h++) {
      memory.copy(dQkv, dv + <usize>h * plane + own, line);
      qkv += line;
      dQkv += line;
    }
  }
}
