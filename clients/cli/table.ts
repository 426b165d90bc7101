/** Tables for a terminal: columns as wide as their widest cell, the last one cut at the terminal's width. */

/** Width to cut lines at: the terminal's, or none where output goes to a file or pipe. */
export function outputWidth(): number {
  return process.stdout.isTTY ? process.stdout.columns : Infinity;
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 3))}...`;
}

/** Lines of a table, the header first. */
export function toTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  width = outputWidth(),
): string[] {
  const all = [header, ...rows];
  const widths = header.map((_, i) => Math.max(...all.map((row) => (row[i] ?? '').length)));
  return all.map((row) => {
    const cells = row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0)));
    return cut(cells.join('  ').trimEnd(), width);
  });
}
