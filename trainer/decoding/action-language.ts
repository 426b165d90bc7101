/**
 * The texts that are valid completions: compact JSON {"actions":[...]} with at least one action, in one spelling. It
 * follows from the schemas of the actions (schemas/action.ts), so a new action or field is in it as soon as it is there.
 *
 * One spelling: no white space, keys in the order of the schema, numbers without an exponent. It is the teacher's, so that
 * what a policy has learned from it can be written. A drawing can be spelled in other ways too; those are left out, as are
 * edge cases that cost tokens and draw nothing new:
 * - coordinates have up to 5 digits before the point (the canvas takes up to 100,000) and 6 behind it
 * - texts are valid UTF-8 without control characters (but tabs and line breaks in labels), bidirectional overrides,
 *   U+FEFF and U+E000 to U+E03F, which the tokenizer keeps for itself: what is written is what the canvas keeps
 * - nothing follows `done`
 * What depends on the canvas (whether a shape exists) is not in the language.
 */
import { z } from 'zod';
import { Action, CORE_ACTION_TYPES, EDITOR_ACTION_TYPES, type ActionSet } from '../../schemas/action.ts';
import { alt, literal, many, mark, optional, range, seq, upTo, type Part } from './automaton.ts';

const ACTION_TYPES = { core: CORE_ACTION_TYPES, editor: EDITOR_ACTION_TYPES } as const;

/** All valid completions of an action set. What has to be followed by an action is marked, so that they can be counted. */
export function actionLanguage(actionSet: ActionSet): Part {
  const types: readonly string[] = ACTION_TYPES[actionSet];
  const schemas = Action.options.filter((schema) => types.includes(schema.shape.type.value));
  const [last, others] = [schemas.filter(endsEpisode), schemas.filter((schema) => !endsEpisode(schema))];
  const other = alt(...others.map(actionPart));
  const [begin, more, end] = [seq(literal('{"actions":['), mark), seq(literal(','), mark), literal(']}')];
  const all = seq(other, many(seq(more, other)));
  if (last.length === 0) return seq(begin, all, end);
  const done = alt(...last.map(actionPart));
  return seq(begin, alt(done, seq(all, optional(seq(more, done)))), end);
}

type ActionSchema = (typeof Action.options)[number];

/** Whether no action may follow this one. */
function endsEpisode(schema: ActionSchema): boolean {
  return schema.shape.type.value === 'done';
}

function actionPart(schema: ActionSchema): Part {
  const fields = Object.entries<z.core.$ZodType>(schema.shape).map(([key, field], i) => {
    const comma = i === 0 ? '' : ',';
    const isOptional = field instanceof z.ZodOptional;
    const value = fieldPart(key, isOptional ? field.unwrap() : field);
    const part = seq(literal(`${comma}${JSON.stringify(key)}:`), value);
    return isOptional ? optional(part) : part;
  });
  return seq(literal('{'), ...fields, literal('}'));
}

/** @throws Error for a kind of field this language has no words for yet */
function fieldPart(key: string, field: z.core.$ZodType): Part {
  if (field instanceof z.ZodLiteral) return literal(JSON.stringify(field.value));
  if (field instanceof z.ZodEnum) return alt(...field.options.map((option) => literal(JSON.stringify(option))));
  if (field instanceof z.ZodString) return field.minLength === null ? LABEL : NAME;
  if (field instanceof z.ZodNumber && field.maxValue === Infinity) return COORDINATE;
  if (field instanceof z.ZodNumber && field.maxValue === 1000) return LENGTH;
  if (field instanceof z.ZodArray) {
    const item = fieldPart(key, field.element);
    return seq(literal('['), optional(seq(item, many(seq(literal(','), item)))), literal(']'));
  }
  throw new Error(`the action language has no words for the field ${key}`);
}

// --------------------------------------------------------------------------------------------------------------- numbers

const DIGIT = range(0x30, 0x39);
const DIGIT_1_TO_9 = range(0x31, 0x39);
const MAX_DECIMALS = 6;

/** Up to `most` digits, the first of them no 0. */
function whole(most: number): Part {
  return most === 1 ? DIGIT_1_TO_9 : seq(DIGIT_1_TO_9, optional(upTo(most - 1, DIGIT)));
}

const DECIMALS = optional(seq(literal('.'), upTo(MAX_DECIMALS, DIGIT)));
/** A point and decimals of which one at least is no 0. */
const SOME_DECIMALS = seq(
  literal('.'),
  alt(
    ...Array.from({ length: MAX_DECIMALS }, (_, zeros) => {
      const more = MAX_DECIMALS - 1 - zeros;
      const end = more === 0 ? seq() : optional(upTo(more, DIGIT));
      return seq(...Array.from({ length: zeros }, () => literal('0')), DIGIT_1_TO_9, end);
    }),
  ),
);

/** -99999.999999 to 99999.999999 */
const COORDINATE = alt(
  seq(literal('0'), DECIMALS),
  seq(literal('-0'), SOME_DECIMALS),
  seq(optional(literal('-')), whole(5), DECIMALS),
);
/** Over 0 and at most 1000. */
const LENGTH = alt(seq(literal('0'), SOME_DECIMALS), seq(whole(3), DECIMALS), literal('1000'));

// ----------------------------------------------------------------------------------------------------------------- texts

/** A byte of UTF-8 behind the first one. */
const MORE = range(0x80, 0xbf);

/** Characters of an id or label as UTF-8 (Unicode 16, table 3-7), less those that the header names. */
const CHARACTER = alt(
  range(0x20, 0x21), // up to the quotation mark
  range(0x23, 0x5b), // up to the backslash
  range(0x5d, 0x7e),
  seq(literal('\\'), alt(literal('"'), literal('\\'))),
  seq(range(0xc2), range(0xa0, 0xbf)), // behind the C1 controls
  seq(range(0xc3, 0xdf), MORE),
  seq(range(0xe0), range(0xa0, 0xbf), MORE),
  seq(range(0xe1), MORE, MORE),
  seq(range(0xe2), range(0x80), alt(range(0x80, 0xa9), range(0xaf, 0xbf))), // without U+202A to U+202E
  seq(range(0xe2), range(0x81), alt(range(0x80, 0xa5), range(0xaa, 0xbf))), // without U+2066 to U+2069
  seq(range(0xe2), range(0x82, 0xbf), MORE),
  seq(range(0xe3, 0xec), MORE, MORE),
  seq(range(0xed), range(0x80, 0x9f), MORE), // without surrogates
  seq(range(0xee), range(0x81, 0xbf), MORE), // without U+E000 to U+E03F
  seq(range(0xef), range(0x80, 0xba), MORE),
  seq(range(0xef), range(0xbb), range(0x80, 0xbe)), // without U+FEFF
  seq(range(0xef), range(0xbc, 0xbf), MORE),
  seq(range(0xf0), range(0x90, 0xbf), MORE, MORE),
  seq(range(0xf1, 0xf3), MORE, MORE, MORE),
  seq(range(0xf4), range(0x80, 0x8f), MORE, MORE),
);

const NAME = seq(literal('"'), CHARACTER, many(CHARACTER), literal('"'));
const LABEL = seq(literal('"'), many(alt(CHARACTER, literal('\\n'), literal('\\t'))), literal('"'));
