/**
 * Reader of Mermaid flowcharts: `graph` or `flowchart` with a direction, boxes of every bracket form, links of every
 * line form with their texts, chains, `&`, several statements on a line, and the title of the front matter.
 * Subgraphs are looked into but draw no box; styles, classes and clicks are left out. Other kinds of diagram are refused.
 */
import type { Direction } from '../../../schemas/task.ts';
import { ImportError, toLabel, type Graph, type GraphNode } from './graph.ts';

const DIRECTIONS: ReadonlyMap<string, Direction> = new Map([
  ['LR', 'right'],
  ['RL', 'left'],
  ['TB', 'down'],
  ['TD', 'down'],
  ['BT', 'up'],
]);

/** Bracket pairs, longer ones first, and the shape they ask for. */
const BRACKETS: readonly (readonly [open: string, close: string, shape?: GraphNode['shape']])[] = [
  ['(((', ')))', 'ellipse'],
  ['((', '))', 'ellipse'],
  ['([', '])', 'ellipse'],
  ['[[', ']]'],
  ['[(', ')]'],
  ['{{', '}}'],
  ['[/', '/]'],
  ['[/', '\\]'],
  ['[\\', '\\]'],
  ['[\\', '/]'],
  ['[', ']'],
  ['(', ')'],
  ['{', '}', 'diamond'],
  ['>', ']'],
];

const IGNORED =
  /^(subgraph\b|end\b|direction\b|style\b|linkStyle\b|classDef\b|class\b|click\b|accTitle\b|accDescr\b|%%)/;
const ID = /^[\p{L}\p{N}_](?:[\p{L}\p{N}_.]|-(?![-.>]))*/u;
/** A link, with its text inside (`-- text -->`) or after it (`-->|text|`). */
const LINK =
  /^\s*([<xo]?)(?:(--|==|-\.)(?![xo]\s)\s*(?![-=.>])((?:(?!-->|---|==>|===|\.->|\.-).)+?)\s*(-->|---|==>|===|\.->|\.-|--[xo])|(-{2,}|={2,}|-\.+-|~{3,})([>xo]?))(?:\s*\|([^|]*)\|)?\s*/u;

interface Cursor {
  rest: string;
  line: number;
}

interface Link {
  label: string;
  directed: boolean;
  /** An invisible link (`~~~`) only arranges. */
  drawn: boolean;
}

function unquote(text: string): string {
  const inner = text.trim();
  return toLabel(inner.startsWith('"') && inner.endsWith('"') ? inner.slice(1, -1) : inner);
}

/** The text up to the closing bracket, which does not count within quotes. */
function takeBracket(cursor: Cursor): Partial<GraphNode> | undefined {
  for (const [open, close, shape] of BRACKETS) {
    if (!cursor.rest.startsWith(open)) continue;
    const quoted = /^\s*"[^"]*"\s*/.exec(cursor.rest.slice(open.length));
    const end = cursor.rest.indexOf(close, open.length + (quoted?.[0].length ?? 0));
    if (end < 0) continue;
    const label = unquote(cursor.rest.slice(open.length, end));
    cursor.rest = cursor.rest.slice(end + close.length);
    return { label, ...(shape && { shape }) };
  }
  return undefined;
}

function takeNode(graph: Graph, cursor: Cursor): string {
  const [id = ''] = ID.exec(cursor.rest) ?? [];
  if (id === '') throw new ImportError(`expected a box at ${JSON.stringify(cursor.rest.slice(0, 30))}`, cursor.line);
  cursor.rest = cursor.rest.slice(id.length);
  const described = takeBracket(cursor);
  cursor.rest = cursor.rest.replace(/^:::[\w-]+/, '').trimStart();
  const known = graph.nodes.get(id);
  graph.nodes.set(id, { ...known, ...described, label: described?.label ?? known?.label ?? id });
  return id;
}

/** `A & B & C` */
function takeGroup(graph: Graph, cursor: Cursor): string[] {
  const ids = [takeNode(graph, cursor)];
  while (cursor.rest.startsWith('&')) {
    cursor.rest = cursor.rest.slice(1).trimStart();
    ids.push(takeNode(graph, cursor));
  }
  return ids;
}

function takeLink(cursor: Cursor): Link | undefined {
  const match = LINK.exec(cursor.rest);
  if (!match) return undefined;
  const [whole, start, , inside, end = '', plain = '', head = '', after] = match;
  cursor.rest = cursor.rest.slice(whole.length);
  const label = unquote(inside ?? after ?? '');
  return { label, directed: start === '' && (/[>xo]$/.test(end) || head !== ''), drawn: !plain.startsWith('~') };
}

function readStatement(graph: Graph, cursor: Cursor): void {
  let from = takeGroup(graph, cursor);
  while (cursor.rest !== '') {
    const link = takeLink(cursor);
    if (!link) throw new ImportError(`expected a link at ${JSON.stringify(cursor.rest.slice(0, 30))}`, cursor.line);
    const to = takeGroup(graph, cursor);
    const { label, directed, drawn } = link;
    if (drawn) graph.edges.push(...from.flatMap((a) => to.map((b) => ({ from: a, to: b, label, directed }))));
    from = to;
  }
}

/** Statements of a line: separated by semicolons outside of quotes and entities such as `#quot;`. */
function statementsOf(line: string): string[] {
  const parts = line.match(/(?:"[^"]*"|\|[^|]*\||[&#]\w+;|[^;"]|")+/g) ?? [];
  return parts.map((part) => part.trim()).filter((part) => part !== '' && !IGNORED.test(part));
}

function splitFrontMatter(text: string): { title?: string; body: string; firstLine: number } {
  const [whole, front] = /^\s*---\n([\s\S]*?)\n---\s*\n/.exec(text) ?? ['', ''];
  const [, title] = /^title:\s*(.+)$/m.exec(front) ?? [];
  return {
    ...(title && { title: unquote(title) }),
    body: text.slice(whole.length),
    firstLine: whole.split('\n').length,
  };
}

/** @throws ImportError naming the line of the first fault. */
export function readMermaid(source: string): Graph {
  const { title, body, firstLine } = splitFrontMatter(source.replaceAll('\r\n', '\n'));
  const graph: Graph = { title, nodes: new Map(), edges: [] };
  let begun = false;
  body.split('\n').forEach((text, i) => {
    const line = firstLine + i;
    for (const statement of statementsOf(text.trim())) {
      const [, direction] = /^(?:graph|flowchart)(?:\s+(\w+))?$/.exec(statement) ?? [undefined, undefined];
      if (/^(graph|flowchart)\b/.test(statement)) graph.direction = DIRECTIONS.get(direction ?? '');
      else if (begun) readStatement(graph, { rest: statement, line });
      else
        throw new ImportError(
          `only flowcharts can be read, this begins with ${JSON.stringify(statement.slice(0, 30))}`,
          line,
        );
      begun = true;
    }
  });
  return graph;
}
