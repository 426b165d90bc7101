/**
 * The actions as tools, for agents that call functions instead of writing JSON: one tool for each action but `done`, and
 * `submit_diagram`, which ends the drawing and may bring a whole diagram with it. Every protocol with tools (MCP, ORS, NeMo
 * Gym, OpenAI-style calls) serves this list.
 */
import { z } from 'zod';
import { Action, type ActionType } from './action.ts';
import { isObject } from './json.ts';

export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, an object. */
  readonly input_schema: Readonly<Record<string, unknown>>;
}

export const SUBMIT_TOOL = 'submit_diagram';

/** What a plain answer without a tool call stands for, for harnesses that end an episode with one; no model sees this tool. */
export const TERMINAL_TOOL = {
  name: 'answer',
  arg: 'completion',
  description:
    'Scores an answer without a tool call: a whole diagram as JSON, or, where it has none, what the tools drew.',
} as const;

const DESCRIPTIONS: Readonly<Record<Exclude<ActionType, 'done'>, string>> = {
  create_shape: 'Create a shape. x and y are its top left corner; the label stands inside it.',
  connect: 'Draw an arrow from one shape to another.',
  move_shape: 'Move a shape: x and y are its new top left corner.',
  resize_shape: 'Change the size of a shape.',
  set_text: 'Change the label of a shape.',
  delete_shape: 'Delete a shape and its arrows.',
  disconnect: 'Delete the arrows from one shape to another.',
  select: 'Select shapes. Changes nothing in the picture.',
};

const SUBMIT_INPUT = z.object({
  actions: z
    .array(Action)
    .optional()
    .describe('Actions to run first, in order, e.g. a whole diagram; leave it out if the canvas holds the drawing'),
});

/** The JSON Schema of a tool's arguments. */
export function toInputSchema(schema: z.ZodType): Record<string, unknown> {
  return Object.fromEntries(Object.entries(z.toJSONSchema(schema)).filter(([key]) => key !== '$schema'));
}

/**
 * Fields of actions that have another name as arguments: trainers make a Python function of each tool (TRL does), and there
 * `from` is a keyword. The names of the actions themselves are understood too.
 */
const ARGUMENT_NAMES: ReadonlyMap<string, string> = new Map([
  ['from', 'from_id'],
  ['to', 'to_id'],
]);
const FIELD_NAMES = new Map([...ARGUMENT_NAMES].map(([field, argument]) => [argument, field]));

function toArguments({ shape }: z.ZodObject): z.ZodObject {
  const fields = Object.entries(shape).filter(([name]) => name !== 'type');
  return z.strictObject(Object.fromEntries(fields.map(([name, field]) => [ARGUMENT_NAMES.get(name) ?? name, field])));
}

function actionTools(): Tool[] {
  return Action.options.flatMap((option) => {
    const name = option.shape.type.value;
    if (name === 'done') return [];
    return [{ name, description: DESCRIPTIONS[name], input_schema: toInputSchema(toArguments(option as z.ZodObject)) }];
  });
}

export const TOOLS: readonly Tool[] = [
  ...actionTools(),
  {
    name: SUBMIT_TOOL,
    description: 'Submit the drawing. It is scored, and the episode ends.',
    input_schema: toInputSchema(SUBMIT_INPUT),
  },
];

export const TOOL_NAMES: ReadonlySet<string> = new Set(TOOLS.map(({ name }) => name));

function toFields(input: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [FIELD_NAMES.get(name) ?? name, value]));
}

function endWithDone(actions: readonly unknown[]): unknown[] {
  const last = actions.at(-1);
  return isObject(last) && last['type'] === 'done' ? [...actions] : [...actions, { type: 'done' }];
}

/**
 * The model output that a tool call stands for, to be graded like any other.
 * @param name One of TOOL_NAMES.
 * @param input What the model gave as arguments, whatever it is.
 */
export function toolCallToOutput(name: string, input: unknown): unknown {
  if (name !== SUBMIT_TOOL) return { actions: [isObject(input) ? { ...toFields(input), type: name } : input] };
  const actions = isObject(input) ? input['actions'] : undefined;
  if (actions === undefined || actions === null) return { actions: [{ type: 'done' }] };
  return Array.isArray(actions) ? { actions: endWithDone(actions) } : actions;
}

/** A call as a model makes it. */
export interface ToolCall {
  /** One of TOOL_NAMES, or what else the model called. */
  name: string;
  /** The arguments, parsed where they are JSON. */
  input: unknown;
}

/** JSON that a model wrote; text that is not JSON stays text, to be graded as what it is. No text at all is no argument. */
export function parseArguments(text: unknown): unknown {
  if (typeof text !== 'string') return text;
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The actions that a call stands for. What is no action becomes one that is rejected, and takes no other call with it. */
export function actionsOfCall({ name, input }: ToolCall): object[] {
  if (!TOOL_NAMES.has(name)) return [];
  const actions = (toolCallToOutput(name, input) as { actions?: unknown } | null)?.actions;
  const list: unknown[] = Array.isArray(actions) ? actions : [actions];
  return list.map((action) => (typeof action === 'object' && action !== null ? action : { type: name }));
}

/** The model output that the calls of one turn stand for; calls of other tools than ours stand for nothing. */
export function toolCallsToOutput(calls: readonly ToolCall[]): unknown {
  const [only] = calls;
  if (calls.length === 1 && TOOL_NAMES.has(only!.name)) return toolCallToOutput(only!.name, only!.input);
  return { actions: calls.flatMap(actionsOfCall) };
}
