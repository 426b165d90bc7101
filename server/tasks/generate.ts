/**
 * One generated task: `(split, family, level, index)` -> graph, labels, prompt, canvas. Pure, and independent of every
 * other task. The four draw from streams of their own, so that e.g. a new wording moves no label.
 */
import { createRng, hash64, type Rng } from '../../schemas/seed.ts';
import type { Direction, Level, Task } from '../../schemas/task.ts';
import { drawCanvas } from './canvas-size.ts';
import { drawStructure, type Structure } from './families.ts';
import { shuffleStructure, toExpectation, type TaskGraph } from './graph.ts';
import { drawLabels, type LabelStyle, type Twist } from './labels.ts';
import { vocabularyOf, type Domain } from './lexicon.ts';
import { wordingsOf } from './prompts/wordings.ts';
import { writePrompt } from './prompts/write.ts';
import { drawShapes } from './shapes.ts';
import { fitsIndex, ownerOf, type Cell } from './splits.ts';
import { wlHash } from './wl-hash.ts';

export const SUITE_VERSION = 1;

/** Graphs tried for an item, and labels tried for a graph. */
const MAX_ATTEMPTS = 1000;
const MAX_LABEL_ATTEMPTS = 600;

interface Drawn {
  structure: Structure;
  labels: string[];
  domain: Domain;
}

const TWISTS: readonly Twist[] = ['long', 'script', 'duplicate'];

function drawLabelStyle(level: Level, rng: Rng): LabelStyle {
  if (level <= 3) return { one_word: level === 1 ? 0.85 : 0.5, share_words: level === 3 };
  return { one_word: 0.4, share_words: true, twist: rng.pick(TWISTS) };
}

/** Two boxes with one label must not be linked: a prompt could not tell the ends apart in plain words. */
function linksEqualLabels({ links }: Structure, labels: readonly string[]): boolean {
  return links.some(({ from, to }) => labels[from] === labels[to]);
}

/** Labels for a structure, drawn until they fit the item's index; undefined when that takes too long. */
function drawFittingLabels(cell: Cell, index: number, { parts }: Structure, style: LabelStyle, rng: Rng) {
  const vocabulary = vocabularyOf(cell.split);
  for (let attempt = 0; attempt < MAX_LABEL_ATTEMPTS; attempt++) {
    const drawn = drawLabels(rng, vocabulary, parts, style);
    if (drawn && fitsIndex(cell, index, drawn.hash)) return drawn;
  }
  return undefined;
}

/** Draws graphs until one belongs to the cell's split and, in a split of fixed size, to this index. */
function drawOwnedGraph(cell: Cell, index: number, graphRng: Rng, labelRng: Rng): Drawn {
  const style = drawLabelStyle(cell.level, labelRng);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const structure = drawStructure(graphRng, cell.family, cell.level);
    const drawn = drawFittingLabels(cell, index, structure, style, labelRng);
    if (!drawn || linksEqualLabels(structure, drawn.labels)) continue;
    const edges = structure.links.map((link) => ({ ...link, directed: structure.directed }));
    if (ownerOf(wlHash({ labels: drawn.labels, edges })) !== cell.split) continue;
    return { structure, labels: drawn.labels, domain: drawn.domain };
  }
  throw new Error(`no graph for ${cell.split}.${cell.family}.${cell.level}.${index} in ${MAX_ATTEMPTS} draws`);
}

const DIRECTION_SHARE = 0.6;
const DIRECTIONS: readonly Direction[] = ['right', 'right', 'right', 'down', 'down', 'down', 'left', 'up'];

/** The reading direction a prompt asks for: from level 3 on, in three tasks of five. */
function drawDirection(level: Level, rng: Rng): Direction | undefined {
  return level >= 3 && rng.next() < DIRECTION_SHARE ? rng.pick(DIRECTIONS) : undefined;
}

/** Puts shapes and direction on the drawn graph; from level 4 on the prompt's order differs from the reading order. */
function toTaskGraph(cell: Cell, { structure, labels }: Drawn, rng: Rng): TaskGraph {
  const { family, level } = cell;
  const shapes = level >= 3 ? drawShapes(rng, family, structure) : [];
  const direction = drawDirection(level, rng);
  const inOrder = { ...structure, order: structure.parts.map((_, i) => i) };
  const { links, directed, order } = level >= 4 ? shuffleStructure(structure, rng) : inOrder;
  const nodes = order.map((node) => ({ label: labels[node]!, shape: shapes[node] }));
  return { family, level, nodes, links, directed, direction };
}

/** Words of the domain that no box is called by. */
function spareLabels(domain: Domain, labels: readonly string[], rng: Rng): string[] {
  const used = labels.join(' ').toLowerCase();
  return rng.shuffle([...domain.objects, ...domain.services]).filter((word) => !used.includes(word.toLowerCase()));
}

export function generateTask(cell: Cell, index: number): Task {
  const { split, family, level } = cell;
  const seed = hash64(SUITE_VERSION, split, family, level, index);
  const stream = (name: string): Rng => createRng(hash64(seed, name));
  const [graphRng, promptRng] = [stream('graph'), stream('prompt')];
  const drawn = drawOwnedGraph(cell, index, graphRng, stream('labels'));
  const graph = toTaskGraph(cell, drawn, graphRng);
  const spare = level === 5 ? spareLabels(drawn.domain, drawn.labels, promptRng) : [];
  const { text, allowed_extras } = writePrompt(graph, wordingsOf(split), spare, promptRng);
  return {
    task_id: `${split}.${family}.${level}.${index}`,
    suite_version: SUITE_VERSION,
    split,
    family,
    level,
    seed: seed.toString(),
    prompt: text,
    canvas: drawCanvas(stream('canvas'), drawn.structure, level, graph.direction),
    expect: toExpectation(graph),
    ...(graph.direction ? { direction: graph.direction } : {}),
    ...(allowed_extras.length > 0 ? { allowed_extras } : {}),
  };
}
