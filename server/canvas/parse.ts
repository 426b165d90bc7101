/**
 * Completion -> actions. A completion is text, or a value that the caller has parsed already.
 *
 * Style `article` (article.md): parse the whole text; if that fails, parse from the first `{` to the last `}`.
 *
 * Style `lenient`, one rule:
 * 1. White space, a byte order mark and zero-width characters around the text are dropped.
 * 2. If the rest is JSON, it is the answer: outcome `strict`, or `extracted` for a bare list of actions.
 * 3. Else the text is searched from left to right (extract.ts) for complete objects and lists outside of each other,
 *    and the LAST complete object with an `actions` array is the answer; without one, the last list of objects is.
 *    Outcome `extracted`. Answers are never merged, and never tried out to keep the best.
 * 4. If the text ends inside the answer, its complete actions are executed, never a half-written one, and a complete
 *    object with `actions` before it comes first. Outcome `repaired`, `truncated` in info. A `finish_reason` of
 *    `length` has the same outcome even where the JSON is complete.
 * Nothing else is repaired: a raw line break in a string, a comment, a trailing comma or NaN is a fault with its place.
 *
 * Both styles then check, in order: an object; an `actions` array; not empty; not too long; every item an object.
 * Beyond article.md, both refuse text over MAX_COMPLETION_LENGTH, values as long, and values nested deeper than MAX_DEPTH.
 */
import { isObject } from '../../schemas/json.ts';
import type { ActionError, ParseInfo } from '../../schemas/reward.ts';
import { extract, type Extraction, weight } from './extract.ts';
import type { Reading } from './json-reader.ts';
import { MAX_COMPLETION_LENGTH } from './limits.ts';
import { countKeys, hidesKeys, isLongerThan, TOO_DEEP } from './measure.ts';
import {
  ARTICLE_INVALID_JSON,
  completionTooLong,
  cutOff,
  invalidJson,
  nestedTooDeep,
  parseError,
  tooManyActions,
} from './parse-errors.ts';
import type { ParseOptions, ParseResult, RawAction, Style } from './types.ts';

export type { ParseOptions, ParseResult } from './types.ts';

/** Where the JSON was found; `value` is undefined when there is none, and `error` then says why. */
interface Found {
  value?: unknown;
  error?: ActionError;
  info: ParseInfo;
}

/** Never throws; every fault of the completion is an error in the result. */
export function parseCompletion(completion: unknown, options: ParseOptions): ParseResult {
  const { value, error, info } =
    typeof completion === 'string' ? findInText(completion, options) : findInValue(completion, options);
  if (error !== undefined) return { actions: null, errors: [error], info };
  const list = listIn(value, options.style);
  const fault = checkList(list, options);
  if (list === undefined || fault !== undefined) return { actions: null, errors: fault ? [fault] : [], info };
  return { actions: list as RawAction[], errors: [], info };
}

/** Whether the article's rules 1 and 2 find JSON in the completion, whatever it says. */
export function isArticleJson(completion: unknown): boolean {
  return parseCompletion(completion, { style: 'article', max_actions: 1 }).info.outcome !== 'none';
}

function findInText(completion: string, options: ParseOptions): Found {
  if (completion.length > MAX_COMPLETION_LENGTH) return none(completionTooLong(completion.length));
  return options.style === 'article' ? findAsArticle(completion) : findLeniently(completion, options);
}

function none(error: ActionError, candidates = 0, truncated = false): Found {
  return { error, info: { outcome: 'none', candidates, truncated, duplicate_keys: false } };
}

/** The value of a text, or undefined when it is not JSON (JSON itself has no undefined). */
function tryJson(text: string): unknown {
  if (!hasJsonEnds(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** False for most texts that are not JSON, such as prose or a cut object, without the cost of an exception. */
function hasJsonEnds(text: string): boolean {
  let first = 0;
  while (isJsonSpace(text.charCodeAt(first))) first++;
  let last = text.length - 1;
  while (last > first && isJsonSpace(text.charCodeAt(last))) last--;
  const open = text[first];
  if (open === '{') return text[last] === '}';
  if (open === '[') return text[last] === ']';
  return open !== undefined && '"-0123456789tfn'.includes(open);
}

function isJsonSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}

/** Checks depth and repeated keys of JSON text, and says how it was found. */
function found(text: string, value: unknown, info: Omit<ParseInfo, 'duplicate_keys'>): Found {
  const keys = countKeys(value);
  if (keys === TOO_DEEP) return none(nestedTooDeep(), info.candidates, info.truncated);
  const { outcome, candidates, truncated } = info;
  return { value, info: { outcome, candidates, truncated, duplicate_keys: hidesKeys(text, keys) } };
}

function findAsArticle(completion: string): Found {
  const whole = tryJson(completion);
  if (whole !== undefined) return found(completion, whole, { outcome: 'strict', candidates: 1, truncated: false });
  const start = completion.indexOf('{');
  const end = completion.lastIndexOf('}');
  if (start < 0 || end <= start) return none(parseError('no_json', 'article'));
  const slice = completion.slice(start, end + 1);
  const value = tryJson(slice);
  if (value === undefined) return none(ARTICLE_INVALID_JSON);
  return found(slice, value, { outcome: 'extracted', candidates: 1, truncated: false });
}

function findLeniently(completion: string, options: ParseOptions): Found {
  const { text, offset } = trimInvisible(completion);
  const truncated = options.finish_reason === 'length';
  const whole = tryJson(text);
  if (whole !== undefined)
    return found(text, whole, { outcome: outcomeOf(whole, truncated), candidates: 1, truncated });
  const extraction = extract(text);
  if (extraction.too_deep) return none(nestedTooDeep(), extraction.candidates, truncated);
  return chooseAnswer(text, extraction, truncated) ?? reportFault(completion, offset, extraction, truncated);
}

function outcomeOf(value: unknown, truncated: boolean): ParseInfo['outcome'] {
  if (truncated) return 'repaired';
  return Array.isArray(value) ? 'extracted' : 'strict';
}

function chooseAnswer(text: string, extraction: Extraction, lengthReached: boolean): Found | undefined {
  const { envelope, list, cut, candidates } = extraction;
  const cutAnswer = cut !== undefined && (cut.envelope || cut.items_end >= 0);
  const truncated = lengthReached || cutAnswer;
  const answer = envelope ?? (cut?.envelope === true && cut.items_end >= 0 ? cut : undefined) ?? list ?? cut;
  const json = answer && jsonOf(text, answer);
  if (json === undefined) return undefined;
  return found(json, JSON.parse(json), { outcome: truncated ? 'repaired' : 'extracted', candidates, truncated });
}

/** The text of a complete value, or of a cut one closed behind its last complete action. */
function jsonOf(text: string, reading: Reading): string | undefined {
  if (reading.status === 'complete') return text.slice(reading.start, reading.end);
  if (reading.items_end < 0) return undefined;
  return text.slice(reading.start, reading.items_end) + (reading.kind === 'list' ? ']' : ']}');
}

function reportFault(completion: string, offset: number, extraction: Extraction, lengthReached: boolean): Found {
  const { candidates, cut, fault } = extraction;
  if (fault?.fault !== undefined && (fault.envelope || (candidates === 0 && weight(fault) >= weight(cut))))
    return none(invalidJson(completion, fault.end + offset, fault.fault), candidates, lengthReached);
  if (cut !== undefined) return none(cutOff(), candidates, true);
  return none(parseError(candidates > 0 ? 'missing_actions' : 'no_json', 'lenient'), candidates, lengthReached);
}

function trimInvisible(text: string): { text: string; offset: number } {
  let start = 0;
  let end = text.length;
  while (start < end && isInvisible(text.charCodeAt(start))) start++;
  while (end > start && isInvisible(text.charCodeAt(end - 1))) end--;
  return { text: start === 0 && end === text.length ? text : text.slice(start, end), offset: start };
}

/** White space, ASCII control characters, U+200B to U+200D, U+2060 (word joiner) and U+FEFF (byte order mark). */
function isInvisible(code: number): boolean {
  if (code <= 32) return true;
  if (code < 0xa0) return false;
  return (code >= 0x200b && code <= 0x200d) || code === 0x2060 || String.fromCharCode(code).trim() === '';
}

function findInValue(value: unknown, options: ParseOptions): Found {
  if (typeof value !== 'object') return none(parseError('no_json', options.style));
  if (countKeys(value) === TOO_DEEP) return none(nestedTooDeep());
  if (isLongerThan(value, MAX_COMPLETION_LENGTH)) return none(completionTooLong());
  const lenient = options.style === 'lenient';
  const truncated = lenient && options.finish_reason === 'length';
  const outcome = lenient ? outcomeOf(value, truncated) : 'strict';
  return { value, info: { outcome, candidates: 1, truncated, duplicate_keys: false } };
}

/** The first fault of a list of actions, in the article's order. */
function checkList(actions: readonly unknown[] | undefined, options: ParseOptions): ActionError | undefined {
  const { style, max_actions: limit } = options;
  if (actions === undefined) return parseError('missing_actions', style);
  if (actions.length === 0) return parseError('empty_actions', style);
  if (actions.length > limit) return tooManyActions(actions.length, limit, style);
  for (const action of actions) if (!isObject(action)) return parseError('action_not_object', style);
  return undefined;
}

function listIn(value: unknown, style: Style): unknown[] | undefined {
  if (Array.isArray(value)) return style === 'lenient' ? (value as unknown[]) : undefined;
  const actions = isObject(value) ? value['actions'] : undefined;
  return Array.isArray(actions) ? (actions as unknown[]) : undefined;
}
