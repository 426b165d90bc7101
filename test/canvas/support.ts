/** What the canvas tests share: drawing on an empty canvas, and actions with every field filled in. */
import { type Canvas, EMPTY_CANVAS } from '../../schemas/canvas.ts';
import { draw, type DrawOptions } from '../../server/reward/draw.ts';
import type { Drawing } from '../../server/reward/types.ts';

export const START = { canvas: EMPTY_CANVAS, selected: [] } as const;

/** Draws on an empty canvas; the preset decides the style and the limit (default: lenient, 200 actions). */
export function drawOn(completion: unknown, options: Partial<DrawOptions> = {}): Drawing {
  return draw(completion, START, { preset: 'graded', action_set: 'core', ...options });
}

export function box(id: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { type: 'create_shape', id, shape: 'rectangle', x: 0, y: 0, w: 100, h: 60, text: id, ...fields };
}

export function text(...actions: readonly unknown[]): string {
  return JSON.stringify({ actions });
}

export function codes(drawing: Drawing): string[] {
  return [...drawing.parse.errors, ...(drawing.apply?.errors ?? [])].map((error) => error.code);
}

export function ids(canvas: Canvas | undefined): string[] {
  return canvas?.shapes.map((shape) => shape.id) ?? [];
}

/** Processor time of the quickest of three calls, ms; other processes do not count. */
export function cpuMs(call: () => unknown): number {
  const times = [0, 1, 2].map(() => {
    const start = process.cpuUsage();
    call();
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}
