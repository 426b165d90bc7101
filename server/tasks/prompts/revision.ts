/** Level 5: a draft and the changes that turn it into the graph. The draft is made backwards, from the graph. */
import type { Rng } from '../../../schemas/seed.ts';
import type { Link } from '../families.ts';
import type { TaskGraph } from '../graph.ts';
import type { Spare } from './constraints.ts';
import { explainRepeats, fill, quote, toNames } from './text.ts';
import { FAMILY_NOUNS, SEEN } from './wordings.ts';

interface Draft {
  labels: string[];
  links: Link[];
  changes: string[];
}

type Undo = (draft: Draft, spare: string[], word: string, rng: Rng) => void;

/** Names in a change are the final ones where the box has been renamed by then, so a renaming is always the last change. */
const undoRename: Undo = (draft, spare, _word, rng) => {
  const node = rng.int(0, draft.labels.length - 1);
  const old = spare.pop();
  const label = draft.labels[node]!;
  if (old === undefined || draft.labels.indexOf(label) !== draft.labels.lastIndexOf(label)) return;
  draft.labels[node] = old;
  draft.changes.push(`Rename ${quote(old)} to ${quote(label)}.`);
};

const undoRemovedBox: Undo = (draft, spare, word, rng) => {
  const extra = spare.pop();
  if (extra === undefined) return;
  draft.links.push({ from: rng.int(0, draft.labels.length - 1), to: draft.labels.length });
  draft.labels.push(extra);
  draft.changes.unshift(`Remove the box ${quote(extra)} and its ${word}.`);
};

const undoAddedLink: Undo = (draft, _spare, word, rng) => {
  const at = rng.int(0, draft.links.length - 1);
  const { from, to, label } = draft.links[at]!;
  draft.links.splice(at, 1);
  const labelled = label === undefined ? '' : ` labelled ${quote(label)}`;
  const names = toNames(draft.labels);
  draft.changes.unshift(
    `Add ${word === 'arrow' ? 'an arrow' : 'a line'} from ${names[from]!} to ${names[to]!}${labelled}.`,
  );
};

/** In this order, so that each change names boxes as they are called when its turn comes: links, boxes, then names. */
const UNDOS: readonly Undo[] = [undoRename, undoAddedLink, undoRemovedBox];

export function writeRevision(graph: TaskGraph, shapes: readonly string[], spare: Spare, rng: Rng): string[] {
  const word = graph.directed ? 'arrow' : 'line';
  const draft: Draft = { labels: graph.nodes.map((node) => node.label), links: [...graph.links], changes: [] };
  const left = spare.slice(1);
  for (const undo of UNDOS) undo(draft, left, word, rng);
  const direction = graph.direction ? SEEN.prose.directions[graph.direction] : '';
  const names = toNames(draft.labels);
  const links = draft.links.map(({ from, to, label }) => {
    return `${names[from]!} to ${names[to]!}${label === undefined ? '' : ` labelled ${quote(label)}`}`;
  });
  return [
    fill('Start from this draft of {noun}{direction}.', { noun: FAMILY_NOUNS[graph.family], direction }),
    `Boxes: ${draft.labels.map(quote).join(', ')}.`,
    ...explainRepeats(draft.labels, SEEN.prose.duplicate),
    `${word === 'arrow' ? 'Arrows' : 'Lines'}: ${links.join('; ')}.`,
    'Then change it and draw the result.',
    ...draft.changes,
    ...shapes,
  ];
}
