/** A turn as chat completions give it: the assistant's message, which writes its actions or calls them as tools. */
import { isCompletion, toModelOutput, unwrapText } from './completion.ts';
import { isObject } from './json.ts';
import { parseArguments, toolCallsToOutput, type ToolCall } from './tools.ts';

function toCall(call: unknown): ToolCall[] {
  const called = isObject(call) ? call['function'] : undefined;
  if (!isObject(called) || typeof called['name'] !== 'string') return [];
  return [{ name: called['name'], input: parseArguments(called['arguments']) }];
}

/** What the parser reads of a turn: the tool calls of an assistant's message, else its text; anything else as it is. */
export function toTurnOutput(action: unknown): unknown {
  if (!isObject(action) || action['role'] !== 'assistant') return unwrapText(action);
  const calls: unknown = action['tool_calls'];
  if (Array.isArray(calls) && calls.length > 0) return toolCallsToOutput(calls.flatMap(toCall));
  const messages = [action];
  return isCompletion(messages) ? toModelOutput(messages) : action;
}
