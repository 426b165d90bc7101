/** The best one-to-one assignment between rows and columns: the Hungarian method on sparse values. */

/** A pair that may be assigned, with its value > 0. */
export interface Candidate {
  readonly row: number;
  readonly column: number;
  readonly value: number;
}

/**
 * Assigns rows to columns one to one so that the sum of values is largest. Pairs that are not given have value 0 and
 * are never assigned. Returns the column of each row, -1 for none. Rows and columns that no candidate joins are solved
 * apart, which makes the common case (one good label for each node) linear.
 */
export function assign(rows: number, candidates: readonly Candidate[]): Int32Array {
  const columnOf = new Int32Array(rows).fill(-1);
  for (const group of connectedGroups(rows, candidates)) {
    if (group.length === 1) columnOf[group[0]!.row] = group[0]!.column;
    else assignGroup(group, columnOf);
  }
  return columnOf;
}

/** Candidates in groups that share neither rows nor columns with each other. */
function connectedGroups(rows: number, candidates: readonly Candidate[]): Candidate[][] {
  const parent = new Map<number, number>();
  const find = (key: number): number => {
    let root = key;
    for (let up = parent.get(root); up !== undefined && up !== root; up = parent.get(root)) root = up;
    parent.set(key, root);
    return root;
  };
  for (const { row, column } of candidates) {
    const [a, b] = [find(row), find(rows + column)];
    if (a !== b) parent.set(b, a);
  }
  const groups = new Map<number, Candidate[]>();
  for (const candidate of candidates) {
    const root = find(candidate.row);
    const group = groups.get(root);
    if (group === undefined) groups.set(root, [candidate]);
    else group.push(candidate);
  }
  return [...groups.values()];
}

function assignGroup(group: readonly Candidate[], columnOf: Int32Array): void {
  const rows = [...new Set(group.map(({ row }) => row))];
  const columns = [...new Set(group.map(({ column }) => column))];
  const rowAt = new Map(rows.map((row, i) => [row, i]));
  const columnAt = new Map(columns.map((column, j) => [column, j]));
  // The method assigns every row, so the shorter side takes that part.
  const flip = rows.length > columns.length;
  const [short, long] = flip ? [columns.length, rows.length] : [rows.length, columns.length];
  const cost = Array.from({ length: short }, () => new Float64Array(long));
  for (const { row, column, value } of group) {
    const [i, j] = [rowAt.get(row)!, columnAt.get(column)!];
    cost[flip ? j : i]![flip ? i : j] = -value;
  }
  minimalAssignment(cost, long).forEach((b, a) => {
    const [i, j] = flip ? [b, a] : [a, b];
    if (cost[a]![b]! < 0) columnOf[rows[i]!] = columns[j]!;
  });
}

/** Column of each row for the least total cost, O(rows^2 columns): Kuhn 1955, Munkres 1957, with potentials. */
function minimalAssignment(cost: readonly Float64Array[], width: number): number[] {
  const rowPotential = new Float64Array(cost.length + 1);
  const columnPotential = new Float64Array(width + 1);
  const rowOf = new Int32Array(width + 1).fill(-1); // column `width` is where a new row starts its search
  for (let row = 0; row < cost.length; row++) {
    const way = new Int32Array(width + 1).fill(-1);
    const least = new Float64Array(width + 1).fill(Infinity);
    const used = new Uint8Array(width + 1);
    rowOf[width] = row;
    let column = width;
    while (rowOf[column] !== -1) {
      used[column] = 1;
      const from = rowOf[column]!;
      let [delta, next] = [Infinity, -1];
      for (let j = 0; j < width; j++) {
        if (used[j]) continue;
        const reduced = cost[from]![j]! - rowPotential[from]! - columnPotential[j]!;
        if (reduced < least[j]!) [least[j], way[j]] = [reduced, column];
        if (least[j]! < delta) [delta, next] = [least[j]!, j];
      }
      for (let j = 0; j <= width; j++) {
        if (used[j]) {
          rowPotential[rowOf[j]!]! += delta;
          columnPotential[j]! -= delta;
        } else least[j]! -= delta;
      }
      column = next;
    }
    for (; column !== width; column = way[column]!) rowOf[column] = rowOf[way[column]!]!;
  }
  const columnOf = new Array<number>(cost.length).fill(-1);
  for (let j = 0; j < width; j++) if (rowOf[j] !== -1) columnOf[rowOf[j]!] = j;
  return columnOf;
}
