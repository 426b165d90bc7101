/**
 * Reader of Graphviz files: nodes, edges, their labels, shapes `diamond` and `ellipse` where they are asked for, and
 * `rankdir`. Clusters are looked into but draw no box; ports, styles and positions are left out.
 */
import { parse, type ClusterStatementASTNode, type EdgeTargetASTNode, type GraphASTNode } from '@ts-graphviz/ast';
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
type HasAttributes = Extract<ClusterStatementASTNode, { type: 'Node' | 'Edge' | 'AttributeList' }>;

/** `node [...]` and `edge [...]` of a scope; inner scopes begin with a copy. */
interface Defaults {
  node: Attributes;
  edge: Attributes;
}

function attributesOf({ children }: HasAttributes, inherited: Attributes): Attributes {
  const own = children.flatMap((child) =>
    child.type === 'Attribute' ? [[child.key.value, child.value.value] as const] : [],
  );
  return new Map([...inherited, ...own]);
}

/** A label's text: escapes for line breaks become spaces, `\N` the node's own name, record fields are joined. */
function toText(label: string | undefined, id: string, isRecord: boolean): string {
  const text = (label ?? String.raw`\N`)
    .replaceAll(String.raw`\N`, id)
    .replace(/\\[nlr]/g, ' ')
    .replace(/\\(.)/g, '$1');
  return toLabel(isRecord ? text.replace(/<[^<>]*>|[{}|]/g, ' ') : text);
}

function addNode(graph: Graph, id: string, attributes: Attributes): void {
  const kind = attributes.get('shape') ?? '';
  const shape = SHAPES.get(kind);
  const label = toText(attributes.get('label'), id, kind.endsWith('record')) || id;
  graph.nodes.set(id, { label, ...(shape && { shape }) });
}

function idsOf(target: EdgeTargetASTNode): string[] {
  return target.type === 'NodeRef' ? [target.id.value] : target.children.map(({ id }) => id.value);
}

function addEdges(
  graph: Graph,
  targets: readonly EdgeTargetASTNode[],
  defaults: Defaults,
  attributes: Attributes,
  directed: boolean,
): void {
  const ends = targets.map(idsOf);
  for (const id of ends.flat()) if (!graph.nodes.has(id)) addNode(graph, id, defaults.node);
  const label = toLabel((attributes.get('label') ?? '').replace(/\\[nlr]/g, ' '));
  const isUndirected = !directed || attributes.get('dir') === 'none';
  ends.slice(1).forEach((heads, i) => {
    const pairs = (ends[i] ?? []).flatMap((from) => heads.map((to) => ({ from, to })));
    const turned = attributes.get('dir') === 'back' ? pairs.map(({ from, to }) => ({ from: to, to: from })) : pairs;
    graph.edges.push(...turned.map((pair) => ({ ...pair, label, directed: !isUndirected })));
  });
}

function readStatements(
  graph: Graph,
  statements: readonly ClusterStatementASTNode[],
  outer: Defaults,
  directed: boolean,
): void {
  const defaults = { ...outer };
  for (const statement of statements) {
    if (statement.type === 'Node')
      addNode(
        graph,
        statement.id.value,
        attributesOf(statement, graph.nodes.has(statement.id.value) ? new Map() : defaults.node),
      );
    if (statement.type === 'Edge')
      addEdges(graph, statement.targets, defaults, attributesOf(statement, defaults.edge), directed);
    if (statement.type === 'Subgraph') readStatements(graph, statement.children, defaults, directed);
    if (statement.type === 'AttributeList' && statement.kind === 'Node')
      defaults.node = attributesOf(statement, defaults.node);
    if (statement.type === 'AttributeList' && statement.kind === 'Edge')
      defaults.edge = attributesOf(statement, defaults.edge);
  }
}

/** A graph attribute, written alone or in `graph [...]`. */
function graphAttribute({ children }: GraphASTNode, name: string): string | undefined {
  const lists = children.flatMap((child) =>
    child.type === 'AttributeList' && child.kind === 'Graph' ? child.children : [child],
  );
  return lists
    .flatMap((child) => (child.type === 'Attribute' && child.key.value === name ? [child.value.value] : []))
    .at(-1);
}

/** @throws ImportError naming the place of the first fault. */
export function readGraphviz(text: string): Graph {
  let root: GraphASTNode | undefined;
  try {
    root = parse(text).children.find((child) => child.type === 'Graph');
  } catch (error) {
    throw new ImportError(`not a Graphviz file: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!root) throw new ImportError('holds no graph');
  const title = graphAttribute(root, 'label');
  const graph: Graph = {
    ...(title !== undefined && { title: toLabel(title) }),
    direction: DIRECTIONS.get((graphAttribute(root, 'rankdir') ?? '').toUpperCase()),
    nodes: new Map(),
    edges: [],
  };
  readStatements(graph, root.children, { node: new Map(), edge: new Map() }, root.directed);
  return graph;
}
