/**
 * Model output as clients hold it: text, a list of chat messages, or an object that was parsed already. The checks are
 * plain functions, since a batch holds thousands; the JSON Schemas beside them say the same to readers of the document.
 */
import { z } from 'zod';
import { isObject } from './json.ts';

export interface ChatMessage {
  role: string;
  /** Text, a list of parts of which the text ones count, or null (a message of tool calls). */
  content?: string | readonly unknown[] | null | undefined;
}

export type Completion = string | readonly ChatMessage[] | { readonly actions: unknown };
export type Prompt = string | readonly ChatMessage[];

/** Longest text of a prompt, UTF-16 code units. */
export const MAX_PROMPT_LENGTH = 32_768;

function isMessage(value: unknown): value is ChatMessage {
  if (!isObject(value) || typeof value['role'] !== 'string') return false;
  const content = value['content'];
  return content === undefined || content === null || typeof content === 'string' || Array.isArray(content);
}

function isConversation(value: unknown, role: string): value is ChatMessage[] {
  return Array.isArray(value) && value.every(isMessage) && value.some((message) => message.role === role);
}

/** Whether a value can be scored as model output; a list needs a message of the role `assistant`. */
export function isCompletion(value: unknown): value is Completion {
  if (typeof value === 'string') return true;
  return Array.isArray(value) ? isConversation(value, 'assistant') : isObject(value) && 'actions' in value;
}

/** Whether a value is a prompt; a list needs a message of the role `user`. */
export function isPrompt(value: unknown): value is Prompt {
  return typeof value === 'string' || isConversation(value, 'user');
}

function textOf(content: ChatMessage['content']): string {
  if (typeof content === 'string') return content;
  const parts = (content ?? []).map((part) => (isObject(part) ? part['text'] : undefined));
  return parts.filter((text) => typeof text === 'string').join('');
}

function lastText(messages: readonly ChatMessage[], role: string): string {
  return textOf(messages.findLast((message) => message.role === role)?.content);
}

/** Takes a text or an object out of the one field that GET /schema names; everything else stays as it is. */
export function unwrapText(output: unknown): unknown {
  const inner = isObject(output) ? output['actions'] : undefined;
  return typeof inner === 'string' || isObject(inner) ? inner : output;
}

/** What the parser reads: the text of the last assistant message; text and objects as they are. */
export function toModelOutput(completion: Completion): unknown {
  return isConversation(completion, 'assistant') ? lastText(completion, 'assistant') : unwrapText(completion);
}

/** The text of the last user message. */
export function toPromptText(prompt: Prompt): string {
  return typeof prompt === 'string' ? prompt : lastText(prompt, 'user');
}

function conversationSchema(role: string) {
  const content = { anyOf: [{ type: 'string' }, { type: 'array' }, { type: 'null' }] };
  const message = { type: 'object', required: ['role'], properties: { role: { type: 'string' }, content } };
  return {
    type: 'array',
    items: message,
    contains: { type: 'object', required: ['role'], properties: { role: { const: role } } },
  };
}

export const CompletionSchema = z
  .custom<Completion>(isCompletion, {
    error: 'must be a text, a list of chat messages with one of the role "assistant", or an object with "actions"',
  })
  .meta({
    description: 'Model output: a text, chat messages (the last of the assistant counts), or {actions: [...]}',
    anyOf: [{ type: 'string' }, conversationSchema('assistant'), { type: 'object', required: ['actions'] }],
  });

export const PromptSchema = z
  .custom<Prompt>(isPrompt, { error: 'must be a text, or a list of chat messages with one of the role "user"' })
  .refine((prompt) => toPromptText(prompt).length <= MAX_PROMPT_LENGTH, {
    error: `must be at most ${MAX_PROMPT_LENGTH} characters long`,
  })
  .meta({
    description: 'The task in words: a text, or chat messages (the last of the user counts)',
    anyOf: [{ type: 'string', maxLength: MAX_PROMPT_LENGTH }, conversationSchema('user')],
  });
