/** A diagram as both readers of foreign files make it, and the task it becomes. */
import type { ShapeKind } from '../../../schemas/action.ts';
import type { Direction, InlineTask } from '../../../schemas/task.ts';

export interface GraphNode {
  label: string;
  /** Where the file asks for a diamond or an ellipse; a plain box asks for nothing. */
  shape?: Extract<ShapeKind, 'diamond' | 'ellipse'>;
}

export interface GraphEdge {
  from: string;
  to: string;
  label: string;
  directed: boolean;
}

export interface Graph {
  title?: string | undefined;
  direction?: Direction | undefined;
  /** In the order of their first mention. */
  nodes: Map<string, GraphNode>;
  edges: GraphEdge[];
}

/** A file that cannot be read as a diagram; `line` counts from 1. */
export class ImportError extends Error {
  readonly code = 'import';
  constructor(message: string, line?: number) {
    super(line === undefined ? message : `line ${line}: ${message}`);
    this.name = 'ImportError';
  }
}

const ENTITIES: Readonly<Record<string, string>> = { quot: '"', amp: '&', lt: '<', gt: '>', nbsp: ' ', apos: "'" };

/** The character of `#34;`, `#quot;` (Mermaid), `&#34;`, `&#x22;` or `&quot;` (HTML); an unknown entity stays. */
function decodeEntity(whole: string, hexadecimal?: string, decimal?: string, name = ''): string {
  const code = hexadecimal === undefined ? Number(decimal) : Number.parseInt(hexadecimal, 16);
  return code <= 0x10ffff ? String.fromCodePoint(code) : (ENTITIES[name] ?? whole);
}

/** A label in one line: markup and line breaks become spaces, entities their characters. */
export function toLabel(text: string): string {
  return text
    .replace(/<[^<>]*>/g, ' ')
    .replace(/(?:&#?|#)(?:x([\da-f]{1,6})|(\d{1,7})|([a-z]+));/gi, decodeEntity)
    .replace(/\s+/g, ' ')
    .trim();
}

const ARTICLES: Readonly<Record<string, string>> = { diamond: 'a diamond', ellipse: 'an ellipse' };
const DIRECTIONS: Readonly<Record<Direction, string>> = {
  right: 'from left to right',
  left: 'from right to left',
  down: 'from top to bottom',
  up: 'from bottom to top',
};

/** The diagram in words: everything that will be looked for is named. */
function toPrompt({ title, direction, nodes, edges }: Graph): string {
  const name = (id: string): string => `"${nodes.get(id)?.label ?? id}"`;
  const boxes = [...nodes].map(([id, { shape }]) => name(id) + (shape ? ` (${ARTICLES[shape] ?? ''})` : ''));
  const arrows = edges.map(({ from, to, label, directed }) => {
    const ends = directed ? `${name(from)} to ${name(to)}` : `between ${name(from)} and ${name(to)}`;
    return ends + (label ? ` labelled "${label}"` : '');
  });
  const parts = [
    title === undefined ? 'Draw a diagram.' : `Draw a diagram: ${title}.`,
    `Boxes: ${boxes.join(', ')}.`,
    ...(arrows.length > 0 ? [`Arrows: ${arrows.join('; ')}.`] : []),
    ...(direction ? [`It reads ${DIRECTIONS[direction]}.`] : []),
  ];
  return parts.join(' ');
}

/** An inline task: the environment takes it as `task` in /reset, /reward and /score. @throws ImportError on an empty one */
export function toTask(graph: Graph): InlineTask {
  const { direction, nodes, edges } = graph;
  if (nodes.size === 0) throw new ImportError('holds no box');
  return {
    prompt: toPrompt(graph),
    expect: {
      nodes: [...nodes].map(([id, node]) => ({ id, ...node })),
      edges: edges.map(({ from, to, label, directed }) => ({
        ...{ from, to },
        ...(label !== '' && { label }),
        ...(!directed && { directed }),
      })),
    },
    ...(direction && { direction }),
  };
}
