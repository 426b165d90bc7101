/**
 * How work on many lists of tokens is shared out. What a part holds depends on the batch and the number of parts alone, so
 * equal calls add up in the same order and end in the same bytes.
 */

type Lists = readonly (readonly number[])[];

/** Lists that lie one after another and share a prompt: [from, to). */
interface Run {
  readonly from: number;
  readonly to: number;
  /** Rows the model computes: the prompt once, and every completion. */
  readonly rows: number;
}

/**
 * Shares a batch out by the rows it takes (see model/layout.ts): longest runs of a prompt first, each to the part that has
 * least (Graham 1969). A run of more than a part's share is cut, and its prompt is then computed in each piece.
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
  pieces.sort((a, b) => b.rows - a.rows || a.from - b.from);
  const shares = Array.from({ length: parts }, () => ({ rows: 0, indices: [] as number[] }));
  for (const { from, to, rows } of pieces) {
    const least = shares.reduce((best, one) => (one.rows < best.rows ? one : best));
    least.rows += rows;
    for (let i = from; i < to; i++) least.indices.push(i);
  }
  return shares.map(({ indices }) => indices.sort((a, b) => a - b)).filter((indices) => indices.length > 0);
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

function isEqual(a: readonly number[], b: readonly number[]): boolean {
  return a === b || (a.length === b.length && a.every((id, i) => id === b[i]));
}
