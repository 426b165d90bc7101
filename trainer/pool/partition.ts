/**
 * How work on many lists of tokens is shared out. What a part holds depends on the batch and the number of parts alone, so
 * equal calls add up in the same order and end in the same bytes.
 */
import { isEqual } from '../model/layout.ts';

type Lists = readonly (readonly number[])[];

/** Lists that lie one after another and share a prompt: [from, to). */
interface Run {
  readonly from: number;
  readonly to: number;
  /** Rows the model computes: the prompt once, and every completion. */
  readonly rows: number;
}

/**
 * Shares a batch out by the rows it takes (see model/layout.ts), runs of a prompt whole. A run of more than a part's share
 * is cut, and its prompt is then computed in each piece.
 * @returns indices into the batch, ascending, for at most `parts` parts; none is empty
 */
export function shareOut(prompts: Lists, completions: Lists, parts: number): number[][] {
  const rowsOf = (from: number, to: number): number =>
    completions.slice(from, to).reduce((sum, completion) => sum + completion.length, prompts[from]!.length);
  const runs = runsOf(prompts).map(({ from, to }): Run => ({ from, to, rows: rowsOf(from, to) }));
  const share = runs.reduce((sum, { rows }) => sum + rows, 0) / parts;
  const pieces = runs.flatMap(({ from, to, rows }) =>
    cut(from, to, Math.min(to - from, Math.ceil(rows / share))).map((piece): Run => ({
      ...piece,
      rows: rowsOf(piece.from, piece.to),
    })),
  );
  return balance(
    pieces.map((piece) => piece.rows),
    parts,
  )
    .map((share) => share.flatMap((i) => range(pieces[i]!)).sort((a, b) => a - b))
    .filter((share) => share.length > 0);
}

/**
 * Shares work of known costs out: the most costly first, each to the share that has least (Graham 1969).
 * @returns for each share the indices of its work, ascending; a share may be empty
 */
export function balance(costs: readonly number[], shares: number): number[][] {
  const order = [...costs.keys()].sort((a, b) => costs[b]! - costs[a]! || a - b);
  const all = Array.from({ length: shares }, () => ({ cost: 0, indices: [] as number[] }));
  for (const i of order) {
    const least = all.reduce((best, one) => (one.cost < best.cost ? one : best));
    least.cost += costs[i]!;
    least.indices.push(i);
  }
  return all.map(({ indices }) => indices.sort((a, b) => a - b));
}

function range({ from, to }: { from: number; to: number }): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}

/**
 * Cuts prompts into contiguous parts of about as many lists, where a new prompt begins if that is near.
 * @returns [from, to) of at most `parts` parts; none is empty
 */
export function cutBetweenRuns(prompts: Lists, parts: number): { from: number; to: number }[] {
  const starts = runsOf(prompts).map(({ from }) => from);
  const near = prompts.length / parts / 4;
  const borders = Array.from({ length: parts - 1 }, (_, i) => {
    const even = Math.round(((i + 1) * prompts.length) / parts);
    const closest = starts.reduce((best, start) => (Math.abs(start - even) < Math.abs(best - even) ? start : best), 0);
    return Math.abs(closest - even) <= near ? closest : even;
  });
  const edges = [0, ...borders, prompts.length];
  return edges.slice(1).flatMap((to, i) => (edges[i]! < to ? [{ from: edges[i]!, to }] : []));
}

function runsOf(prompts: Lists): { from: number; to: number }[] {
  const starts = [...prompts.keys()].filter((i) => i === 0 || !isEqual(prompts[i]!, prompts[i - 1]!));
  return starts.map((from, i) => ({ from, to: starts[i + 1] ?? prompts.length }));
}

/** [from, to) in `pieces` pieces of as many lists as evenly as can be. */
function cut(from: number, to: number, pieces: number): { from: number; to: number }[] {
  const edge = (i: number): number => from + Math.round(((to - from) * i) / pieces);
  return Array.from({ length: pieces }, (_, i) => ({ from: edge(i), to: edge(i + 1) }));
}
