/**
 * What the policy reads: an observation as text. First turn: the user's request and a line break. Later turns also see
 * the canvas (as the actions that would draw it, so that every word keeps its tokens) and the validator's output: faults
 * of the last actions, and remarks on the drawing.
 */
import type { Canvas, CanvasSize } from '../schemas/canvas.ts';
import type { Observation } from '../schemas/episode.ts';
import { DEFAULT_CANVAS_SIZE, type PublicTask } from '../schemas/task.ts';

export function toPolicyPrompt(observation: Observation): string {
  const lines = firstLines(observation.prompt, observation.canvas_size);
  if (observation.turn > 0) {
    lines.push(`Drawn: ${JSON.stringify({ actions: toActions(observation.canvas) })}`);
    lines.push(`Errors: ${listed(observation.errors)}.`);
    lines.push(`Remarks: ${listed(observation.lints)}.`);
  }
  return `${lines.join('\n')}\n`;
}

/** Most messages of a kind; more would push the canvas out of a small model's sight. */
const MAX_MESSAGES = 4;

function listed(messages: readonly { message: string }[]): string {
  const shown = messages.slice(0, MAX_MESSAGES).map(({ message }) => message);
  return shown.join('; ') || 'none';
}

/** What the policy reads of a task before anything is drawn. */
export function toFirstPrompt(task: PublicTask): string {
  return `${firstLines(task.prompt, task.canvas).join('\n')}\n`;
}

function firstLines(prompt: string, size: CanvasSize): string[] {
  const isDefault = size.w === DEFAULT_CANVAS_SIZE.w && size.h === DEFAULT_CANVAS_SIZE.h;
  return isDefault ? [prompt] : [prompt, `Canvas: ${size.w} x ${size.h}.`];
}

/** The actions that draw a canvas from nothing. */
export function toActions(canvas: Canvas): Record<string, unknown>[] {
  return [
    ...canvas.shapes.map(({ id, shape, x, y, w, h, text }) => ({ type: 'create_shape', id, shape, x, y, w, h, text })),
    ...canvas.arrows.map(({ from, to, text }) => ({ type: 'connect', from, to, ...(text === '' ? {} : { text }) })),
  ];
}
