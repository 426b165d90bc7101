/**
 * What takes the place of an expectation where a task has none: the prompt's important words, as in preset `article`.
 *
 * node: share of them that labels of visible shapes hold. edge: share of arrows that join two such shapes, times share
 * of such shapes that have one. 0.5 for both where the prompt has no important word. A label is an extra where another
 * shape has the same one, and stuffed where it holds half of the words or more, and at least four.
 */
import { importantWords, wordsOf } from '../words.ts';
import { freeTitle } from './structure.ts';
import type { Link } from './match.ts';
import type { SeenShape } from './visibility.ts';

const NO_WORDS = 0.5;
const LEAST_STUFFED_WORDS = 4;

export interface PromptMatch {
  readonly node: number;
  readonly edge: number;
  readonly missing: readonly string[];
  /** Number of different labels, and shapes whose label another one has already. */
  readonly labels: number;
  readonly repeated: readonly number[];
  readonly stuffed: readonly SeenShape[];
  readonly title: number;
}

export function comparePrompt(prompt: string, shapes: readonly SeenShape[], links: readonly Link[]): PromptMatch {
  const important = importantWords(prompt);
  const held = shapes.map(({ text, vis }) => (vis === 0 ? [] : importantOf(text, important)));
  const found = new Set(held.flat());
  const first = new Set<string>();
  const repeated = shapes.flatMap(({ label, labelled, index }) => {
    const isNew = labelled && !first.has(label.text);
    if (isNew) first.add(label.text);
    return isNew ? [] : [index];
  });
  return {
    node: important.size === 0 ? NO_WORDS : found.size / important.size,
    edge: important.size === 0 ? NO_WORDS : joinedShare(held, links),
    missing: [...important].filter((word) => !found.has(word)),
    labels: first.size,
    repeated,
    stuffed: shapes.filter(({ text }) => isStuffed(importantOf(text, important).length, important.size)),
    title: freeTitle(shapes, links),
  };
}

const importantOf = (text: string, important: ReadonlySet<string>): string[] => [
  ...new Set(wordsOf(text).filter((word) => important.has(word))),
];

const isStuffed = (held: number, words: number): boolean => held >= Math.max(LEAST_STUFFED_WORDS, words / 2);

function joinedShare(held: readonly (readonly string[])[], links: readonly Link[]): number {
  const named = held.filter((words) => words.length > 0).length;
  const joining = links.filter(({ from, to }) => held[from]!.length > 0 && held[to]!.length > 0);
  if (joining.length === 0) return 0;
  const joined = new Set(joining.flatMap(({ from, to }) => [from, to]));
  return (joining.length / links.length) * (joined.size / named);
}
