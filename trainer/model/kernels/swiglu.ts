/** SwiGLU (Shazeer 2020) of rows [gate | up]: silu(gate) * up. */
import { sigmoid4 } from './exp';
import { fma, give, take } from './simd';

/** x [rows, 2 width] to y [rows, width]. */
export function swiglu(x: usize, y: usize, rows: i32, width: i32): void {
  const line = (<usize>width) << 2;
  for (let row = 0; row < rows; row++) {
    for (let i = 0; i < width; i += 4) {
      const at = (<usize>i) << 2;
      const left = width - i;
      const gate = take(x + at, left);
      give(y + at, f32x4.mul(f32x4.mul(gate, sigmoid4(gate)), take(x + line + at, left)), left);
    }
    x += 2 * line;
    y += line;
  }
}

/** With s the sigmoid: d silu(g) = s (1 + g (1 - s)). */
export function swigluBackward(x: usize, dy: usize, dx: usize, rows: i32, width: i32): void {
  const line = (<usize>width) << 2;
  const one = f32x4.splat(1);
  for (let row = 0; row < rows; row++) {
    for (let i = 0; i < width; i += 4) {
      const at = (<usize>i) << 2;
      const left = width - i;
      const gate = take(x + at, left);
      const s = sigmoid4(gate);
      const d = f32x4.mul(take(dy + at, left), s);
      const slope = fma(gate, f32x4.sub(one, s), one);
      give(dx + at, f32x4.mul(f32x4.mul(d, take(x + line + at, left)), slope), left);
      give(dx + line + at, f32x4.mul(d, gate), left);
    }
    x += 2 * line;
    dx += 2 * line;
    dy += line;
  }
}
