/**
 * Operands as the tiles read them: B as panels of 8 columns, [columns / 8][depth][8], A (where it is not read row by row)
 * as strips of 4 rows, [rows / 4][depth][4]. Both are the same move: `width` lines of a matrix side by side.
 */

/** Bytes of one element. */
const ELEMENT: usize = 4;

/** Writes the 4 x 4 block at `from` (lines `line` bytes apart) transposed: 4 lanes at `to`, `stride` bytes apart. */
function turnBlock(from: usize, line: usize, to: usize, stride: usize): void {
  const r0 = v128.load(from);
  const r1 = v128.load(from + line);
  const r2 = v128.load(from + 2 * line);
  const r3 = v128.load(from + 3 * line);
  const low01 = v128.shuffle<f32>(r0, r1, 0, 4, 1, 5);
  const low23 = v128.shuffle<f32>(r2, r3, 0, 4, 1, 5);
  const high01 = v128.shuffle<f32>(r0, r1, 2, 6, 3, 7);
  const high23 = v128.shuffle<f32>(r2, r3, 2, 6, 3, 7);
  v128.store(to, v128.shuffle<f32>(low01, low23, 0, 1, 4, 5));
  v128.store(to + stride, v128.shuffle<f32>(low01, low23, 2, 3, 6, 7));
  v128.store(to + 2 * stride, v128.shuffle<f32>(high01, high23, 0, 1, 4, 5));
  v128.store(to + 3 * stride, v128.shuffle<f32>(high01, high23, 2, 3, 6, 7));
}

/**
 * Packs `lines` lines of `depth` elements as groups of `width` (4 or 8) lines: to[line / width][k][line % width]. The
 * element k of a line lies at `line * stepLine + k * stepDepth` elements; one of the two steps is 1. Lines that are missing
 * in the last group are zeros.
 */
export function packLines(
  from: usize,
  stepLine: i32,
  stepDepth: i32,
  lines: i32,
  depth: i32,
  width: i32,
  to: usize,
): void {
  for (let line = 0; line < lines; line += width) {
    const start = from + <usize>(line * stepLine) * ELEMENT;
    const count = min(width, lines - line);
    if (count < width) packPart(start, stepLine, stepDepth, count, depth, width, to);
    else if (stepLine == 1) packSideBySide(start, stepDepth, depth, width, to);
    else packTurned(start, stepLine, depth, width, to);
    to += <usize>(width * depth) * ELEMENT;
  }
}

/** The lines already lie side by side: each k is one copy. */
function packSideBySide(from: usize, stepDepth: i32, depth: i32, width: i32, to: usize): void {
  const step = <usize>stepDepth * ELEMENT;
  for (let k = 0; k < depth; k++) {
    v128.store(to, v128.load(from));
    if (width == 8) v128.store(to, v128.load(from, 16), 16);
    from += step;
    to += <usize>width * ELEMENT;
  }
}

function packTurned(from: usize, stepLine: i32, depth: i32, width: i32, to: usize): void {
  const line = <usize>stepLine * ELEMENT;
  const stride = <usize>width * ELEMENT;
  const whole = depth & ~3;
  for (let k = 0; k < whole; k += 4) {
    for (let i = 0; i < width; i += 4) {
      turnBlock(from + <usize>i * line + <usize>k * ELEMENT, line, to + <usize>i * ELEMENT, stride);
    }
    to += 4 * stride;
  }
  for (let k = whole; k < depth; k++) {
    for (let i = 0; i < width; i++) {
      store<f32>(to + <usize>i * ELEMENT, load<f32>(from + <usize>i * line + <usize>k * ELEMENT));
    }
    to += stride;
  }
}

function packPart(from: usize, stepLine: i32, stepDepth: i32, count: i32, depth: i32, width: i32, to: usize): void {
  for (let k = 0; k < depth; k++) {
    for (let i = 0; i < width; i++) {
      const x: f32 = i < count ? load<f32>(from + <usize>(i * stepLine + k * stepDepth) * ELEMENT) : 0;
      store<f32>(to, x);
      to += ELEMENT;
    }
  }
}
