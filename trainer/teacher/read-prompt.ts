/**
 * Reads the suite's explicit wordings back into a graph. The teacher is a client of the environment: it sees what any
 * agent sees, the prompt, and gives up (undefined) on wordings it does not know.
 */
import type { Graph, GraphEdge } from './graph.ts';

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

/** The graph a prompt asks for; undefined when any part of it cannot be read. */
export function readPrompt(prompt: string): Graph | undefined {
  const labels = BOXES.exec(prompt)?.[1]?.split(', ');
  const edges = LINKS.exec(prompt)?.[1]
    ?.split(', ')
    .map((text) => readLink(text, labels ?? []));
  if (!labels || !edges || edges.includes(undefined)) return undefined;
  return {
    nodes: labels.map((label) => ({ label, shape: 'rectangle' })),
    edges: edges.filter((edge) => edge !== undefined),
  };
}
