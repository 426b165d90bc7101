/**
 * Faults found while parsing: stable codes, and texts that tell a model what to change. Style `article` uses the
 * article's words alone; style `lenient` adds where the fault is and what to write instead.
 */
import type { ActionError } from '../../schemas/reward.ts';
import type { JsonFault } from './json-reader.ts';
import { MAX_COMPLETION_LENGTH, MAX_DEPTH } from './limits.ts';
import type { Style } from './types.ts';

const SHAPE_OF_ANSWER = 'answer with one JSON object {"actions": [...]}';

const TEXTS = {
  no_json: { article: 'model output does not contain JSON', hint: SHAPE_OF_ANSWER },
  missing_actions: { article: 'missing actions array', hint: SHAPE_OF_ANSWER },
  empty_actions: { article: 'actions array is empty', hint: 'send at least one action' },
  action_not_object: { article: 'each action must be an object', hint: 'write {"type": ...} for each one' },
} as const;

export type SimpleParseFault = keyof typeof TEXTS;

export function parseError(code: SimpleParseFault, style: Style): ActionError {
  const { article, hint } = TEXTS[code];
  return { code, message: style === 'article' ? article : `${article}: ${hint}` };
}

export function tooManyActions(count: number, limit: number, style: Style): ActionError {
  const message = 'too many actions';
  return {
    code: 'too_many_actions',
    message: style === 'article' ? message : `${message} (${count} > ${limit}): send at most ${limit}`,
  };
}

/** @param length Of a text; a value is not measured further than to the limit. */
export function completionTooLong(length?: number): ActionError {
  const excess = length === undefined ? 'over' : `${length} >`;
  return {
    code: 'completion_too_long',
    message: `completion too long (${excess} ${MAX_COMPLETION_LENGTH} characters): send only the JSON object`,
  };
}

export function nestedTooDeep(): ActionError {
  return {
    code: 'nested_too_deep',
    message: `nested too deep: at most ${MAX_DEPTH} levels of objects and lists; an action has flat fields only`,
  };
}

export function cutOff(): ActionError {
  return {
    code: 'truncated',
    message: 'the text ends inside the JSON, before the first action is complete: send a shorter answer',
  };
}

const REMEDIES: Readonly<Record<JsonFault, string>> = {
  raw_line_break: 'a string holds a raw line break; write \\n instead',
  raw_control_character: 'a string holds a raw control character; write it as an escape such as \\t, or leave it out',
  bad_escape: 'a backslash starts no JSON escape; write \\\\ for a backslash',
  bad_number: 'not a JSON number; write digits such as 40 or 40.5',
  not_finite_literal: 'NaN and Infinity are not JSON; write a finite number',
  trailing_comma: 'remove the comma before the closing bracket',
  single_quote: 'strings and keys stand in double quotes, not in single ones',
  key_expected: 'a key in double quotes must follow here; remove comments and trailing commas',
  colon_expected: 'a colon must follow the key',
  comma_expected: 'a comma or the closing bracket must follow here; inside a string, write a double quote as \\"',
  value_expected: 'a value must follow here; put texts in double quotes and remove comments',
};

/** JSON that breaks at a place, `at` counted in UTF-16 code units from the start of the completion. */
export function invalidJson(text: string, at: number, fault: JsonFault): ActionError {
  const before = text.slice(0, at);
  const line = before.split('\n').length;
  const column = at - before.lastIndexOf('\n');
  const code = fault === 'raw_line_break' ? 'raw_line_break' : 'invalid_json';
  return { code, message: `invalid JSON at line ${line}, column ${column}: ${REMEDIES[fault]}` };
}

/** The article's own words where the cut from the first `{` to the last `}` is not JSON. */
export const ARTICLE_INVALID_JSON: ActionError = { code: 'invalid_json', message: 'invalid JSON' };
