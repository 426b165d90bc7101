/**
 * Attention of one new token a row over the keys and values of its prompt and of its own earlier tokens. Completions of a
 * prompt read the same cache of it. Caches are [slots, KV, capacity, d].
 */
import { rotateHead } from './rotate';
import { dot, fma, loadPart, sum4 } from './simd';
import { softmaxRow } from './softmax';
import { tileRow, tileRow32 } from './tile';

/** scores [count] = keys [count, d] times the query; four keys at a time. */
function scoreKeys(query: usize, keys: usize, count: i32, headDim: i32, scores: usize): void {
  const line = (<usize>headDim) << 2;
  const line2 = line << 1;
  const line3 = line2 + line;
  const vectors = headDim & ~3;
  const whole = count & ~3;
  for (let j = 0; j < whole; j += 4) {
    let s0 = f32x4.splat(0);
    let s1 = f32x4.splat(0);
    let s2 = f32x4.splat(0);
    let s3 = f32x4.splat(0);
    let key = keys;
    let i = 0;
    for (; i < vectors; i += 4) {
      const x = v128.load(query + ((<usize>i) << 2));
      s0 = fma(x, v128.load(key), s0);
      s1 = fma(x, v128.load(key + line), s1);
      s2 = fma(x, v128.load(key + line2), s2);
      s3 = fma(x, v128.load(key + line3), s3);
      key += 16;
    }
    if (i < headDim) {
      const x = loadPart(query + ((<usize>i) << 2), headDim - i);
      s0 = fma(x, loadPart(key, headDim - i), s0);
      s1 = fma(x, loadPart(key + line, headDim - i), s1);
      s2 = fma(x, loadPart(key + line2, headDim - i), s2);
      s3 = fma(x, loadPart(key + line3, headDim - i), s3);
    }
    store<f32>(scores, sum4(s0));
    store<f32>(scores, sum4(s1), 4);
    store<f32>(scores, sum4(s2), 8);
    store<f32>(scores, sum4(s3), 12);
    keys += 4 * line;
    scores += 16;
  }
  for (let j = whole; j < count; j++) {
    store<f32>(scores, dot(query, keys, headDim));
    keys += line;
    scores += 4;
  }
}

/** out [d] (+)= weights [count] times values [count, d]. */
function mixValues(weights: usize, values: usize, count: i32, headDim: i32, out: usize, isAdded: bool): void {
  const line = (<usize>headDim) << 2;
  let i = 0;
  for (; i + 32 <= headDim; i += 32) {
    const at = (<usize>i) << 2;
    tileRow32(weights, values + at, 32, line, count, out + at, isAdded);
  }
  for (; i < headDim; i += 8) {
    const at = (<usize>i) << 2;
    tileRow(weights, 4, values + at, line, count, out + at, headDim - i, isAdded);
  }
}

/**
 * qkv [n, (H + 2 KV) d] before the rotation to y [n, H d]; the new keys and values are put into the own cache. `rows` [n, 4]:
 * slot and length of the prompt, own slot, own tokens before this one. `work`: d and as many elements as the longest row has keys.
 */
export function decodeAttention(
  qkv: usize,
  queryGain: usize,
  keyGain: usize,
  table: usize,
  rows: usize,
  n: i32,
  promptKeys: usize,
  promptValues: usize,
  promptCapacity: i32,
  ownKeys: usize,
  ownValues: usize,
  ownCapacity: i32,
  y: usize,
  heads: i32,
  kvHeads: i32,
  headDim: i32,
  epsilon: f32,
  work: usize,
): void {
  const line = (<usize>headDim) << 2;
  const group = heads / kvHeads;
  const scale: f32 = 1 / sqrt<f32>(<f32>headDim);
  const scores = work + line;
  for (let r = 0; r < n; r++) {
    const promptLength = load<i32>(rows, 4);
    const ownLength = load<i32>(rows, 12);
    const promptPlane = <usize>promptCapacity * line;
    const ownPlane = <usize>ownCapacity * line;
    const prompt = <usize>(load<i32>(rows) * kvHeads) * promptPlane;
    const own = <usize>(load<i32>(rows, 8) * kvHeads) * ownPlane;
    const angles = table + <usize>(promptLength + ownLength) * line;
    const key = qkv + <usize>heads * line;
    for (let h = 0; h < kvHeads; h++) {
      const to = own + <usize>h * ownPlane + <usize>ownLength * line;
      rotateHead(key + <usize>h * line, keyGain, ownKeys + to, angles, 1, headDim, epsilon);
      memory.copy(ownValues + to, key + <usize>(kvHeads + h) * line, line);
    }
    for (let h = 0; h < heads; h++) {
      const kv = <usize>(h / group);
      const fromPrompt = prompt + kv * promptPlane;
      const fromOwn = own + kv * ownPlane;
      const ownScores = scores + ((<usize>promptLength) << 2);
      rotateHead(qkv + <usize>h * line, queryGain, work, angles, scale, headDim, epsilon);
      scoreKeys(work, promptKeys + fromPrompt, promptLength, headDim, scores);
      scoreKeys(work, ownKeys + fromOwn, ownLength + 1, headDim, ownScores);
      softmaxRow(scores, scores, promptLength + ownLength + 1);
      mixValues(scores, promptValues + fromPrompt, promptLength, headDim, y, false);
      mixValues(ownScores, ownValues + fromOwn, ownLength + 1, headDim, y, true);
      y += line;
    }
    qkv += <usize>(heads + 2 * kvHeads) * line;
    rows += 16;
  }
}
