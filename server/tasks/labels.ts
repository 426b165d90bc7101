/** Labels: what a node may be called, by its part in the diagram, and the draw of distinct labels for a whole graph. */
import type { Rng } from '../../schemas/seed.ts';
import type { Domain, GeneralWords, Vocabulary } from './lexicon.ts';
import { hashLabel } from './wl-hash.ts';

/** The part a node plays, which decides the words it may be called by. */
export type Part = 'client' | 'edge' | 'service' | 'store' | 'device' | 'entity' | 'step' | 'role' | 'state';

interface LabelPool {
  one_word: readonly string[];
  two_words: readonly string[];
}

const pairs = (left: readonly string[], right: readonly string[]): string[] =>
  left.flatMap((a) => right.filter((b) => a !== b).map((b) => `${a} ${b}`));

const POOL_MAKERS: Record<Part, (domain: Domain, general: GeneralWords) => LabelPool> = {
  client: (d, g) => ({ one_word: g.clients, two_words: pairs(d.objects, g.clientKinds) }),
  edge: (d, g) => ({ one_word: g.edges, two_words: pairs(d.objects, g.edgeKinds) }),
  service: (d, g) => ({ one_word: d.services, two_words: pairs(d.objects, g.serviceKinds) }),
  store: (d, g) => ({ one_word: g.stores, two_words: pairs(d.objects, g.stores) }),
  device: (d, g) => ({ one_word: g.devices, two_words: pairs(d.places, g.devices) }),
  entity: (d, g) => ({ one_word: d.objects, two_words: pairs(d.objects, g.entityKinds) }),
  step: (d) => ({ one_word: d.steps, two_words: pairs(d.steps, d.objects) }),
  role: (d, g) => ({ one_word: d.roles, two_words: pairs(d.objects, g.roleKinds) }),
  state: (d, g) => ({ one_word: [...d.states, ...g.states], two_words: pairs(d.objects, d.states) }),
};

const poolCache = new Map<string, LabelPool>();

function poolOf(part: Part, domain: Domain, general: GeneralWords): LabelPool {
  const key = `${part}/${domain.name}`;
  let pool = poolCache.get(key);
  if (!pool) poolCache.set(key, (pool = POOL_MAKERS[part](domain, general)));
  return pool;
}

export interface LabelStyle {
  /** Chance that a label has one word where both kinds are left. */
  one_word: number;
  /** Whether a word may occur in two labels of the same task. */
  share_words: boolean;
}

/** An index the labels must fall on: the sum of their hashes modulo `size` is `index`. */
export interface LabelClass {
  size: number;
  index: number;
}

function isFree(label: string, used: ReadonlySet<string>, style: LabelStyle): boolean {
  return style.share_words ? !used.has(label) : label.split(' ').every((word) => !used.has(word));
}

/** The first free label from a random start on that also meets `accept`; undefined when none does. */
function scan(list: readonly string[], rng: Rng, accept: (label: string) => boolean): string | undefined {
  const start = rng.int(0, list.length - 1);
  for (let i = 0; i < list.length; i++) {
    const label = list[(start + i) % list.length]!;
    if (accept(label)) return label;
  }
  return undefined;
}

function drawOne(pool: LabelPool, rng: Rng, style: LabelStyle, accept: (label: string) => boolean): string | undefined {
  const first = rng.next() < style.one_word ? pool.one_word : pool.two_words;
  const second = first === pool.one_word ? pool.two_words : pool.one_word;
  return scan(first, rng, accept) ?? scan(second, rng, accept);
}

/**
 * Distinct labels for nodes that play `parts`, from one domain. The last label is chosen so that the whole set falls on
 * `wanted`. Undefined when the words left cannot do that; draw again then.
 */
export function drawLabels(
  rng: Rng,
  vocabulary: Vocabulary,
  parts: readonly Part[],
  style: LabelStyle,
  wanted: LabelClass | undefined,
): string[] | undefined {
  const domain = rng.pick(vocabulary.domains);
  const used = new Set<string>();
  const labels: string[] = [];
  let sum = 0;
  for (const [i, part] of parts.entries()) {
    const last = i === parts.length - 1;
    const accept = (label: string): boolean =>
      isFree(label, used, style) && (!last || !wanted || (sum + hashLabel(label)) % wanted.size === wanted.index);
    const label = drawOne(poolOf(part, domain, vocabulary.general), rng, style, accept);
    if (label === undefined) return undefined;
    labels.push(label);
    sum += hashLabel(label);
    used.add(label);
    if (!style.share_words) for (const word of label.split(' ')) used.add(word);
  }
  return labels;
}
