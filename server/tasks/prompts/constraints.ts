/** Level 5: what a prompt says beside the graph itself: groups of boxes, and what must not be drawn. */
import type { Rng } from '../../../schemas/seed.ts';
import type { TaskGraph } from '../graph.ts';
import { quote, toNames } from './text.ts';

/** Labels that no node of the graph has. */
export type Spare = readonly string[];

const GROUP_NAMES = ['Core', 'Outer Ring', 'Night Shift', 'Phase Two', 'North Side', 'Reserve'] as const;
const GROUP_SHARE = 0.5;

/** One sentence for two or three groups of neighbouring boxes; their names may be drawn as frames or titles. */
function writeGroups({ nodes }: TaskGraph, rng: Rng): { sentences: string[]; groups: string[] } {
  const groups = rng.shuffle(GROUP_NAMES).slice(0, rng.int(2, 3));
  const names = rng.shuffle(toNames(nodes.map((node) => node.label)));
  const size = Math.floor(names.length / (groups.length + 1));
  const members = groups.map((_, i) => names.slice(i * size, (i + 1) * size).join(', '));
  const text = groups.map((group, i) => `${group} holds ${members[i]!}`).join('; ');
  return { sentences: [`Keep these groups together: ${text}.`], groups };
}

/** Two boxes that are not linked in either direction; undefined when a few draws find none. */
function drawUnlinkedPair({ nodes, links }: TaskGraph, rng: Rng): [number, number] | undefined {
  for (let attempt = 0; attempt < 20; attempt++) {
    const [a, b] = rng.shuffle(nodes.map((_, i) => i)) as [number, number];
    const linked = links.some(({ from, to }) => (from === a && to === b) || (from === b && to === a));
    if (!linked && nodes[a]!.label !== nodes[b]!.label) return [a, b];
  }
  return undefined;
}

function writeNegatives(graph: TaskGraph, spare: Spare, rng: Rng): string[] {
  const pair = drawUnlinkedPair(graph, rng);
  const unwanted = spare[0];
  const names = toNames(graph.nodes.map((node) => node.label));
  return [
    ...(pair ? [`Do not connect ${names[pair[0]]!} with ${names[pair[1]]!}.`] : []),
    ...(unwanted === undefined ? [] : [`There is no box for ${quote(unwanted)}.`]),
  ];
}

/** The body with what must not be drawn, and for half of the prompts with groups. */
export function addConstraints(graph: TaskGraph, body: readonly string[], spare: Spare, rng: Rng) {
  const { sentences, groups } = rng.next() < GROUP_SHARE ? writeGroups(graph, rng) : { sentences: [], groups: [] };
  return { sentences: [...body, ...sentences, ...writeNegatives(graph, spare, rng)], groups };
}
