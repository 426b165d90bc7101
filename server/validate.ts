/** Checks requests against the schemas of the route table, and turns each fault into a sentence that says what to change. */
import { z } from 'zod';
import type { ErrorCode, ErrorDetail } from '../schemas/error.ts';
import { ApiError, suggest, toPath, type Place } from './errors.ts';

type Issue = z.core.$ZodIssue;

/** Longest input that is repeated to the caller, characters of JSON. */
const MAX_ECHO = 60;
/** Most faults a refusal lists, and longest key in the place of one. */
const MAX_DETAILS = 100;
const MAX_KEY_LENGTH = 200;

function valueAt(input: unknown, path: Place): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | null | undefined)?.[key], input);
}

function echo(value: unknown): Pick<ErrorDetail, 'input'> {
  const isScalar = value === null || ['string', 'number', 'boolean'].includes(typeof value);
  if (!isScalar || JSON.stringify(value).length > MAX_ECHO || Number.isNaN(value)) return {};
  return Number.isFinite(value) || typeof value !== 'number'
    ? { input: value as string | number | boolean | null }
    : {};
}

/** The field of a schema at a path, through optional, nullable and list wrappers. */
function schemaAt(schema: z.core.$ZodType, path: Place): z.core.$ZodType | undefined {
  let at: z.core.$ZodType | undefined = schema;
  const unwrap = (): void => {
    while (at instanceof z.ZodOptional || at instanceof z.ZodNullable) at = at.unwrap();
  };
  unwrap();
  for (const key of path) {
    if (at instanceof z.ZodObject) at = (at.shape as Record<string, z.core.$ZodType>)[String(key)];
    else if (at instanceof z.ZodArray) at = at.element;
    else return undefined;
    unwrap();
  }
  return at;
}

/** Fields that other parts of this project call by another name. */
const OTHER_NAMES: Readonly<Record<string, string>> = { preset: 'reward' };

function hintFor(key: string, known: readonly string[]): string {
  const other = OTHER_NAMES[key];
  if (other !== undefined && known.includes(other)) return `; did you mean "${other}"?`;
  return suggest(key, [...known]) || `; known are ${known.join(', ')}`;
}

function unknownKeys(issue: z.core.$ZodIssueUnrecognizedKeys, schema: z.core.$ZodType, place: Place): ErrorDetail[] {
  const owner = schemaAt(schema, issue.path as Place);
  const known = owner instanceof z.ZodObject ? Object.keys(owner.shape) : [];
  return issue.keys.slice(0, 20).map((key) => ({
    type: 'unknown_key',
    loc: [...place, key.slice(0, MAX_KEY_LENGTH)],
    msg: `unknown field ${JSON.stringify(key.slice(0, MAX_ECHO))}${hintFor(key, known)}`,
  }));
}

/** The closed set a value had to be in, also where it is a union of literals. */
function allowedValues(issue: Issue): unknown[] | undefined {
  if (issue.code === 'invalid_value') return issue.values;
  if (issue.code !== 'invalid_union') return undefined;
  const sets = issue.errors.map((errors) => (errors[0] ? allowedValues(errors[0]) : undefined));
  return sets.length > 0 && sets.every((set) => set !== undefined) ? sets.flat() : undefined;
}

const KIND_NAMES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

const kindName = (kind: string): string => KIND_NAMES[kind] ?? kind;

function kindOf(value: unknown): string {
  if (value === Infinity || value === -Infinity) return 'one too large for a double';
  return kindName(value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);
}

const SIZE_UNITS: Readonly<Record<string, string>> = { string: ' characters long', array: ' items long' };

function explainSize(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig): string {
  const unit = SIZE_UNITS[issue.origin] ?? '';
  if (issue.code === 'too_big')
    return `must be ${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}${unit}`;
  return `must be ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}${unit}`;
}

function explain(issue: Issue, value: unknown): string {
  if (issue.code === 'invalid_type') return `must be ${kindName(issue.expected)}, not ${kindOf(value)}`;
  if (issue.code === 'too_small' || issue.code === 'too_big') return explainSize(issue);
  const values = allowedValues(issue);
  if (!values) return issue.message;
  const hint = suggest(
    value,
    values.filter((item) => typeof item === 'string'),
  );
  return `must be one of ${values.map(String).join(', ')}${hint}`;
}

function toDetails(issue: Issue, schema: z.core.$ZodType, from: string, input: unknown): ErrorDetail[] {
  const place = [from, ...(issue.path as Place)];
  if (issue.code === 'unrecognized_keys') return unknownKeys(issue, schema, place);
  const value = valueAt(input, issue.path as Place);
  if (value === undefined) return [{ type: 'missing', loc: place, msg: 'Field required' }];
  return [
    {
      type: issue.code === 'custom' ? 'invalid_value' : issue.code,
      loc: place,
      msg: explain(issue, value),
      ...echo(value),
    },
  ];
}

function codeOf(issue: Issue | undefined): ErrorCode {
  return issue?.code === 'custom' && issue.params?.['code'] === 'bad_seed' ? 'bad_seed' : 'invalid_request';
}

/** A field that is unknown first: where it is a mistyped one, it also says why another is missing. */
function unknownFirst(issues: readonly Issue[]): Issue[] {
  const isUnknown = ({ code }: Issue): boolean => code === 'unrecognized_keys';
  return [...issues.filter(isUnknown), ...issues.filter((issue) => !isUnknown(issue))];
}

/**
 * The valid request, typed.
 * @param from Where the input stands: `body`, `query` or `path`.
 * @throws ApiError invalid_request (or the code a field's own check names) with every fault.
 */
export function validate<S extends z.ZodType>(schema: S, input: unknown, from: string): z.output<S> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const issues = unknownFirst(result.error.issues).slice(0, MAX_DETAILS);
  const details = issues.flatMap((issue) => toDetails(issue, schema, from, input)).slice(0, MAX_DETAILS);
  const first = details[0]!;
  const more = details.length > 1 ? ` (and ${details.length - 1} more: see detail)` : '';
  const subject = first.type === 'unknown_key' ? toPath(first.loc.slice(0, -1)) : toPath(first.loc);
  throw new ApiError(codeOf(issues[0]), `${subject}: ${first.msg}${more}`, { details });
}

/** Query texts as the values they stand for: digits are numbers. */
export function parseQuery(query: Readonly<Record<string, string>>): Record<string, unknown> {
  const isNumber = (text: string): boolean => /^-?\d{1,16}$/.test(text);
  return Object.fromEntries(Object.entries(query).map(([key, text]) => [key, isNumber(text) ? Number(text) : text]));
}
