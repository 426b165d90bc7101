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

/** Words in lines of at most `width` characters; a word that is longer has a line of its own. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** Lines of a table whose last column goes on in further lines, so that a row of it is at most `width` wide. */
export function toWrapped(header: readonly string[], rows: readonly (readonly string[])[], width: number): string[] {
  const last = header.length - 1;
  const others = header.slice(0, last).map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]!.length)));
  const left = Math.max(20, width - others.reduce((sum, each) => sum + each + 2, 0));
  const wrapped = rows.flatMap((row) =>
    wrap(row[last]!, left).map((line, i) => [...row.slice(0, last).map((cell) => (i === 0 ? cell : '')), line]),
  );
  return toLines(header, wrapped);
}
