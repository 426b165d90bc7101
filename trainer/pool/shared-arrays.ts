/** Arrays one after another in memory that threads share: all weights of a model, or their gradients, or some matrices. */
import type { ModelConfig } from '../model/config.ts';
import { parameterSpecs } from '../model/parameters.ts';

export interface SharedArrays {
  /** The memory itself, to be sent to a thread. */
  readonly memory: SharedArrayBuffer;
  /** A view of each array, row-major, by the names of parameters.ts. */
  readonly views: ReadonlyMap<string, Float32Array>;
}

/** Views on memory that came from another thread, or on new memory. */
export function shareArrays(config: ModelConfig, memory?: SharedArrayBuffer): SharedArrays {
  const specs = parameterSpecs(config).map(({ name, shape }) => ({ name, size: shape.reduce((a, b) => a * b, 1) }));
  const buffer = memory ?? new SharedArrayBuffer(4 * specs.reduce((sum, { size }) => sum + size, 0));
  let at = 0;
  const views = specs.map(({ name, size }): [string, Float32Array] => {
    const view = new Float32Array(buffer, 4 * at, size);
    at += size;
    return [name, view];
  });
  return { memory: buffer, views: new Map(views) };
}

/** Matrices one after another in shared memory, row-major. */
export function viewMatrices(
  shapes: readonly (readonly [number, number])[],
  memory: SharedArrayBuffer,
): { shape: [number, number]; view: Float32Array }[] {
  let at = 0;
  return shapes.map(([rows, columns]) => {
    const view = new Float32Array(memory, 4 * at, rows * columns);
    at += rows * columns;
    return { shape: [rows, columns], view };
  });
}

export function allocateMatrices(shapes: readonly (readonly [number, number])[]): SharedArrayBuffer {
  return new SharedArrayBuffer(4 * shapes.reduce((sum, [rows, columns]) => sum + rows * columns, 0));
}
