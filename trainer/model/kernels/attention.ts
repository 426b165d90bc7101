/**
 * Causal attention of one segment (see layout.ts) over its prefix and itself, forward and backward, after the rotation:
 * q [H, rows, d] (scaled), k and v [KV, rows, d]. Four query rows at a time: only the keys they see are computed.
 *
 * Probabilities are kept for the gradient as [H, length, stride], the keys rounded up to 8; behind what a row sees they are
 * zero up to the last column that its four rows computed. With P the probabilities and g = dy: dP = g V', dS = P (dP - g . y), dq = dS K,
 * dK = dS' q, dV = P' g.
 */
import { packLines } from './pack';
import { addInto, dot, give, take } from './simd';
import { softmaxRow } from './softmax';
import { tileColumns, tileRow, tileRows } from './tile';

function roundUp(x: i32): i32 {
  return (x + 7) & ~7;
}

/** Rows of a head [rows, d] that a segment sees, prefix first: where they lie, copied to `work` if they are apart. */
function seenRows(
  head: usize,
  start: i32,
  length: i32,
  prefixStart: i32,
  prefixLength: i32,
  line: usize,
  work: usize,
): usize {
  const own = head + <usize>start * line;
  if (prefixLength == 0) return own;
  memory.copy(work, head + <usize>prefixStart * line, <usize>prefixLength * line);
  memory.copy(work + <usize>prefixLength * line, own, <usize>length * line);
  return work;
}

/** C [count, columns] = A [count, depth] B, one to four rows, B in panels `panel` bytes apart. */
function multiplyStrip(
  a: usize,
  lineA: usize,
  count: i32,
  panels: usize,
  panel: usize,
  depth: i32,
  c: usize,
  lineC: usize,
  columns: i32,
): void {
  for (let j = 0; j < columns; j += 8) {
    const width = columns - j;
    if (count == 4) tileRows(a, lineA, panels, 32, depth, c, lineC, width, false);
    else {
      for (let r = 0; r < count; r++) {
        tileRow(a + <usize>r * lineA, 4, panels, 32, depth, c + <usize>r * lineC, width, false);
      }
    }
    panels += panel;
    c += 32;
  }
}

/** y [rows, H d] and p, of one segment. `work`: 3 stride (d + 8) elements. */
export function attentionForward(
  q: usize,
  k: usize,
  v: usize,
  p: usize,
  y: usize,
  start: i32,
  length: i32,
  prefixStart: i32,
  prefixLength: i32,
  rows: i32,
  heads: i32,
  kvHeads: i32,
  headDim: i32,
  work: usize,
): void {
  const line = (<usize>headDim) << 2;
  const plane = <usize>rows * line;
  const keys = prefixLength + length;
  const lineP = (<usize>roundUp(keys)) << 2;
  const lineY = (<usize>(heads * headDim)) << 2;
  const keyPanels = work + lineP * <usize>headDim;
  const valuePanels = keyPanels + lineP * <usize>headDim;
  const group = heads / kvHeads;
  for (let h = 0; h < heads; h++) {
    if (h % group == 0) {
      const kv = <usize>(h / group) * plane;
      const seenK = seenRows(k + kv, start, length, prefixStart, prefixLength, line, work);
      packLines(seenK, headDim, 1, keys, headDim, 8, keyPanels);
      const seenV = seenRows(v + kv, start, length, prefixStart, prefixLength, line, work);
      packLines(seenV, 1, headDim, headDim, keys, 8, valuePanels);
    }
    const queries = q + <usize>h * plane + <usize>start * line;
    const out = y + <usize>start * lineY + <usize>h * line;
    for (let i = 0; i < length; i += 4) {
      const count = min(4, length - i);
      const seen = prefixLength + i + count;
      const strip = p + <usize>i * lineP;
      multiplyStrip(queries + <usize>i * line, line, count, keyPanels, line << 3, headDim, strip, lineP, roundUp(seen));
      for (let r = 0; r < count; r++) {
        const row = strip + <usize>r * lineP;
        const own = prefixLength + i + r + 1;
        softmaxRow(row, row, own);
        memory.fill(row + ((<usize>own) << 2), 0, (<usize>(roundUp(seen) - own)) << 2);
      }
      const to = out + <usize>i * lineY;
      multiplyStrip(strip, lineP, count, valuePanels, (<usize>keys) << 5, seen, to, lineY, headDim);
    }
    p += <usize>length * lineP;
  }
}

/** dP of a row to dS: ds = p (ds - mean). */
function scoreGradient(p: usize, ds: usize, mean: f32, seen: i32): void {
  const means = f32x4.splat(mean);
  for (let left = seen; left > 0; left -= 4) {
    give(ds, f32x4.mul(take(p, left), f32x4.sub(take(ds, left), means)), left);
    p += 16;
    ds += 16;
  }
}

/** C [keys, d] (+)= A' B for the columns of A [length, stride], from the first row on that sees each four keys. */
function multiplySeen(
  a: usize,
  lineA: usize,
  panels: usize,
  c: usize,
  keys: i32,
  length: i32,
  prefixLength: i32,
  headDim: i32,
  isAdded: bool,
): void {
  const line = (<usize>headDim) << 2;
  const panel = (<usize>length) << 5;
  for (let j = 0; j < keys; j += 4) {
    const first = max(0, j - prefixLength);
    const column = a + <usize>first * lineA + ((<usize>j) << 2);
    for (let n = 0; n < headDim; n += 8) {
      const b = panels + <usize>(n >> 3) * panel + ((<usize>first) << 5);
      const to = c + <usize>j * line + ((<usize>n) << 2);
      tileColumns(column, lineA, b, 32, length - first, to, line, headDim - n, isAdded);
    }
  }
}

/** Adds [keys, d], prefix first, to the rows of a head. */
function addSeen(
  x: usize,
  head: usize,
  start: i32,
  length: i32,
  prefixStart: i32,
  prefixLength: i32,
  headDim: i32,
): void {
  const line = (<usize>headDim) << 2;
  addInto(x, head + <usize>prefixStart * line, prefixLength * headDim);
  addInto(x + <usize>prefixLength * line, head + <usize>start * line, length * headDim);
}

/**
 * dq, and what the segment adds to dk and dv. `work`: 5 stride (d + 8) + 2 length (d + 8) + length stride elements.
 */
export function attentionBackward(
  q: usize,
  k: usize,
  v: usize,
  p: usize,
  y: usize,
  dy: usize,
  dq: usize,
  dk: usize,
  dv: usize,
  start: i32,
  length: i32,
  prefixStart: i32,
  prefixLength: i32,
  rows: i32,
  heads: i32,
  kvHeads: i32,
  headDim: i32,
  work: usize,
): void {
  const line = (<usize>headDim) << 2;
  const plane = <usize>rows * line;
  const keys = prefixLength + length;
  const lineP = (<usize>roundUp(keys)) << 2;
  const lineY = (<usize>(heads * headDim)) << 2;
  const wide = <usize>roundUp(headDim);
  const valuePanels = work + lineP * wide;
  const keyPanels = valuePanels + lineP * wide;
  const dKeys = keyPanels + lineP * wide;
  const dValues = dKeys + lineP * wide;
  const queryPanels = dValues + lineP * wide;
  const dyPanels = queryPanels + ((<usize>length) << 2) * wide;
  const ds = dyPanels + ((<usize>length) << 2) * wide;
  const group = heads / kvHeads;
  for (let h = 0; h < heads; h++) {
    const kv = <usize>(h / group) * plane;
    const isFirst = h % group == 0;
    if (isFirst) {
      const seenV = seenRows(v + kv, start, length, prefixStart, prefixLength, line, work);
      packLines(seenV, headDim, 1, keys, headDim, 8, valuePanels);
      const seenK = seenRows(k + kv, start, length, prefixStart, prefixLength, line, work);
      packLines(seenK, 1, headDim, headDim, keys, 8, keyPanels);
    }
    const own = <usize>h * plane + <usize>start * line;
    const ownY = <usize>start * lineY + <usize>h * line;
    packLines(q + own, 1, headDim, headDim, length, 8, queryPanels);
    packLines(dy + ownY, 1, heads * headDim, headDim, length, 8, dyPanels);
    for (let i = 0; i < length; i += 4) {
      const count = min(4, length - i);
      const seen = prefixLength + i + count;
      const columns = roundUp(seen);
      const strip = ds + <usize>i * lineP;
      const at = ownY + <usize>i * lineY;
      multiplyStrip(dy + at, lineY, count, valuePanels, line << 3, headDim, strip, lineP, columns);
      for (let r = 0; r < count; r++) {
        const row = at + <usize>r * lineY;
        scoreGradient(p + <usize>(i + r) * lineP, strip + <usize>r * lineP, dot(dy + row, y + row, headDim), columns);
      }
      const to = dq + own + <usize>i * line;
      multiplyStrip(strip, lineP, count, keyPanels, (<usize>keys) << 5, seen, to, line, headDim);
    }
    multiplySeen(p, lineP, dyPanels, dValues, keys, length, prefixLength, headDim, !isFirst);
    multiplySeen(ds, lineP, queryPanels, dKeys, keys, length, prefixLength, headDim, !isFirst);
    if (h % group == group - 1) {
      addSeen(dKeys, dk + kv, start, length, prefixStart, prefixLength, headDim);
      addSeen(dValues, dv + kv, start, length, prefixStart, prefixLength, headDim);
    }
    p += <usize>length * lineP;
  }
}
