/**
 * Labels: what a node may be called, by its part in the diagram, and the draw of labels for a whole graph. Labels of a
 * graph come from one domain and differ from each other, but for the twist `duplicate` of the higher levels.
 */
import type { Rng } from '../../schemas/seed.ts';
import type { Domain, GeneralWords, Vocabulary } from './lexicon.ts';
import { fill } from './prompts/text.ts';
import { hashLabel } from './wl-hash.ts';

/** The part a node plays, which decides the words it may be called by. */
export type Part =
  'client' | 'edge' | 'service' | 'store' | 'device' | 'entity' | 'step' | 'decision' | 'role' | 'state';

interface Entry {
  label: string;
  words: readonly string[];
  hash: number;
}

interface LabelPool {
  one_word: readonly Entry[];
  two_words: readonly Entry[];
}

const pairs = (left: readonly string[], right: readonly string[]): string[] =>
  left.flatMap((a) => right.filter((b) => a !== b).map((b) => `${a} ${b}`));
const asked = (labels: readonly string[]): string[] => labels.map((label) => `${label}?`);

type Words = Record<keyof LabelPool, readonly string[]>;
const WORDS_OF_PART: Record<Part, (domain: Domain, general: GeneralWords) => Words> = {
  client: (d, g) => ({ one_word: g.clients, two_words: pairs(d.objects, g.clientKinds) }),
  edge: (d, g) => ({ one_word: g.edges, two_words: pairs(d.objects, g.edgeKinds) }),
  service: (d, g) => ({ one_word: d.services, two_words: pairs(d.objects, g.serviceKinds) }),
  store: (d, g) => ({ one_word: g.stores, two_words: pairs(d.objects, g.stores) }),
  device: (d, g) => ({ one_word: g.devices, two_words: pairs(d.places, g.devices) }),
  entity: (d, g) => ({ one_word: d.objects, two_words: pairs(d.objects, g.entityKinds) }),
  step: (d) => ({ one_word: d.steps, two_words: pairs(d.steps, d.objects) }),
  decision: (d) => ({ one_word: asked(d.states), two_words: asked(pairs(d.objects, d.states)) }),
  role: (d, g) => ({ one_word: d.roles, two_words: pairs(d.objects, g.roleKinds) }),
  state: (d, g) => ({ one_word: [...d.states, ...g.states], two_words: pairs(d.objects, d.states) }),
};

const toEntry = (label: string): Entry => ({ label, words: label.split(' '), hash: hashLabel(label) });

/** One pool for each part and domain, made when first asked for. */
const pools = new Map<string, LabelPool>();

function poolOf(part: Part, domain: Domain, general: GeneralWords): LabelPool {
  const key = `${part}/${domain.name}`;
  const known = pools.get(key);
  if (known) return known;
  const { one_word, two_words } = WORDS_OF_PART[part](domain, general);
  const pool = { one_word: one_word.map(toEntry), two_words: two_words.map(toEntry) };
  pools.set(key, pool);
  return pool;
}

/** What makes the labels of a task harder: some long, some in another script, or two of them equal. */
export type Twist = 'long' | 'script' | 'duplicate';

export interface LabelStyle {
  /** Chance that a label has one word where both kinds are left. */
  one_word: number;
  /** Whether a word may occur in two labels of the same task. */
  share_words: boolean;
  twist?: Twist | undefined;
}

/** The first entry from a random start on that `accept` takes; undefined when none does. */
function scan(entries: readonly Entry[], rng: Rng, accept: (entry: Entry) => boolean): Entry | undefined {
  const start = rng.int(0, entries.length - 1);
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[(start + i) % entries.length]!;
    if (accept(entry)) return entry;
  }
  return undefined;
}

function drawPlain(pool: LabelPool, rng: Rng, style: LabelStyle, accept: (entry: Entry) => boolean): Entry | undefined {
  const oneWord = rng.next() < style.one_word;
  return (
    scan(oneWord ? pool.one_word : pool.two_words, rng, accept) ??
    scan(oneWord ? pool.two_words : pool.one_word, rng, accept)
  );
}

/** Six to ten words; patterns by part, those of `service` for every part that is a thing. */
const LONG_PATTERNS: Partial<Record<Part, readonly string[]>> & { service: readonly string[] } = {
  service: ['{noun} for each {a}, {b} and {c} in the region', '{noun} that keeps every {a} together with its {b}'],
  step: ['{step} every {a} whose {b} is not yet {state}', '{step} the {a} and tell whoever owns the {b}'],
  decision: ['Was the {a} {state} before the {b} arrived?', 'Is any {a} {state} while its {b} is missing?'],
  role: ['Head of {a} planning, {b} review and {c} support', 'Deputy for every {a} that lacks a {b}'],
  state: ['Waiting until the {a} is {state} and the {b} arrives', '{State} because the {a} came without its {b}'],
};

function drawLong(part: Part, domain: Domain, rng: Rng): string {
  const [a, b, c] = rng.shuffle(domain.objects).map((word) => word.toLowerCase()) as [string, string, string];
  const State = rng.pick(domain.states);
  const values = {
    a,
    b,
    c,
    State,
    state: State.toLowerCase(),
    step: rng.pick(domain.steps),
    noun: rng.pick(domain.services),
  };
  return fill(rng.pick(LONG_PATTERNS[part] ?? LONG_PATTERNS.service), values);
}

/** Chance that a label takes part in the twist. */
const TWISTED_SHARE = 0.4;

function drawTwisted(
  twist: Twist,
  part: Part,
  domain: Domain,
  script: readonly string[],
  rng: Rng,
): string | undefined {
  if (twist === 'duplicate' || rng.next() >= TWISTED_SHARE) return undefined;
  return twist === 'long' ? drawLong(part, domain, rng) : rng.pick(script);
}

/** Gives one node the label of an earlier one that plays the same part; the last node keeps its own. */
function repeatOne(parts: readonly Part[], entries: Entry[], rng: Rng): void {
  const options = entries.flatMap((_, copy) =>
    entries.flatMap((_, original) => (original < copy && parts[original] === parts[copy] ? [{ original, copy }] : [])),
  );
  if (options.length === 0) return;
  const { original, copy } = rng.pick(options);
  entries[copy] = entries[original]!;
}

/** Labels of one domain for the parts: distinct, but for `duplicate`. Undefined when the words run out. */
function drawEntries(rng: Rng, domain: Domain, vocabulary: Vocabulary, parts: readonly Part[], style: LabelStyle) {
  const script = rng.pick(vocabulary.scripts);
  const used = new Set<string>();
  const isFree = isFreeIn(used, style);
  const entries: Entry[] = [];
  for (const part of parts) {
    const twisted = style.twist && drawTwisted(style.twist, part, domain, script, rng);
    const own = twisted !== undefined && !used.has(twisted) ? toEntry(twisted) : undefined;
    const entry = own ?? drawPlain(poolOf(part, domain, vocabulary.general), rng, style, isFree);
    if (!entry) return undefined;
    entries.push(entry);
    used.add(entry.label);
    if (!style.share_words) for (const word of entry.words) used.add(word);
  }
  return entries;
}

function isFreeIn(used: ReadonlySet<string>, style: LabelStyle): (entry: Entry) => boolean {
  return ({ label, words }) => (style.share_words ? !used.has(label) : words.every((word) => !used.has(word)));
}

/** Sum of the label hashes, whatever their order. */
function sumHashes(entries: readonly Entry[]): number {
  return entries.reduce((total, entry) => total + entry.hash, 0);
}

/** Labels for nodes that play `parts`, with the sum of their hashes. Undefined when the words run out; draw again then. */
export function drawLabels(
  rng: Rng,
  vocabulary: Vocabulary,
  parts: readonly Part[],
  style: LabelStyle,
): { labels: string[]; hash: number; domain: Domain } | undefined {
  const domain = rng.pick(vocabulary.domains);
  const entries = drawEntries(rng, domain, vocabulary, parts, style);
  if (!entries) return undefined;
  if (style.twist === 'duplicate') repeatOne(parts, entries, rng);
  return { labels: entries.map((entry) => entry.label), hash: sumHashes(entries), domain };
}
