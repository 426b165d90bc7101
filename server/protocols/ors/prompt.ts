/** What ORS clients hand a model at the start: the task, and how to answer it. */
import { INSTRUCTIONS } from '../../../schemas/instructions.ts';
import type { Message, TextBlock } from '../../../schemas/protocols/ors.ts';
import { SUBMIT_TOOL } from '../../../schemas/tools.ts';
import type { OrsSession } from './call.ts';

/** For a model that knows nothing of this environment. */
function instructions({ w, h }: OrsSession['start']['canvas_size']): string {
  return [
    `The canvas is ${w} x ${h} pixels.`,
    `Draw with the tools, one action a call, and end with ${SUBMIT_TOOL}; or answer once, without a tool call, as follows.`,
    INSTRUCTIONS,
  ].join('\n');
}

const toBlock = (text: string): TextBlock => ({ text, detail: null, type: 'text' });

export function toPrompt({ prompt, canvas_size }: OrsSession['start']): TextBlock[] {
  return [toBlock(prompt), toBlock(instructions(canvas_size))];
}

export function toMessages({ prompt, canvas_size }: OrsSession['start']): Message[] {
  return [
    { role: 'system', blocks: [toBlock(instructions(canvas_size))], detail: null },
    { role: 'user', blocks: [toBlock(prompt)], detail: null },
  ];
}
