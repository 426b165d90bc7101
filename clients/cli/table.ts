/** Tables for a terminal: lines are cut at its width. */
import { toLines } from '../../trainer/table.ts';

/** Width to cut lines at: the terminal's, or none where output goes to a file or pipe. */
function outputWidth(): number {
  return process.stdout.isTTY ? process.stdout.columns : Infinity;
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 3))}...`;
}

/** Lines of a table, the header first. */
export function toTable(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const width = outputWidth();
  return toLines(header, rows).map((line) => cut(line, width));
}
