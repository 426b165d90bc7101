/** What the rows and responses of NeMo Gym mean: a task, and what the model did. */
import { isCompletion, toModelOutput, type Completion } from '../../../schemas/completion.ts';
import { isObject } from '../../../schemas/json.ts';
import type { NemoResponse, NemoRow } from '../../../schemas/protocols/nemo-gym.ts';
import { parseArguments, TOOL_NAMES, type ToolCall } from '../../../schemas/tools.ts';
import { MAX_COMPLETION_LENGTH } from '../../canvas/limits.ts';
import { isLongerThan } from '../../canvas/measure.ts';
import { findTask, resolveInline } from '../../resolve.ts';
import { taskOfLabel, taskOfPrompt, type ItemTask } from '../remote-reward/items.ts';

const hasRole = (item: unknown): boolean => isObject(item) && typeof item['role'] === 'string';

/** What a row is scored against: one of task_id, task and prompt. */
export type RowTask = Omit<ItemTask, 'place'>;

function itemOfRow({ task_id, task, responses_create_params }: NemoRow): ItemTask {
  const named = taskOfLabel(task_id, ['body', 'task_id']) ?? taskOfLabel(task, ['body', 'task']);
  if (named) return named;
  const { input } = responses_create_params;
  const prompt: unknown = Array.isArray(input) ? input.filter(hasRole) : input;
  return taskOfPrompt(prompt, ['body', 'responses_create_params', 'input']);
}

/**
 * The task a row names, else what its last user message says.
 * @throws ApiError unknown_task, invalid_request.
 */
export function taskOfRow(row: NemoRow): RowTask {
  const { place, ...named } = itemOfRow(row);
  if (named.task_id !== undefined) findTask(named.task_id, place);
  if (named.task !== undefined) resolveInline(named.task, place);
  return named;
}

export interface FunctionCall extends ToolCall {
  call_id: string;
}

/** The bare name of a tool: agents that reach tools over MCP write `mcp__<server>__<tool>`. */
function toBareName(name: string): string {
  const bare = name.startsWith('mcp__') ? name.slice(name.lastIndexOf('__') + 2) : name;
  return TOOL_NAMES.has(bare) ? bare : name;
}

/** The arguments of a call as a model wrote them. Those too long for any tool stay text. */
export function readArguments(text: unknown): unknown {
  return isLongerThan(text, MAX_COMPLETION_LENGTH) ? text : parseArguments(text);
}

function toCall(item: unknown): FunctionCall | undefined {
  if (!isObject(item) || (item['type'] !== 'function_call' && item['type'] !== 'custom_tool_call')) return undefined;
  const { name, call_id } = item;
  if (typeof name !== 'string') return undefined;
  const input = readArguments(item['arguments'] ?? item['input']);
  return { name: toBareName(name), call_id: typeof call_id === 'string' ? call_id : '', input };
}

/** The function calls of a response, in order. */
export function functionCalls({ output }: NemoResponse): FunctionCall[] {
  return output.map(toCall).filter((call) => call !== undefined);
}

/** The text of the last message of the assistant, '' where there is none. */
export function lastMessage({ output }: NemoResponse): Completion {
  const message = output.findLast((item) => isObject(item) && item['role'] === 'assistant');
  const messages = [message];
  return isCompletion(messages) ? messages : '';
}

/** What a rollout of tool calls is: calls of tools of ours, and the text of the last message after them, '' for none. */
export function ownCalls({ output }: NemoResponse): { calls: FunctionCall[]; words: string } {
  const calls = output.map(toCall).map((call) => (call && TOOL_NAMES.has(call.name) ? call : undefined));
  const last = calls.findLastIndex((call) => call !== undefined);
  const words = toModelOutput(lastMessage({ output: output.slice(last + 1) }));
  return {
    calls: calls.filter((call) => call !== undefined),
    words: typeof words === 'string' ? words.trim() : '',
  };
}

/** `length` where the response was cut, as chat completions say it. */
export function finishReason({ incomplete_details }: NemoResponse): 'length' | undefined {
  const isCut = isObject(incomplete_details) && incomplete_details['reason'] === 'max_output_tokens';
  return isCut ? 'length' : undefined;
}
