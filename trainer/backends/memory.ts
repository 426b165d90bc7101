/** Errors of memory, told by the words each engine uses, as one error that says what to change. */

export class OutOfMemory extends Error {
  readonly code = 'out_of_memory';
}

/** What a full memory reads like: TensorFlow, the wasm heap and its allocator, V8, WebGPU and Dawn, cuDNN and cuBLAS. */
const PATTERNS = [
  /OOM when allocating/,
  /ResourceExhausted|RESOURCE_EXHAUSTED/,
  /the wasm heap has no room/,
  /memory access out of bounds/,
  /Cannot enlarge memory|Aborted\(OOM\)|out of memory/i,
  /Array buffer allocation failed|Invalid typed array length/,
  /GPUOutOfMemoryError|VK_ERROR_OUT_OF_\w+_MEMORY|maxBufferSize|max buffer size limit/,
  /CUDA_ERROR_OUT_OF_MEMORY|CUDNN_STATUS_ALLOC_FAILED|CUBLAS_STATUS_ALLOC_FAILED/,
];

/** The error itself, or, if memory ran out, one that says what to make smaller. */
export function explainMemory(error: unknown): unknown {
  const text = error instanceof Error ? error.message : String(error);
  if (!PATTERNS.some((pattern) => pattern.test(text))) return error;
  const reason = text.replace(/^Invalid TF_Status: \d+\nMessage: /, '').split('\n')[0] ?? '';
  const advice =
    'make a step smaller (sft: --batch_size; reinforce: fewer episodes a step or fewer --max_new_tokens; a smaller model), ' +
    'or take a backend with more memory; the same command with the new settings starts a run of its own';
  return new OutOfMemory(`memory ran out (${reason}): ${advice}`, { cause: error });
}
