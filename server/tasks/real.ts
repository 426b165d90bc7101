/**
 * The split `test_real`: 44 diagrams found in public repositories (server/tasks/data/real_diagrams.json: labels, links,
 * shapes, direction and provenance), each with a prompt made from those facts. They are put into the suite's families and
 * levels by their kind and their number of boxes.
 * Left out: four self-loops, which `connect` refuses to draw; frames around groups; colours.
 */
import { createRng, hash64 } from '../../schemas/seed.ts';
import { LEVELS, type Direction, type Expectation, type Family, type Level, type Task } from '../../schemas/task.ts';
import { drawCanvas } from './canvas-size.ts';
import diagrams from './data/real_diagrams.json' with { type: 'json' };
import { NODE_RANGE } from './families.ts';
import { enumerate, explainRepeats, quote, toNames } from './prompts/text.ts';
import { FAMILY_NOUNS, SEEN } from './prompts/wordings.ts';

interface RealDiagram {
  id: string;
  provenance: string;
  family: Family;
  direction: Direction;
  nodes: Expectation['nodes'];
  edges: Expectation['edges'];
}

const DIAGRAMS = diagrams as readonly RealDiagram[];

function levelOf({ nodes }: RealDiagram): Level {
  return LEVELS.find((level) => nodes.length <= NODE_RANGE[level][1]) ?? 5;
}

/** The diagrams of a family and level, in the order of the file; their position there is the task's index. */
export function realDiagrams(family: Family, level: Level): readonly RealDiagram[] {
  return DIAGRAMS.filter((diagram) => diagram.family === family && levelOf(diagram) === level);
}

function writeShapes({ nodes }: RealDiagram, names: readonly string[]): string[] {
  return (['diamond', 'ellipse'] as const).flatMap((shape) => {
    const members = names.filter((_, i) => nodes[i]!.shape === shape);
    return members.length === 0
      ? []
      : [`Draw ${enumerate(members)} with the shape of ${shape === 'ellipse' ? 'an ellipse' : 'a diamond'}.`];
  });
}

function writePrompt(diagram: RealDiagram): string {
  const { nodes, edges, family, direction } = diagram;
  const labels = nodes.map((node) => node.label);
  const names = toNames(labels);
  const nameOf = (id: string): string => names[nodes.findIndex((node) => node.id === id)]!;
  const links = edges.map(({ from, to, label }) => {
    return `${nameOf(from)} to ${nameOf(to)}${label === undefined ? '' : ` labelled ${quote(label)}`}`;
  });
  const directed = edges.every((edge) => edge.directed ?? true);
  return [
    `Draw ${FAMILY_NOUNS[family]}${SEEN.prose.directions[direction]}.`,
    `Boxes: ${labels.map(quote).join(', ')}.`,
    ...explainRepeats(labels, SEEN.prose.duplicate),
    ...writeShapes(diagram, names),
    `${directed ? 'Arrows' : 'Lines without direction'}: ${links.join('; ')}.`,
  ].join(' ');
}

/** Small real diagrams carry long labels, so that even these get as much canvas as they need. */
const LEAST_CANVAS_LEVEL = 3;

/** Where a node comes in the diagram's own order: what the canvas is measured by. */
function toStructure({ nodes, edges }: RealDiagram) {
  const position = (id: string): number => nodes.findIndex((node) => node.id === id);
  const links = edges.map(({ from, to }) => ({ from: position(from), to: position(to) }));
  return { parts: nodes.map(() => 'step' as const), links, directed: true };
}

/** The task of a real diagram; undefined when the family and level have no diagram of this index. */
export function realTask(suiteVersion: number, family: Family, level: Level, index: number): Task | undefined {
  const diagram = realDiagrams(family, level)[index];
  if (!diagram) return undefined;
  const seed = hash64(suiteVersion, 'test_real', family, level, index);
  const canvasRng = createRng(hash64(seed, 'canvas'));
  return {
    task_id: `test_real.${family}.${level}.${index}`,
    suite_version: suiteVersion,
    split: 'test_real',
    family,
    level,
    seed: seed.toString(),
    prompt: writePrompt(diagram),
    canvas: drawCanvas(canvasRng, toStructure(diagram), LEAST_CANVAS_LEVEL, diagram.direction),
    direction: diagram.direction,
    provenance: diagram.provenance,
    expect: { nodes: diagram.nodes, edges: diagram.edges },
  };
}
