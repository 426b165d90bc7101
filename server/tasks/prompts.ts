/**
 * Wordings of the prompts. A prompt names every box and every connection, so that a reader can recover the graph.
 * At levels 1 and 2 a name always stands between the same few strings (", ", " to ", ". "), never inflected: a tiny model
 * copies tokens.
 */
import type { Family, Split } from '../../schemas/task.ts';

/** The family as an object of "draw". */
export const FAMILY_NOUNS: Readonly<Record<Family, string>> = {
  architecture: 'an architecture diagram',
  flowchart: 'a flowchart',
  pipeline: 'a pipeline',
  org_tree: 'an org chart',
  state_machine: 'a state machine',
  er: 'an entity diagram',
  network: 'a network map',
  cycle: 'a cycle',
  timeline: 'a timeline',
  comparison: 'a comparison',
};

export interface PromptParts {
  noun: string;
  boxes: string;
  links: readonly string[];
  /** "Arrows" or "Lines": whether a connection has a direction. */
  word: 'Arrows' | 'Lines';
}

export type Template = (parts: PromptParts) => string;

const lower = (word: string): string => word.toLowerCase();
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Wordings of explicit lists, levels 1 and 2. */
export const LIST_TEMPLATES: readonly Template[] = [
  (p) => `Draw ${p.noun} with boxes: ${p.boxes}. ${p.word}: ${p.links.join(', ')}.`,
  (p) => `${capital(p.noun)}, please. Boxes: ${p.boxes}. ${p.word}: ${p.links.join(', then ')}.`,
  (p) => `Make ${p.noun} of these boxes: ${p.boxes}. Then draw ${lower(p.word)}: ${p.links.join(', ')}.`,
  (p) => `Boxes: ${p.boxes}. ${p.word}: ${p.links.join(', ')}. Draw it as ${p.noun}.`,
];

/** Wordings only `test_template` uses. */
export const HELD_OUT_LIST_TEMPLATES: readonly Template[] = [
  (p) =>
    `Could you sketch ${p.noun}? It consists of ${p.boxes}. It has ${lower(p.word)} from ${p.links.join(', from ')}.`,
  (p) =>
    `Diagram type: ${p.noun}\nNodes: ${p.boxes}\n${p.word === 'Arrows' ? 'Directed' : 'Undirected'} edges: ${p.links.join('; ')}`,
  (p) =>
    `I want to see ${p.boxes} on one picture, as ${p.noun}, with ${lower(p.word)} that run ${p.links.join(' and ')}.`,
];

export function listTemplatesOf(split: Split): readonly Template[] {
  return split === 'test_template' ? HELD_OUT_LIST_TEMPLATES : LIST_TEMPLATES;
}
