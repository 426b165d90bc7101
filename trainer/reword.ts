/**
 * Augmentation of whole texts, for an open vocabulary and for prompts in any wording: an example's labels are replaced by
 * others, mostly made-up ones, and its prompt by another one that asks for the same graph. The drawing stays the same
 * but for its names. Compare augment.ts, which exchanges known words among each other and works on tokens.
 */
import type { Action } from '../schemas/action.ts';
import { createRng, hash64, type Rng } from '../schemas/seed.ts';
import { createNameSource, type NameSource } from './names.ts';
import type { Graph } from './teacher/graph.ts';
import { readPrompt } from './teacher/read-prompt.ts';
import type { Tokenizer } from './tokenizer.ts';
import type { TextPair } from './vocabulary.ts';
import { writeWording } from './wordings.ts';

export interface RewordOptions {
  /** Share of examples whose labels are replaced. */
  readonly rename_share: number;
  /** Share of the words of new labels that are made up. */
  readonly made_up_share: number;
  /** Share of examples whose prompt is worded anew. */
  readonly reword_share: number;
}

/** What the teacher reads of an example. Examples that it cannot read have no graph, and stay as they are. */
interface ReadExample extends TextPair {
  readonly request: string;
  /** Lines of the prompt after the request. */
  readonly tail: string;
  readonly graph: Graph;
  readonly actions: readonly Action[];
}

export interface Rewriter {
  /**
   * One of the many forms of example number `index`.
   * @param ramp Below 1, names are made up and prompts are worded anew in that part of their shares only.
   */
  rewrite(index: number, rng: Rng, ramp?: number): TextPair;
}

/** Share of examples in other wordings whose arrow labels are replaced too; those are few words in the tasks. */
const RENAMED_ARROWS_SHARE = 0.5;

export function createRewriter(examples: readonly TextPair[], options: RewordOptions): Rewriter {
  const read = examples.map(readExample);
  const names = createNameSource(knownWords(read), options);
  return {
    rewrite: (index, rng, ramp = 1) => {
      const example = read[index]!;
      if (!('graph' in example)) return example;
      const isReworded = rng.next() < options.reword_share * ramp;
      const isRenamed = rng.next() < options.rename_share;
      const renaming = isRenamed ? drawRenaming(example.graph, names, { withArrows: isReworded, ramp }, rng) : KEEP;
      const graph = renameGraph(example.graph, renaming);
      const request = isReworded ? writeWording(graph, rng, names.word) : renameRequest(example, renaming);
      return { prompt: request + example.tail, completion: renameActions(example.actions, renaming) };
    },
  };
}

/**
 * Words for a task's prompt while a policy plays it: of share `rl_reword_share` of a step's tasks, the same graph under the
 * same names in a wording of its own. What the policy reads follows from the seed, the step and the task's place in it.
 */
export function createPromptRewording(
  tokenizer: Tokenizer,
  { seed, rl_reword_share }: { seed: number; rl_reword_share: number },
): (prompt: string, step: number, group: number) => string {
  if (rl_reword_share === 0) return (prompt) => prompt;
  const ids = Array.from({ length: tokenizer.vocab_size }, (_, id) => id);
  const words = ids.filter((id) => tokenizer.isWord(id)).map((id) => tokenizer.decode([id]));
  const { word } = createNameSource(words, { made_up_share: 1 });
  return (prompt, step, group) => {
    const rng = createRng(hash64('reinforce.reword', seed, step, group));
    const graph = rng.next() < rl_reword_share ? readPrompt(prompt) : undefined;
    return graph ? writeWording(graph, rng, word) : prompt;
  };
}

function readExample(example: TextPair): ReadExample | TextPair {
  const parts = /^([^]*?)(\n(?:Canvas: .*\n)?)$/.exec(example.prompt);
  const graph = parts ? readPrompt(parts[1]!) : undefined;
  if (!parts || !graph) return example;
  const { actions } = JSON.parse(example.completion) as { actions: Action[] };
  return { ...example, request: parts[1]!, tail: parts[2]!, graph, actions };
}

/** Words of letters that labels are made of, each once, in order of first use. */
function knownWords(examples: readonly (ReadExample | TextPair)[]): string[] {
  const labels = examples.flatMap((example) =>
    'graph' in example ? example.graph.nodes.map(({ label }) => label) : [],
  );
  return [...new Set(labels.flatMap((label) => label.match(/[A-Za-z]+/g) ?? []))];
}

interface Renaming {
  readonly nodes: ReadonlyMap<string, string>;
  readonly arrows: ReadonlyMap<string, string>;
}

const KEEP: Renaming = { nodes: new Map(), arrows: new Map() };

function drawRenaming(
  graph: Graph,
  names: NameSource,
  { withArrows, ramp }: { withArrows: boolean; ramp: number },
  rng: Rng,
): Renaming {
  const taken = new Set<string>();
  const draw = (): string => {
    for (;;) {
      const label = names.label(rng, ramp);
      if (!taken.has(label)) {
        taken.add(label);
        return label;
      }
    }
  };
  const renameAll = (texts: readonly string[], make: (text: string) => string): Map<string, string> =>
    new Map([...new Set(texts)].map((text) => [text, make(text)]));
  const nodes = renameAll(
    graph.nodes.map(({ label }) => label),
    draw,
  );
  const isRenamed = withArrows && rng.next() < RENAMED_ARROWS_SHARE;
  const arrowLabels = isRenamed ? graph.edges.flatMap(({ label }) => (label === '' ? [] : [label])) : [];
  const toArrowLabel = (): string => (rng.next() < 0.6 ? names.word(rng) : draw());
  return { nodes, arrows: renameAll(arrowLabels, toArrowLabel) };
}

function renameGraph(graph: Graph, { nodes, arrows }: Renaming): Graph {
  return {
    ...graph,
    nodes: graph.nodes.map((node) => ({ ...node, label: nodes.get(node.label) ?? node.label })),
    edges: graph.edges.map((edge) => ({ ...edge, label: arrows.get(edge.label) ?? edge.label })),
  };
}

/** The request in its own wording, with other names of boxes. */
function renameRequest({ request, graph }: ReadExample, { nodes }: Renaming): string {
  const renamed = (label: string): string => nodes.get(label) ?? label;
  if (request.includes('"')) {
    return request.replace(/"([^"]*)"/g, (quoted, label: string) =>
      nodes.has(label) ? `"${renamed(label)}"` : quoted,
    );
  }
  const labels = graph.nodes.map(({ label }) => label).sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
  const pattern = labels.map((label) => label.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|');
  return request.replace(new RegExp(`(?<![A-Za-z0-9])(?:${pattern})(?![A-Za-z0-9])`, 'g'), renamed);
}

/** Ids are labels, with a number behind them where labels repeat: the number stays. */
function renameActions(actions: readonly Action[], { nodes, arrows }: Renaming): string {
  const ids = new Map<string, string>();
  for (const action of actions) {
    if (action.type !== 'create_shape') continue;
    const { id, text = '' } = action;
    ids.set(id, id.startsWith(text) ? (nodes.get(text) ?? text) + id.slice(text.length) : id);
  }
  const renamed = actions.map((action) => {
    if (action.type === 'create_shape') {
      const { id, text } = action;
      return { ...action, id: ids.get(id)!, ...(text === undefined ? {} : { text: nodes.get(text) ?? text }) };
    }
    if (action.type !== 'connect') return action;
    const { from, to, text } = action;
    const ends = { from: ids.get(from) ?? from, to: ids.get(to) ?? to };
    return { ...action, ...ends, ...(text === undefined ? {} : { text: arrows.get(text) ?? text }) };
  });
  return JSON.stringify({ actions: renamed });
}
