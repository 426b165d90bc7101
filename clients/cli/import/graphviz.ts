/**
 * Reader of Graphviz files: nodes, edges, their labels, shapes `diamond` and `ellipse` where they are asked for, and
 * `rankdir`. Clusters are looked into but draw no box; ports, styles and positions are left out.
 */
import parse, { type Attr, type EdgeStmt, type Graph as Root, type NodeId, type Stmt, type Subgraph } from 'dotparser';
import type { Direction } from '../../../schemas/task.ts';
import { ImportError, toLabel, type Graph, type GraphNode } from './graph.ts';

const DIRECTIONS: ReadonlyMap<string, Direction> = new Map([
  ['LR', 'right'],
  ['RL', 'left'],
  ['TB', 'down'],
  ['BT', 'up'],
]);
const SHAPES: ReadonlyMap<string, GraphNode['shape']> = new Map([
  ['diamond', 'diamond'],
  ...['ellipse', 'oval', 'circle', 'doublecircle'].map((name) => [name, 'ellipse'] as const),
]);

type Attributes = ReadonlyMap<string, string>;

/** What a scope has said so far with `node [...]` and `edge [...]`; an inner scope begins with a copy. */
interface Scope {
  directed: boolean;
  node: Attributes;
  edge: Attributes;
}

function attributesOf(list: readonly Attr[], inherited: Attributes = new Map()): Attributes {
  const own = list.map(({ id, eq }) => [String(id), typeof eq === 'object' ? eq.value : eq] as const);
  return new Map([...inherited, ...own]);
}

/** A label's text: escapes for line breaks become spaces, `\N` the node's own name, record fields are joined. */
function toText(label: string, id: string, isRecord: boolean): string {
  const text = label
    .replaceAll(String.raw`\N`, id)
    .replace(/\\[nlr]/g, ' ')
    .replace(/\\(.)/g, '$1');
  return toLabel(isRecord ? text.replace(/<[^<>]*>|[{}|]/g, ' ') : text);
}

/** Adds a node at its first mention; a later statement about it changes only what it names. */
function addNode(graph: Graph, id: string, own: Attributes, scope: Scope): void {
  const known = graph.nodes.get(id);
  const attributes = known ? own : new Map([...scope.node, ...own]);
  const kind = attributes.get('shape');
  const shape = kind === undefined ? known?.shape : SHAPES.get(kind);
  const label = attributes.get('label');
  const text = label === undefined ? (known?.label ?? id) : toText(label, id, kind?.endsWith('record') ?? false) || id;
  graph.nodes.set(id, { label: text, ...(shape && { shape }) });
}

/** Nodes at one end of an edge: one, or all of a group. */
function addEnd(graph: Graph, end: NodeId | Subgraph, scope: Scope): string[] {
  if (end.type === 'subgraph') return readStatements(graph, end.children, scope);
  const id = String(end.id);
  if (!graph.nodes.has(id)) addNode(graph, id, new Map(), scope);
  return [id];
}

function addEdges(graph: Graph, { edge_list, attr_list }: EdgeStmt, scope: Scope): string[] {
  const ends = edge_list.map((end) => addEnd(graph, end, scope));
  const attributes = attributesOf(attr_list, scope.edge);
  const label = toText(attributes.get('label') ?? '', '', false);
  const dir = attributes.get('dir') ?? 'forward';
  const directed = scope.directed && (dir === 'forward' || dir === 'back');
  for (const [i, heads] of ends.slice(1).entries()) {
    const pairs = (ends[i] ?? []).flatMap((tail) =>
      heads.map((head) => (dir === 'back' ? [head, tail] : [tail, head])),
    );
    graph.edges.push(...pairs.map(([from = '', to = '']) => ({ from, to, label, directed })));
  }
  return ends.flat();
}

/** Reads a scope; answers the ids of the nodes it mentions. */
function readStatements(graph: Graph, statements: readonly Stmt[], outer: Scope): string[] {
  const scope = { ...outer };
  const mentioned = statements.flatMap((statement) => {
    switch (statement.type) {
      case 'node_stmt':
        addNode(graph, String(statement.node_id.id), attributesOf(statement.attr_list), scope);
        return [String(statement.node_id.id)];
      case 'edge_stmt':
        return addEdges(graph, statement, scope);
      case 'subgraph':
        return readStatements(graph, statement.children, scope);
      case 'attr_stmt':
        if (statement.target !== 'graph')
          scope[statement.target] = attributesOf(statement.attr_list, scope[statement.target]);
        return [];
    }
  });
  return [...new Set(mentioned)];
}

/** Attributes of the graph itself, written alone or in `graph [...]`. */
function graphAttributes({ children }: Root): Attributes {
  const lists = children.flatMap((child) =>
    child.type === 'attr_stmt' && child.target === 'graph' ? child.attr_list : [],
  );
  return attributesOf(lists);
}

/** @throws ImportError naming the place of the first fault. */
export function readGraphviz(text: string): Graph {
  let root: Root | undefined;
  try {
    [root] = parse(text);
  } catch (error) {
    const { line } = (error as { location?: { start: { line: number } } }).location?.start ?? {};
    throw new ImportError(`not a Graphviz file: ${error instanceof Error ? error.message : String(error)}`, line);
  }
  if (!root) throw new ImportError('holds no graph');
  const attributes = graphAttributes(root);
  const title = attributes.get('label');
  const direction = DIRECTIONS.get((attributes.get('rankdir') ?? '').toUpperCase());
  const graph: Graph = { title: title && toText(title, '', false), direction, nodes: new Map(), edges: [] };
  readStatements(graph, root.children, { directed: root.type === 'digraph', node: new Map(), edge: new Map() });
  return graph;
}
