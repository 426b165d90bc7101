/**
 * Many ways to word one diagram, composed at random: what comes first, what stands between names, which verb says that an
 * arrow leads where. The tasks' own wordings are few, and a policy that reads only those reads no other; under wordings
 * whose connecting words are partly made up, what is left to learn is what all of them share: names are listed, and then come
 * in pairs. (Domain randomisation: Tobin et al. 2017, arXiv 1703.06907, for images.)
 *
 * Left out: languages other than English, and anything the task suite holds out for `test_template`; a test compares.
 */
import type { Rng } from '../schemas/seed.ts';
import { capital } from './names.ts';
import {
  ACTIVE,
  BOX_HEADS,
  INTROS,
  INVENTED_ACTIVE,
  INVENTED_BOX_HEADS,
  INVENTED_INTROS,
  INVENTED_LINK_HEADS,
  INVENTED_LONG_LABELS,
  INVENTED_NOTES,
  INVENTED_PASSIVE,
  INVENTED_SHAPES,
  INVENTED_SHORT_LABELS,
  INVENTED_SHORT_LINKS,
  LINK_HEADS,
  LINK_SEPARATORS,
  LONG_LABELS,
  NOTES,
  NOUNS,
  PASSIVE,
  SHAPES,
  SHORT_LABELS,
  SHORT_LINKS,
  SMALL_WORDS,
  WAYS,
} from './phrases.ts';
import type { Graph, GraphEdge } from './teacher/graph.ts';

/** Makes up a lower-case word. */
type MakeWord = (rng: Rng) => string;

const fill = (pattern: string, values: Readonly<Record<string, string>>): string =>
  pattern.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');

/** A pattern of real words, or one with made-up words and runs of small ones. */
function pickOrInvent(patterns: readonly string[], inventions: readonly string[], rng: Rng, word: MakeWord): string {
  if (rng.next() < REAL_SHARE) return rng.pick(patterns);
  return rng
    .pick(inventions)
    .replace(/[~#]/g, (mark) => (mark === '~' ? word(rng) : writeRun(rng, word)))
    .trim();
}

const REAL_SHARE = 0.5;
const MAX_RUN = 5;
const MADE_UP_IN_RUN = 0.3;

/** One to five words that mean nothing here: small ones, and now and then a made-up one. */
function writeRun(rng: Rng, word: MakeWord): string {
  const words = Array.from({ length: rng.int(1, MAX_RUN) }, () =>
    rng.next() < MADE_UP_IN_RUN ? word(rng) : rng.pick(SMALL_WORDS),
  );
  return words.join(' ');
}

interface Writer {
  readonly rng: Rng;
  readonly word: MakeWord;
  readonly pick: (patterns: readonly string[], inventions: readonly string[]) => string;
  /** A name as it stands in the text: bare or in quotes. */
  readonly quote: (name: string) => string;
}

const NAME_QUOTES: readonly ((name: string) => string)[] = [
  (name) => `"${name}"`,
  (name) => `"${name}"`,
  (name) => `'${name}'`,
  (name) => `«${name}»`,
];

/** The graph in words of its own: lists of names and pairs, or a sentence for each arrow. */
export function writeWording(graph: Graph, rng: Rng, word: MakeWord): string {
  const isProse = rng.next() < 0.5 || graph.nodes.some(({ shape }) => shape !== 'rectangle');
  const isQuoted = isProse ? rng.next() < 0.9 : rng.next() < 0.15;
  const writer: Writer = {
    rng,
    word,
    pick: (patterns, inventions) => pickOrInvent(patterns, inventions, rng, word),
    quote: isQuoted ? rng.pick(NAME_QUOTES) : (name) => name,
  };
  return isProse ? writeProse(graph, writer) : writeLists(graph, writer);
}

function writeIntro({ direction }: Graph, { rng, word, pick }: Writer): string {
  const noun =
    rng.next() < 0.8 ? rng.pick(NOUNS) : `a ${word(rng)} ${rng.pick(['diagram', 'chart', 'map', word(rng)])}`;
  const way = direction ? rng.pick(WAYS[direction]) : '';
  return capital(fill(pick(INTROS, INVENTED_INTROS), { noun, Noun: capital(noun), way }));
}

const asSentence = (text: string): string => (/[.?!]$/.test(text) ? text : `${text}.`);

/** Names one after another, in order. */
function writeNames(names: readonly string[], { rng }: Writer): string {
  const style = rng.next();
  if (style < 0.7) return names.join(', ');
  if (style < 0.8) return [names.slice(0, -1).join(', '), names.at(-1)!].filter(Boolean).join(' and ');
  if (style < 0.85) return names.join('; ');
  if (style < 0.9) return `\n${names.map((name) => `- ${name}`).join('\n')}\n`;
  if (style < 0.95) return names.map((name, i) => `${i + 1}) ${name}`).join(', ');
  return names.join(' | ');
}

function writeBoxes({ nodes }: Graph, writer: Writer): string {
  const boxes = writeNames(
    nodes.map(({ label }) => writer.quote(label)),
    writer,
  );
  return capital(fill(writer.pick(BOX_HEADS, INVENTED_BOX_HEADS), { boxes, count: String(nodes.length) }));
}

/** Lists: an intro, the names, the pairs; the intro may come last, or all of it be one sentence. */
function writeLists(graph: Graph, writer: Writer): string {
  const { rng, pick } = writer;
  const links = writeLinks(graph, writer);
  if (rng.next() < ONE_SENTENCE_SHARE) return writeOneSentence(graph, links, writer);
  const heads = capital(fill(pick(LINK_HEADS, INVENTED_LINK_HEADS), { links }));
  const [intro, boxes] = [writeIntro(graph, writer), writeBoxes(graph, writer)];
  const order = rng.next();
  if (order < 0.15) return `${asSentence(boxes)} ${asSentence(heads)} ${intro}`;
  if (order < 0.3) return `${intro}\n${boxes}\n${heads}`;
  if (order < 0.45) return `${boxes}, ${rng.pick(['as', 'in', 'on'])} ${rng.pick(NOUNS)}, ${uncapital(heads)}.`;
  return `${intro} ${asSentence(boxes)} ${asSentence(heads)}`;
}

/** The pairs, one after another. */
function writeLinks(graph: Graph, { rng, pick, quote }: Writer): string {
  const pattern = pick(SHORT_LINKS, INVENTED_SHORT_LINKS);
  const labelled = pick(SHORT_LABELS, INVENTED_SHORT_LABELS);
  const links = graph.edges.map(({ from, to, label }) => {
    const link = fill(pattern, { a: quote(graph.nodes[from]!.label), b: quote(graph.nodes[to]!.label) });
    return label === '' ? link : fill(labelled, { link, label });
  });
  return links.join(rng.pick(LINK_SEPARATORS));
}

const ONE_SENTENCE_SHARE = 0.3;

/** Names and pairs within one sentence, and any small words around them: neither begins where a sentence does. */
function writeOneSentence({ nodes }: Graph, links: string, writer: Writer): string {
  const { rng, word, quote } = writer;
  const boxes = nodes.map(({ label }) => quote(label)).join(', ');
  const some = (share: number): string => (rng.next() < share ? writeRun(rng, word) : '');
  const noun = rng.next() < 0.6 ? `${rng.pick([', as', ' as', ' for', ', in', ' on', ':'])} ${rng.pick(NOUNS)}` : '';
  const before = [some(0.85), boxes, some(0.6)].filter(Boolean).join(' ');
  const arrows = rng.pick(['arrows', 'lines', 'arrows', '']);
  const after = [some(0.5), arrows, some(0.6)].filter(Boolean).join(' ');
  return capital(
    `${before}${noun}${rng.pick([', ', ', ', ': ', '. ', '; '])}${after} ${links}.`.replace(/ {2,}/g, ' '),
  );
}

const uncapital = (text: string): string =>
  /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;

/** Prose: an intro, the names, shapes and notes, and a sentence for each arrow or for several from one box. */
function writeProse(graph: Graph, writer: Writer): string {
  const { rng, pick } = writer;
  const notes = rng.next() < 0.5 ? [pick(NOTES, INVENTED_NOTES)] : [];
  const labels = pick(LONG_LABELS, INVENTED_LONG_LABELS);
  const sentences = groupEdges(graph.edges, rng).map((group) => writeSentence(group, graph, labels, writer));
  const before = [...writeShapes(graph, writer), ...notes];
  const parts = [writeIntro(graph, writer), writeBoxes(graph, writer), ...before, ...sentences];
  return parts.map((part) => asSentence(capital(part.trim()))).join(rng.next() < 0.85 ? ' ' : '\n');
}

/** Neighbouring bare edges from one node now and then share a sentence. */
function groupEdges(edges: readonly GraphEdge[], rng: Rng): GraphEdge[][] {
  const groups: GraphEdge[][] = [];
  const joins = rng.next() < 0.7;
  for (const edge of edges) {
    const group = groups.at(-1);
    const isSame = group?.every(({ from, label }) => from === edge.from && label === '') && edge.label === '';
    if (joins && isSame) group!.push(edge);
    else groups.push([edge]);
  }
  return groups;
}

function writeSentence(group: readonly GraphEdge[], graph: Graph, labels: string, writer: Writer): string {
  const { rng, pick, quote } = writer;
  const name = (node: number): string => quote(graph.nodes[node]!.label);
  const { from, label } = group[0]!;
  const isPassive = group.length === 1 && rng.next() < 0.35;
  const pattern = isPassive ? pick(PASSIVE, INVENTED_PASSIVE) : pick(ACTIVE, INVENTED_ACTIVE);
  const targets = group.map(({ to }) => name(to));
  const b = [targets.slice(0, -1).join(', '), targets.at(-1)!].filter(Boolean).join(' and ');
  const sentence = fill(pattern, { a: name(from), b });
  return label === '' ? sentence : fill(labels, { sentence, label: quote(label) });
}

function writeShapes(graph: Graph, writer: Writer): string[] {
  return (['diamond', 'ellipse'] as const).flatMap((shape) => {
    const members = graph.nodes.filter((node) => node.shape === shape).map(({ label }) => writer.quote(label));
    if (members.length === 0) return [];
    const names = [members.slice(0, -1).join(', '), members.at(-1)!].filter(Boolean).join(' and ');
    return [
      fill(writer.pick(SHAPES, INVENTED_SHAPES), {
        names,
        shape,
        a_shape: shape === 'ellipse' ? 'an ellipse' : 'a diamond',
      }),
    ];
  });
}
