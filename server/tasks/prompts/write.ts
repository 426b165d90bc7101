/** Puts a graph into words: lists at levels 1 and 2, prose at 3 and 4, prose or a revised draft at 5. */
import type { Rng } from '../../../schemas/seed.ts';
import type { Link } from '../families.ts';
import type { TaskGraph } from '../graph.ts';
import { addConstraints, type Spare } from './constraints.ts';
import { writeRevision } from './revision.ts';
import { capital, enumerate, explainRepeats, fill, misspell, quote, toNames } from './text.ts';
import { FAMILY_NOUNS, type ListWording, type Phrases, type ProseWording, type Wordings } from './wordings.ts';

export interface Prompt {
  text: string;
  /** Labels of shapes the prompt allows beside the boxes: names of groups. */
  allowed_extras: string[];
}

/** "arrows" where the graph is directed, "lines" where not. */
const linkWord = (graph: TaskGraph): string => (graph.directed ? 'arrows' : 'lines');

function writeList(graph: TaskGraph, wording: ListWording): string {
  const label = (node: number): string => graph.nodes[node]!.label;
  const links = graph.links.map((link) => {
    const values = { a: label(link.from), b: label(link.to), label: link.label ?? '' };
    return fill(link.label === undefined ? wording.link : wording.labelled, values);
  });
  const noun = FAMILY_NOUNS[graph.family];
  return fill(wording.text, {
    noun,
    Noun: capital(noun),
    boxes: graph.nodes.map((node) => node.label).join(', '),
    links: links.join(wording.separator),
    arrows: linkWord(graph),
    Arrows: capital(linkWord(graph)),
  });
}

/** Consecutive bare links from one node, as one group; they may share a sentence. */
function groupLinks(links: readonly Link[]): Link[][] {
  const groups: Link[][] = [];
  for (const link of links) {
    const group = groups.at(-1);
    const joins = group?.every((other) => other.from === link.from && other.label === undefined);
    if (joins && link.label === undefined) group!.push(link);
    else groups.push([link]);
  }
  return groups;
}

function writeSentence(
  group: readonly Link[],
  names: readonly string[],
  phrases: Phrases,
  prose: ProseWording,
  rng: Rng,
) {
  const { from, label } = group[0]!;
  const all = group.length > 1 ? phrases.active : [...phrases.active, ...phrases.passive];
  const values = { a: names[from]!, b: enumerate(group.map((link) => names[link.to]!)) };
  const sentence = fill(rng.pick(all), values);
  return `${capital(label === undefined ? sentence : fill(prose.labelled, { sentence, label: quote(label) }))}.`;
}

function writeShapes(graph: TaskGraph, names: readonly string[], prose: ProseWording): string[] {
  return (['diamond', 'ellipse'] as const).flatMap((shape) => {
    const members = names.filter((_, i) => graph.nodes[i]!.shape === shape);
    if (members.length === 0) return [];
    const aShape = `${shape === 'ellipse' ? 'an' : 'a'} ${shape}`;
    const values = { names: enumerate(members), a_shape: aShape, shapes: `${shape}s` };
    return [fill(members.length === 1 ? prose.one_shape : prose.many_shapes, values)];
  });
}

/** Puts each of `extras` between two sentences of `body`. */
function scatter(body: readonly string[], extras: readonly string[], rng: Rng): string[] {
  const out = [...body];
  for (const extra of extras) out.splice(rng.int(1, out.length), 0, extra);
  return out;
}

function writeProse(graph: TaskGraph, prose: ProseWording, rng: Rng): string[] {
  const labels = graph.nodes.map((node) => node.label);
  const names = toNames(labels);
  const phrases = prose.phrases[graph.family];
  const direction = graph.direction ? prose.directions[graph.direction] : '';
  const boxes = labels.map(quote).join(', ');
  const sentences = groupLinks(graph.links).map((group) => writeSentence(group, names, phrases, prose, rng));
  const body =
    graph.level >= 4 ? scatter(sentences, rng.shuffle(prose.distractors).slice(0, rng.int(1, 3)), rng) : sentences;
  return [
    fill(rng.pick(prose.intros), { noun: FAMILY_NOUNS[graph.family], direction }),
    fill(rng.pick(prose.boxes), { boxes, count: String(graph.nodes.length) }),
    ...explainRepeats(labels, prose.duplicate),
    ...writeShapes(graph, names, prose),
    ...(phrases.note === undefined ? [] : [phrases.note]),
    ...body,
  ];
}

/** Share of level 5 prompts that revise a draft, and of long words that are misspelt there. */
const REVISION_SHARE = 0.5;
const TYPO_SHARE = 0.08;

/** `spare`: labels of the graph's domain that no node has, for boxes the prompt speaks of but does not want. */
export function writePrompt(graph: TaskGraph, wordings: Wordings, spare: Spare, rng: Rng): Prompt {
  if (graph.level <= 2) return { text: writeList(graph, rng.pick(wordings.lists)), allowed_extras: [] };
  if (graph.level <= 4) return { text: writeProse(graph, wordings.prose, rng).join(' '), allowed_extras: [] };
  const shapes = writeShapes(graph, toNames(graph.nodes.map((node) => node.label)), wordings.prose);
  const body =
    rng.next() < REVISION_SHARE ? writeRevision(graph, shapes, spare, rng) : writeProse(graph, wordings.prose, rng);
  const { sentences, groups } = addConstraints(graph, body, spare, rng);
  return { text: misspell(sentences.join(' '), rng, TYPO_SHARE), allowed_extras: groups };
}
