/**
 * Mermaid flowchart of a canvas (https://mermaid.js.org/syntax/flowchart.html). Mermaid lays nodes out itself, so only
 * the main direction of the arrows is kept of the layout; ids are numbered, since Mermaid allows few characters in one.
 */
import type { ShapeKind } from '../../schemas/action.ts';
import type { Arrow, Canvas, Shape } from '../../schemas/canvas.ts';
import { cleanLabel } from './escape.ts';
import { centre } from './geometry.ts';
import { safeShape } from './scene.ts';

const BRACKETS: Readonly<Record<ShapeKind, readonly [string, string]>> = {
  rectangle: ['[', ']'],
  ellipse: ['([', '])'],
  diamond: ['{', '}'],
  text: ['[', ']'],
};

export function toMermaid(canvas: Canvas): string {
  const names = new Map(canvas.shapes.map(({ id }, i) => [id, `n${i + 1}`]));
  return [
    `flowchart ${mainDirection(canvas)}`,
    ...canvas.shapes.map((shape, i) => `  n${i + 1}${node(shape)}`),
    ...canvas.arrows.flatMap((arrow) => edge(arrow, names)),
    ...canvas.shapes.flatMap(({ shape }, i) => (shape === 'text' ? [`  style n${i + 1} fill:none,stroke:none`] : [])),
    '',
  ].join('\n');
}

function node({ shape, text }: Shape): string {
  const [open, close] = BRACKETS[shape];
  return `${open}${quoted(text)}${close}`;
}

function edge({ from, to, text }: Arrow, names: ReadonlyMap<string, string>): string[] {
  const start = names.get(from);
  const end = names.get(to);
  if (start === undefined || end === undefined) return [];
  return [`  ${start} -->${cleanLabel(text).trim() === '' ? '' : `|${quoted(text)}|`} ${end}`];
}

/**
 * A label in double quotes. ASCII characters that could mean something to Mermaid (quotes, entities, directives, Markdown,
 * HTML) become entity codes: https://mermaid.js.org/syntax/flowchart.html#entity-codes-to-escape-characters
 */
function quoted(text: string): string {
  const label = cleanLabel(text).trim();
  if (label === '') return '" "';
  const lines = label.split(/\r\n|[\n\r]/).map((line) => {
    const flat = line.replace(/\t/g, ' ');
    return flat.replace(/[!-~]/g, (character) =>
      /[\w.,:()?+='/-]/.test(character) && character !== '_' ? character : `#${character.charCodeAt(0)};`,
    );
  });
  return `"${lines.join('<br/>')}"`;
}

/** The direction most arrows point in: TD down, LR right, BT up, RL left; TD for none. */
function mainDirection({ shapes, arrows }: Canvas): string {
  const centres = new Map(shapes.map((shape) => [shape.id, centre(safeShape(shape))]));
  const votes = { TD: 0, LR: 0, BT: 0, RL: 0 };
  for (const { from, to } of arrows) {
    const dx = (centres.get(to)?.x ?? 0) - (centres.get(from)?.x ?? 0);
    const dy = (centres.get(to)?.y ?? 0) - (centres.get(from)?.y ?? 0);
    if (Math.abs(dy) >= Math.abs(dx)) votes[dy < 0 ? 'BT' : 'TD'] += dy === 0 ? 0 : 1;
    else votes[dx < 0 ? 'RL' : 'LR']++;
  }
  const most = Math.max(...Object.values(votes));
  return Object.entries(votes).find(([, count]) => count === most)![0];
}
