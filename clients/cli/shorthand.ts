/** What a person types into `play`: JSON as a model would send it, or a short form of one action. */
import { closest, distance } from 'fastest-levenshtein';

export const SHORTHAND_HELP = [
  'rect ID X Y W H LABEL..      a shape (also ellipse, diamond, text); pixels, e.g. rect a 80 80 160 80 Web server',
  'A -> B LABEL..               an arrow',
  'move ID X Y   size ID W H    label ID TEXT..   delete ID   cut A B (its arrows)',
  '{"actions": [...]}           JSON, as a model sends it',
  'done                         ends the episode',
];

/** What a line stands for: a model's output, or what is wrong with it. */
export type Reading = { action: string } | { problem: string };

type Action = Record<string, unknown>;

/** A short form: the words that follow, in order (`N` are numbers, a last `..` takes all that is left), and its action. */
interface Form {
  readonly words: readonly string[];
  readonly toAction: (values: Readonly<Record<string, string | number>>) => Action;
}

const SHAPES: ReadonlyMap<string, string> = new Map([
  ['rect', 'rectangle'],
  ...['rectangle', 'ellipse', 'diamond', 'text'].map((name) => [name, name] as const),
]);

/** Words whose values are numbers. */
const NUMBERS = new Set(['X', 'Y', 'W', 'H']);

const toShapeForm = (shape: string): Form => ({
  words: ['ID', 'X', 'Y', 'W', 'H', 'LABEL..'],
  toAction: ({ ID, X, Y, W, H, LABEL }) => ({
    ...{ type: 'create_shape', id: ID, shape, x: X, y: Y, w: W, h: H, text: LABEL },
  }),
});

const FORMS: ReadonlyMap<string, Form> = new Map<string, Form>([
  ...[...SHAPES].map(([word, shape]) => [word, toShapeForm(shape)] as const),
  ['move', { words: ['ID', 'X', 'Y'], toAction: ({ ID, X, Y }) => ({ type: 'move_shape', id: ID, x: X, y: Y }) }],
  ['size', { words: ['ID', 'W', 'H'], toAction: ({ ID, W, H }) => ({ type: 'resize_shape', id: ID, w: W, h: H }) }],
  ['label', { words: ['ID', 'TEXT..'], toAction: ({ ID, TEXT }) => ({ type: 'set_text', id: ID, text: TEXT }) }],
  ['delete', { words: ['ID'], toAction: ({ ID }) => ({ type: 'delete_shape', id: ID }) }],
  ['cut', { words: ['A', 'B'], toAction: ({ A, B }) => ({ type: 'disconnect', from: A, to: B }) }],
  ['done', { words: [], toAction: () => ({ type: 'done' }) }],
]);

const ARROW: Form = {
  words: ['B', 'LABEL..'],
  toAction: ({ A, B, LABEL }) => ({ type: 'connect', from: A, to: B, text: LABEL }),
};

/** Reads what follows a form's first word. */
function readForm(usage: string, { words, toAction }: Form, given: readonly string[], known: Action = {}): Reading {
  const values: Record<string, string | number> = { ...(known as Record<string, string>) };
  for (const [i, word] of words.entries()) {
    const text = given[i];
    if (word.endsWith('..')) values[word.slice(0, -2)] = given.slice(i).join(' ');
    else if (text === undefined) return { problem: `${word} is missing: ${usage}` };
    else if (!NUMBERS.has(word)) values[word] = text;
    else if (!/^[+-]?(\d+\.?\d*|\.\d+)$/.test(text)) {
      return { problem: `${word} is a number, not ${JSON.stringify(text)}: ${usage}` };
    } else values[word] = Number(text);
  }
  const isOpen = words.at(-1)?.endsWith('..') ?? false;
  const extra = isOpen ? [] : given.slice(words.length);
  if (extra.length > 0) return { problem: `${JSON.stringify(extra.join(' '))} is too much: ${usage}` };
  return { action: JSON.stringify({ actions: [toAction(values)] }) };
}

/**
 * Reads a line that is not empty. JSON goes to the server as it is, which says what is wrong with it.
 * @param others Words that mean something else, to be named where the line is close to one of them.
 */
export function parseShorthand(line: string, others: readonly string[] = []): Reading {
  const text = line.trim();
  if (/^[{[`]/.test(text)) return { action: text };
  const [word = '', ...rest] = text.split(/\s+/);
  const form = FORMS.get(word);
  if (form) return readForm([word, ...form.words].join(' '), form, rest);
  if (rest[0] === '->') return readForm('A -> B LABEL..', ARROW, rest.slice(1), { A: word });
  const nearest = closest(word, [...FORMS.keys(), ...others]);
  const hint = distance(word, nearest) <= word.length / 2 ? `; the nearest one is ${nearest}` : '';
  return { problem: `${JSON.stringify(word)} is no command${hint}` };
}
