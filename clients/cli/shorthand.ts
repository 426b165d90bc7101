/** What a person types into `play`: JSON as a model would send it, or a short form of one action. */

export const SHORTHAND_HELP = [
  'rect ID X Y W H LABEL..      a shape (also ellipse, diamond, text); pixels, e.g. rect a 80 80 160 80 Web server',
  'A -> B LABEL..               an arrow',
  'move ID X Y   size ID W H    label ID TEXT..   delete ID   cut A B (its arrows)',
  '{"actions": [...]}           JSON, as a model sends it',
  'done                         ends the episode      quit   leaves without',
];

type Action = Record<string, unknown>;
type ToAction = (words: readonly string[]) => Action;

const SHAPES: ReadonlyMap<string, string> = new Map([
  ['rect', 'rectangle'],
  ...['rectangle', 'ellipse', 'diamond', 'text'].map((name) => [name, name] as const),
]);

/** Actions of the other words, from what follows the word. Numbers that are none become NaN and are refused below. */
const WORDS: ReadonlyMap<string, ToAction> = new Map<string, ToAction>([
  ['move', ([id, x, y]) => ({ type: 'move_shape', id, x: Number(x), y: Number(y) })],
  ['size', ([id, w, h]) => ({ type: 'resize_shape', id, w: Number(w), h: Number(h) })],
  ['label', ([id, ...text]) => ({ type: 'set_text', id, text: text.join(' ') })],
  ['delete', ([id]) => ({ type: 'delete_shape', id })],
  ['cut', ([from, to]) => ({ type: 'disconnect', from, to })],
  ['done', () => ({ type: 'done' })],
]);

function toAction(line: string): Action | undefined {
  const [word = '', ...rest] = line.split(/\s+/);
  const shape = SHAPES.get(word);
  if (shape !== undefined) {
    const [id, x, y, w, h, ...text] = rest;
    return {
      type: 'create_shape',
      id,
      shape,
      x: Number(x),
      y: Number(y),
      w: Number(w),
      h: Number(h),
      text: text.join(' '),
    };
  }
  if (rest[0] === '->') return { type: 'connect', from: word, to: rest[1], text: rest.slice(2).join(' ') };
  return WORDS.get(word)?.(rest);
}

/** A model's output for a line: JSON as it is, else the action it stands for; undefined where it is neither. */
export function parseShorthand(line: string): string | undefined {
  const text = line.trim();
  if (/^[{[`]/.test(text)) return text;
  const action = toAction(text);
  if (!action) return undefined;
  const isComplete = Object.values(action).every((value) => value !== undefined && !Number.isNaN(value));
  return isComplete ? JSON.stringify({ actions: [action] }) : undefined;
}
