/**
 * Reads the suite's explicit wordings back into a graph: the lists of levels 1 and 2, and the prose of levels 3 and 4,
 * where names stand in quotes. The teacher is a client of the environment: it sees what any agent sees, the prompt, and
 * gives up (undefined) on what it does not know: free prompts, the wordings of `test_template`, the revisions of level 5.
 */
import type { Direction } from '../../schemas/task.ts';
import type { Graph, GraphEdge, GraphNode } from './graph.ts';

/** The graph a prompt asks for; undefined when any part of it cannot be read. */
export function readPrompt(prompt: string): Graph | undefined {
  return prompt.includes('"') ? readProse(prompt) : readLists(prompt);
}

const BOXES = /\bboxes: ([^.]+)\./i;
const LINKS = /\b(?:arrows|lines): ([^.]+)\./i;
const LINK = /^(.+?) to (.+?)(?: labelled (.+))?$/;

function readLink(text: string, labels: readonly string[]): GraphEdge | undefined {
  const match = LINK.exec(text.replace(/^then /, ''));
  if (!match) return undefined;
  const [, from, to, label = ''] = match;
  const edge = { from: labels.indexOf(from!), to: labels.indexOf(to!), label };
  return edge.from < 0 || edge.to < 0 ? undefined : edge;
}

function readLists(prompt: string): Graph | undefined {
  const labels = BOXES.exec(prompt)?.[1]?.split(', ');
  const links = LINKS.exec(prompt)?.[1]?.split(', ');
  if (!labels || !links) return undefined;
  const edges = links.map((text) => readLink(text, labels));
  if (edges.includes(undefined)) return undefined;
  return {
    nodes: labels.map((label) => ({ label, shape: 'rectangle' })),
    edges: edges.filter((edge) => edge !== undefined),
  };
}

/** A name in quotes, taken out of the text and replaced by `<its position>`. */
interface Reference {
  text: string;
  /** 1 for "the second", else 0. */
  occurrence: number;
}

function takeReferences(prompt: string): { text: string; references: Reference[] } {
  const references: Reference[] = [];
  const text = prompt.replace(/(?:the (first|second) )?"([^"]*)"/gi, (_, which: string | undefined, name: string) => {
    return `<${references.push({ text: name, occurrence: which?.toLowerCase() === 'second' ? 1 : 0 }) - 1}>`;
  });
  return { text, references };
}

/** Verbs of "A ... B" where the arrow goes from A to B, and of "B ... A" where it goes the other way. */
const FORWARD = [
  'calls|sends requests to|leads to|feeds|passes its output to|manages|is the manager of|can change to|is related to',
  'belongs with|is linked to|is wired to|is followed by|comes before|heads the column with|has an arrow to',
].join('|');
const BACKWARD = [
  'is called by|gets requests from|comes after|follows|takes the output of|reports to|works for|is entered from|can follow',
  'is tied to|shares a cable with|is listed under|stands below',
].join('|');
const LABELLED = '(?: \\(labelled <(?<label>\\d+)>\\))?';
const ONE = '<\\d+>';
const MANY = `${ONE}(?:(?:, | and )${ONE})*`;
const SENTENCES = [
  new RegExp(`^(?<a>${ONE}) (?:${FORWARD}) (?<b>${MANY})${LABELLED}$`),
  new RegExp(`^From (?<a>${ONE}) (?:go|it moves) to (?<b>${MANY})${LABELLED}$`),
  new RegExp(`^(?<b>${ONE}) (?:${BACKWARD}) (?<a>${ONE})${LABELLED}$`),
];
const BOX_LIST = new RegExp(`boxes(?: are|:) (?<names>${MANY})$`);
const SHAPE = new RegExp(`^Draw (?<names>${MANY}) as (?:an? )?(?<shape>diamond|ellipse)s?$`);
const NO_MEANING = /^Two boxes are called <\d+>; the first is the one listed first$/;
const DIRECTIONS: Readonly<Record<string, Direction>> = {
  'from left to right': 'right',
  'from right to left': 'left',
  'from top to bottom': 'down',
  'from bottom to top': 'up',
};

const numbersIn = (text: string): number[] => [...text.matchAll(/<(\d+)>/g)].map((match) => Number(match[1]));

/** Position of the box a reference names; -1 when no box is called so. */
function findBox(nodes: readonly GraphNode[], { text, occurrence }: Reference): number {
  return nodes.flatMap((node, i) => (node.label === text ? [i] : []))[occurrence] ?? -1;
}

type ReadReference = (number: number) => Reference;

function readSentence(sentence: string, nodes: readonly GraphNode[], at: ReadReference): GraphEdge[] | undefined {
  const groups = SENTENCES.map((pattern) => pattern.exec(sentence)?.groups).find((found) => found !== undefined);
  if (!groups) return undefined;
  const [from] = numbersIn(groups['a']!);
  const label = groups['label'] === undefined ? '' : at(Number(groups['label'])).text;
  return numbersIn(groups['b']!).map((to) => ({ from: findBox(nodes, at(from!)), to: findBox(nodes, at(to)), label }));
}

function readProse(prompt: string): Graph | undefined {
  const { text, references } = takeReferences(prompt);
  const at: ReadReference = (number) => references[number]!;
  const sentences = text.split(/[.?!](?: |$)/).filter((sentence) => sentence !== '');
  const list = sentences.map((sentence) => BOX_LIST.exec(sentence)?.groups?.['names']).find(Boolean);
  if (list === undefined) return undefined;
  const nodes = numbersIn(list).map((n): GraphNode => ({ label: at(n).text, shape: 'rectangle' }));
  const edges: GraphEdge[] = [];
  for (const sentence of sentences) {
    const shape = SHAPE.exec(sentence)?.groups;
    if (!sentence.includes('<') || BOX_LIST.test(sentence) || NO_MEANING.test(sentence)) continue;
    const named = shape ? numbersIn(shape['names']!).map((n) => findBox(nodes, at(n))) : [];
    const found = shape ? [] : readSentence(sentence, nodes, at);
    if (!found || named.includes(-1) || found.some(({ from, to }) => from < 0 || to < 0)) return undefined;
    for (const node of named) nodes[node]!.shape = shape!['shape'] as GraphNode['shape'];
    edges.push(...found);
  }
  const direction = Object.entries(DIRECTIONS).find(([phrase]) => sentences[0]!.endsWith(phrase))?.[1];
  return { nodes, edges, ...(direction ? { direction } : {}) };
}
