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
import type { Graph, GraphEdge } from './teacher/graph.ts';

/** Makes up a lower-case word. */
type MakeWord = (rng: Rng) => string;

const fill = (pattern: string, values: Readonly<Record<string, string>>): string =>
  pattern.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');

/** A pattern, now and then with a made-up word in the place of a real one. */
function pickOrInvent(patterns: readonly string[], inventions: readonly string[], rng: Rng, word: MakeWord): string {
  if (rng.next() < 0.65) return rng.pick(patterns);
  return rng.pick(inventions).replace(/~+/g, () => word(rng));
}

const NOUNS = [
  ...['a diagram', 'a chart', 'a drawing', 'a graph', 'a flow diagram', 'a system diagram', 'an overview', 'a map'],
  ...['an architecture diagram', 'a flowchart', 'a pipeline', 'an org chart', 'a state machine', 'a tree', 'a plan'],
  ...['an entity diagram', 'a network map', 'a cycle', 'a process', 'a hierarchy', 'a schema', 'a scheme'],
];
const INTROS = [
  ...['Draw {noun}{way}.', 'Create {noun}{way}.', 'Make {noun}{way}.', 'I need {noun}{way}.', 'Show me {noun}{way}.'],
  ...['Please draw {noun}{way}.', 'Please produce {noun}{way}.', 'Give me {noun}{way}.', 'Build {noun}{way}.'],
  ...['Can you make {noun}{way}?', 'Would you draw {noun}{way} for us?', '{Noun}{way}, please.', 'Task: {noun}{way}.'],
  ...['This should become {noun}{way}.', 'What I would like is {noun}{way}.', '{Noun}{way}.', 'Prepare {noun}{way}.'],
];
const INVENTED_INTROS = [
  '~ {noun}{way}.',
  'Please ~ {noun}{way}.',
  'Can you ~ {noun}{way}?',
  '{Noun}{way} ~ ~.',
  '~ ~ ~ {noun}{way}.',
];

const WAYS: Readonly<Record<NonNullable<Graph['direction']>, readonly string[]>> = {
  right: [
    ' from left to right',
    ' left to right',
    ' going right',
    ', flowing to the right',
    ', towards the right',
    ' that runs to the right',
  ],
  left: [
    ' from right to left',
    ' right to left',
    ' going left',
    ', flowing to the left',
    ', towards the left',
    ' that runs to the left',
  ],
  down: [
    ' from top to bottom',
    ' top to bottom',
    ' going down',
    ', flowing down',
    ', towards the bottom',
    ' that runs down the page',
  ],
  up: [
    ' from bottom to top',
    ' bottom to top',
    ' going up',
    ', flowing up',
    ', towards the top',
    ' that runs up the page',
  ],
};

const BOX_HEADS = [
  ...['Boxes: {boxes}', 'Its boxes are {boxes}', 'The boxes: {boxes}', 'Use these boxes: {boxes}', 'Items: {boxes}'],
  ...[
    'It contains {boxes}',
    'The shapes are {boxes}',
    'Parts: {boxes}',
    'There are {count} boxes: {boxes}',
    'It has {boxes}',
  ],
  ...[
    'We have {boxes}',
    'Place {boxes}',
    'Start with {boxes}',
    'Box names: {boxes}',
    '{boxes} are the boxes',
    '{boxes} belong on it',
  ],
];
const INVENTED_BOX_HEADS = [
  '~: {boxes}',
  '~ ~: {boxes}',
  'The ~ are {boxes}',
  'It ~ {boxes}',
  '~ {boxes}',
  '{boxes} ~ ~',
];

const LINK_HEADS = [
  ...['Arrows: {links}', 'Lines: {links}', 'Then draw arrows: {links}', 'Connect {links}', 'Connections: {links}'],
  ...[
    'Links: {links}',
    'Arrows go {links}',
    'The arrows are {links}',
    'Draw lines for {links}',
    'Join {links}',
    'There are arrows {links}',
  ],
];
const INVENTED_LINK_HEADS = ['~: {links}', '~ ~: {links}', 'The ~ are {links}', 'It ~ arrows {links}'];

const SHORT_LINKS = [
  ...['{a} to {b}', '{a} -> {b}', '{a} => {b}', '{a} → {b}', '{a} > {b}', '{a} >> {b}', '{a} --> {b}', '({a}, {b})'],
  ...['{a} into {b}', '{a} towards {b}', '{a} and {b}', '{a}: {b}', '{a} / {b}', '{a} | {b}', 'one for {a} and {b}'],
];
const INVENTED_SHORT_LINKS = [
  '{a} ~ {b}',
  '~ {a} ~ {b}',
  '{a} ~ ~ {b}',
  'a ~ {a} to {b}',
  '{a} _ {b}',
  '{a} .. {b}',
  '{a} + {b}',
  '<{a} ~ {b}>',
];
const SHORT_LABELS = [
  ...[
    '{link} labelled {label}',
    '{link} called {label}',
    '{link} named {label}',
    '{link} saying {label}',
    '{link}: {label}',
  ],
  ...[
    '{link} as {label}',
    '{link} <{label}>',
    '{link} {{label}}',
    '{link} "{label}"',
    '{link} = {label}',
    '{link} /{label}/',
    '{link} *{label}*',
  ],
];
const INVENTED_SHORT_LABELS = ['{link} ~ {label}', '{link} ~ ~ {label}', '{link} ~: {label}'];
const LINK_SEPARATORS = [', ', '; ', ', then ', ' and ', ', and ', ' | ', '\n', ' / ', ' then ', '\n- ', ', also '];

/** Sentences in which the arrow leads from a to b, and those in which b comes first or is what is done to. */
const ACTIVE = [
  ...[
    '{a} leads to {b}',
    '{a} points to {b}',
    '{a} connects to {b}',
    '{a} triggers {b}',
    '{a} sends data to {b}',
    '{a} calls {b}',
  ],
  ...[
    '{a} goes to {b}',
    '{a} is followed by {b}',
    '{a} starts {b}',
    '{a} feeds {b}',
    '{a} uses {b}',
    '{a} opens {b}',
    '{a} owns {b}',
  ],
  ...[
    'there is an arrow from {a} to {b}',
    'draw an arrow from {a} to {b}',
    'connect {a} to {b}',
    'link {a} and {b}',
    'from {a} go to {b}',
  ],
  ...[
    '{a} has an arrow to {b}',
    '{a} manages {b}',
    '{a} can change to {b}',
    '{a} comes before {b}',
    '{a} is the parent of {b}',
  ],
  ...[
    '{a} is related to {b}',
    '{a} is linked to {b}',
    '{a} belongs with {b}',
    '{a} is above {b}',
    'after {a} comes {b}',
    'first {a}, then {b}',
  ],
  ...[
    '{a} is wired to {b}',
    '{a} writes to {b}',
    '{a} is the source for {b}',
    '{a} asks {b}',
    'a line joins {a} and {b}',
    '{a} becomes {b}',
  ],
];
const INVENTED_ACTIVE = [
  '{a} ~ {b}',
  '{a} ~ to {b}',
  '{a} is the ~ of {b}',
  '{a} may ~ {b}',
  'a ~ leads from {a} to {b}',
  '{a} ~ ~ {b}',
  '{a} is ~ with {b}',
  '~ {a} ~ {b}',
];
const PASSIVE = [
  ...[
    '{b} comes after {a}',
    '{b} follows {a}',
    '{b} is triggered by {a}',
    '{b} is called by {a}',
    '{b} gets data from {a}',
  ],
  ...[
    '{b} is fed by {a}',
    '{b} is used by {a}',
    '{b} is entered from {a}',
    '{b} reports to {a}',
    '{b} works for {a}',
    '{b} is owned by {a}',
  ],
  ...[
    '{b} is under {a}',
    '{b} is listed under {a}',
    '{b} is a part of {a}',
    '{b} starts after {a}',
    '{b} receives from {a}',
    '{b} is next, after {a}',
  ],
  ...[
    '{b} is tied to {a}',
    '{b} takes the output of {a}',
    '{b} belongs to {a}',
    '{b} is started by {a}',
    '{b} has its input from {a}',
  ],
];
const INVENTED_PASSIVE = [
  '{b} is ~ed by {a}',
  '{b} ~ after {a}',
  '{b} is ~ from {a}',
  '{b} is ~ by {a}',
  '{b} can be ~ed from {a}',
];
const LONG_LABELS = [
  ...[
    '{sentence} (labelled {label})',
    '{sentence} (label: {label})',
    '{sentence}, labelled {label}',
    '{sentence} and reading {label}',
  ],
  ...[
    '{sentence}; write {label} on it',
    '{sentence} with the label {label}',
    '{sentence}, called {label}',
    '{sentence} ({label})',
  ],
];
const INVENTED_LONG_LABELS = ['{sentence}, ~ {label}', '{sentence} (~ {label})', '{sentence}; ~ {label}'];

const SHAPES = [
  ...[
    'Draw {names} as {a_shape}',
    'Draw {names} as {shape}s',
    '{names}: {shape}',
    'Use {a_shape} for {names}',
    '{names} should be {a_shape}',
  ],
  ...[
    'Make {names} {a_shape}',
    'The shape of {names} is {a_shape}',
    'As {shape}s: {names}',
    '{names} as {a_shape}',
    'Let {names} be {shape}s',
  ],
];
const INVENTED_SHAPES = ['~ {names} ~ {a_shape}', '~ {names} ~ ~ {shape}s', '{names} ~ {shape}'];

const NOTES = [
  ...[
    'Each arrow points to the next one.',
    'The lines have no direction.',
    'Keep it simple.',
    'Keep it tidy.',
    'No colors.',
  ],
  ...['It is for a talk.', 'Do not add anything else.', 'It should fit on one page.', 'The names matter.', 'Thanks!'],
];
const INVENTED_NOTES = ['~ ~ ~.', '~ ~ ~ ~.', 'Arrows ~ ~ the ~.', 'The ~ is ~.'];

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
  const { rng, pick, quote } = writer;
  const pattern = pick(SHORT_LINKS, INVENTED_SHORT_LINKS);
  const labelled = pick(SHORT_LABELS, INVENTED_SHORT_LABELS);
  const links = graph.edges.map(({ from, to, label }) => {
    const link = fill(pattern, { a: quote(graph.nodes[from]!.label), b: quote(graph.nodes[to]!.label) });
    return label === '' ? link : fill(labelled, { link, label });
  });
  const heads = capital(fill(pick(LINK_HEADS, INVENTED_LINK_HEADS), { links: links.join(rng.pick(LINK_SEPARATORS)) }));
  const [intro, boxes] = [writeIntro(graph, writer), writeBoxes(graph, writer)];
  const order = rng.next();
  if (order < 0.15) return `${asSentence(boxes)} ${asSentence(heads)} ${intro}`;
  if (order < 0.3) return `${intro}\n${boxes}\n${heads}`;
  if (order < 0.45) return `${boxes}, ${rng.pick(['as', 'in', 'on'])} ${rng.pick(NOUNS)}, ${uncapital(heads)}.`;
  return `${intro} ${asSentence(boxes)} ${asSentence(heads)}`;
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
