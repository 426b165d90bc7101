/**
 * One generated task: `(split, family, level, index)` -> graph, labels, prompt, canvas. Pure, and independent of every
 * other task. The four draw from streams of their own, so that e.g. a new wording moves no label.
 * Left out: self-loops, which `connect` refuses to draw.
 */
import { createRng, hash64, type Rng } from '../../schemas/seed.ts';
import type { Expectation, Family, Level, Split, Task } from '../../schemas/task.ts';
import { drawStructure, type Structure } from './families.ts';
import { drawLabels, type LabelStyle } from './labels.ts';
import { vocabularyOf } from './lexicon.ts';
import { FAMILY_NOUNS, listTemplatesOf } from './prompts.ts';
import { ownerOf, sizeOf } from './splits.ts';
import { wlHash } from './wl-hash.ts';

export const SUITE_VERSION = 1;

/** Re-draws until a graph belongs to its split. Each succeeds more than once in a hundred times, so this never ends. */
const MAX_ATTEMPTS = 20_000;

export interface Cell {
  split: Exclude<Split, 'test_real'>;
  family: Family;
  level: Level;
}

interface LabelledStructure extends Structure {
  labels: string[];
}

const labelStyle = (level: Level): LabelStyle => ({ one_word: 0.6, share_words: level >= 3 });

/** Draws graphs until one belongs to the cell's split and, in a split of fixed size, to this index. */
function drawOwnedGraph(cell: Cell, index: number, graphRng: Rng, labelRng: Rng): LabelledStructure {
  const vocabulary = vocabularyOf(cell.split);
  const wanted = cell.split === 'train' ? undefined : { size: sizeOf(cell.split), index };
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const structure = drawStructure(graphRng, cell.family, cell.level);
    const labels = drawLabels(labelRng, vocabulary, structure.parts, labelStyle(cell.level), wanted);
    if (!labels) continue;
    const edges = structure.links.map((link) => ({ ...link, directed: structure.directed }));
    if (ownerOf(wlHash({ labels, edges })) === cell.split) return { ...structure, labels };
  }
  throw new Error(`no graph for ${cell.split}.${cell.family}.${cell.level}.${index} in ${MAX_ATTEMPTS} draws`);
}

function toExpectation(graph: LabelledStructure): Expectation {
  const id = (position: number): string => `n${position + 1}`;
  return {
    nodes: graph.labels.map((label, i) => ({ id: id(i), label })),
    edges: graph.links.map(({ from, to }) => ({
      from: id(from),
      to: id(to),
      ...(graph.directed ? {} : { directed: false }),
    })),
  };
}

function writePrompt(cell: Cell, graph: LabelledStructure, rng: Rng): string {
  return rng.pick(listTemplatesOf(cell.split))({
    noun: FAMILY_NOUNS[cell.family],
    boxes: graph.labels.join(', '),
    links: graph.links.map(({ from, to }) => `${graph.labels[from]!} to ${graph.labels[to]!}`),
    word: graph.directed ? 'Arrows' : 'Lines',
  });
}

export function generateTask(cell: Cell, index: number): Task {
  const { split, family, level } = cell;
  const seed = hash64(SUITE_VERSION, split, family, level, index);
  const stream = (name: string): Rng => createRng(hash64(seed, name));
  const graph = drawOwnedGraph(cell, index, stream('graph'), stream('labels'));
  return {
    task_id: `${split}.${family}.${level}.${index}`,
    suite_version: SUITE_VERSION,
    split,
    family,
    level,
    seed: seed.toString(),
    prompt: writePrompt(cell, graph, stream('prompt')),
    canvas: { w: 1200, h: 800 },
    expect: toExpectation(graph),
  };
}
