/** Results of benchmarks, as a table for people and as JSON for programs. */

export interface Row {
  name: string;
  value: number;
  unit: string;
  /** The same quantity of what we compare with; null where there is no such thing. */
  reference: number | null;
  /** value / reference. */
  ratio: number | null;
  /** For the table only: what the reference is and how it was got. */
  note: string;
  /** For the table only: the ratio to reach, `>= .65`; absent where there is none. */
  goal?: string;
}

export function row(
  name: string,
  value: number,
  unit: string,
  reference: number | null,
  note: string,
  goal?: string,
): Row {
  const ratio = reference === null ? null : value / reference;
  return { name, value, unit, reference, ratio, note, ...(goal === undefined ? {} : { goal }) };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

const number = (value: number | null): string =>
  value === null ? '-' : value.toLocaleString('en-US', { maximumFractionDigits: value < 100 ? 2 : 0 });

export function toTable(rows: readonly Row[]): string {
  const head = ['benchmark', 'value', 'unit', 'reference', 'ratio', 'goal', 'compared with'];
  const cells = rows.map(({ name, value, unit, reference, ratio, goal = '', note }) => [
    ...[name, number(value), unit, number(reference), number(ratio), goal, note],
  ]);
  const widths = head.map((title, column) =>
    Math.max(...[head, ...cells].map((line) => (line[column] ?? title).length)),
  );
  const isNumber = (column: number): boolean => [1, 3, 4].includes(column);
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, i) => (isNumber(i) ? text.padStart(widths[i] ?? 0) : text.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd();
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)].join('\n');
}

export const toJson = (rows: readonly Row[]): string =>
  `${JSON.stringify(
    rows.map(({ name, value, unit, reference, ratio }) => ({ name, value, unit, reference, ratio })),
    null,
    2,
  )}\n`;
