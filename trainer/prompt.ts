/**
 * What the policy reads: an observation as text. One turn: the user's request and a line break. Later turns also see
 * the canvas (as the actions that would draw it, so that every word keeps its tokens) and the validator's output.
 */
import type { Canvas } from '../schemas/canvas.ts';
import type { Observation } from '../schemas/episode.ts';
import { DEFAULT_CANVAS_SIZE } from '../schemas/task.ts';

export function toPolicyPrompt(observation: Observation): string {
  const size = observation.canvas_size;
  const isDefault = size.w === DEFAULT_CANVAS_SIZE.w && size.h === DEFAULT_CANVAS_SIZE.h;
  const lines = [observation.prompt];
  if (!isDefault) lines.push(`Canvas: ${size.w} x ${size.h}.`);
  if (observation.turn > 0) {
    lines.push(`Drawn: ${JSON.stringify({ actions: toActions(observation.canvas) })}`);
    lines.push(`Errors: ${observation.errors.map((error) => error.message).join('; ') || 'none'}.`);
  }
  return `${lines.join('\n')}\n`;
}

/** The actions that draw a canvas from nothing. */
export function toActions(canvas: Canvas): Record<string, unknown>[] {
  return [
    ...canvas.shapes.map(({ id, shape, x, y, w, h, text }) => ({ type: 'create_shape', id, shape, x, y, w, h, text })),
    ...canvas.arrows.map(({ from, to, text }) => ({ type: 'connect', from, to, ...(text === '' ? {} : { text }) })),
  ];
}
