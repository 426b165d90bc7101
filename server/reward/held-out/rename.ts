/**
 * An isomorphic renaming: the words of a task's labels become other words, in the task and in a drawing alike. A reward
 * that reads structure pays the same afterwards; what was earned by a label that only resembles the right one, or by
 * words that a reward knows by heart, is gone.
 *
 * A word is replaced where it stands whole, whatever its letter case, so a misspelt word stays as it is and no longer
 * resembles anything. A fresh word has as many letters, the same letter case, and nearly the same width: each letter
 * moves on within a class of letters that are about as wide (DejaVu Sans), each digit within the digits, each letter of
 * a Han, Kana, Hangul or Cyrillic text to its mirror image in that block. This maps words one to one, so equal labels
 * stay equal and different ones different. Left as they are: m and w, which no letter equals in width, and other
 * scripts.
 */
import type { Canvas } from '../../../schemas/canvas.ts';
import type { Expectation, ScoredTask } from '../../../schemas/task.ts';

export interface Renaming {
  /** The task with its labels and its prompt renamed. */
  readonly task: ScoredTask;
  readonly renameCanvas: (canvas: Canvas) => Canvas;
}

const WORD = /[\p{L}\p{M}\p{N}]+/gu;

/** Letters that are about as wide as each other. */
const CLASSES = ['aeo', 'bdgpq', 'hnu', 'ijl', 'kvxy', 'csz', 'frt', '0123456789'] as const;

/** First and last code point of blocks whose letters are of one width, or nearly so, and map to their mirror image. */
const BLOCKS = [
  [0x410, 0x42f], // Cyrillic capitals
  [0x430, 0x44f], // Cyrillic small letters, in the same order
  [0x3041, 0x3096], // Hiragana
  [0x30a1, 0x30fa], // Katakana
  [0x4e00, 0x9fff], // Han
  [0xac00, 0xd7a3], // Hangul
] as const;

/** Ways to choose fresh words; the first that makes no word which the task uses already is taken. */
const WAYS = [1, 2, 3, 4] as const;

const RENAMINGS = new WeakMap<ScoredTask, Renaming>();

/** The renaming of a task; remembered as long as the task itself is. */
export function renamingOf(task: ScoredTask & { expect: Expectation }): Renaming {
  let renaming = RENAMINGS.get(task);
  if (renaming === undefined) {
    renaming = prepare(task);
    RENAMINGS.set(task, renaming);
  }
  return renaming;
}

function prepare(task: ScoredTask & { expect: Expectation }): Renaming {
  const rename = chooseWords(task);
  const { nodes, edges } = task.expect;
  const expect: Expectation = {
    nodes: nodes.map((node) => ({
      ...node,
      label: rename(node.label),
      ...(node.aliases && { aliases: node.aliases.map(rename) }),
    })),
    edges: edges.map((edge) => ({ ...edge, ...(edge.label !== undefined && { label: rename(edge.label) }) })),
  };
  const { prompt, canvas, direction, allowed_extras } = task;
  const renamed = { prompt: rename(prompt), canvas, direction, allowed_extras: allowed_extras?.map(rename), expect };
  return {
    task: renamed,
    renameCanvas: ({ shapes, arrows }) => ({
      shapes: shapes.map((shape) => ({ ...shape, text: rename(shape.text) })),
      arrows: arrows.map((arrow) => ({ ...arrow, text: rename(arrow.text) })),
    }),
  };
}

const wordsOf = (text: string): string[] => (text.match(WORD) ?? []).map((word) => word.toLowerCase());

/** A function that renames the words of the task's labels in any text. */
function chooseWords({ prompt, expect, allowed_extras = [] }: ScoredTask & { expect: Expectation }) {
  const labels = [
    ...expect.nodes.flatMap(({ label, aliases = [] }) => [label, ...aliases]),
    ...expect.edges.flatMap(({ label = '' }) => label),
    ...allowed_extras,
  ];
  const words = new Set(labels.flatMap(wordsOf));
  const used = new Set([...words, ...wordsOf(prompt)]);
  const isFresh = (way: number): boolean =>
    [...words].every((word) => {
      const fresh = toFreshWord(word, way);
      return fresh === word || !used.has(fresh);
    });
  const way = WAYS.find(isFresh) ?? WAYS[0];
  return (text: string): string =>
    text.replace(WORD, (word) => (words.has(word.toLowerCase()) ? toFreshWord(word, way) : word));
}

/** A word of the same length and letter case; `way` (from 1) says how far each letter moves. */
export function toFreshWord(word: string, way: number): string {
  return word.replace(/./gsu, (letter) => {
    const lower = letter.toLowerCase();
    const members = CLASSES.find((some) => some.includes(lower));
    if (members !== undefined) {
      const step = 1 + ((way - 1) % (members.length - 1));
      const fresh = members[(members.indexOf(lower) + step) % members.length]!;
      return letter === lower ? fresh : fresh.toUpperCase();
    }
    const code = letter.codePointAt(0)!;
    const block = BLOCKS.find(([first, last]) => code >= first && code <= last);
    return block === undefined ? letter : String.fromCodePoint(block[0] + block[1] - code);
  });
}
