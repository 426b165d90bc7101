/**
 * What the module exports. AssemblyScript, built by `npm run build:kernels` into ../wasm/kernels.wasm and
 * kernels-relaxed.wasm. All kernels work on the memory they are given: they allocate nothing, keep nothing, and the module brings no
 * data segment. Places are bytes, sizes elements of 4 bytes; scratch space is the caller's.
 */
export { attentionBackward, attentionForward } from './attention';
export { decodeAttention } from './decode';
export { gemm, gemmPacked, packMatrix } from './gemm';
export { rmsNorm, rmsNormBackward } from './norm';
export { adamw } from './optimizer';
export { rotateHeads, rotateHeadsBackward } from './rotate';
export { gatherRows, scatterAdd } from './rows';
export { addInto } from './simd';
export { softmax } from './softmax';
export { tokenStatistics, tokenStatisticsBackward } from './statistics';
export { swiglu, swigluBackward } from './swiglu';
