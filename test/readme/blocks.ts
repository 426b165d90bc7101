/** Reads the examples out of a Markdown page: fenced blocks, shell commands, and what the page says they print. */

export interface Block {
  /** First word after the fence, e.g. "bash"; "" for none. */
  language: string;
  text: string;
  /** The nearest heading above, without its marks. */
  heading: string;
  /** Line of the opening fence, from 1. */
  line: number;
}

export function fencedBlocks(markdown: string): Block[] {
  const blocks: Block[] = [];
  let heading = '';
  let open: (Block & { fence: string }) | undefined;
  for (const [index, line] of markdown.split('\n').entries()) {
    const fence = /^(`{3,})\s*(\S*)/.exec(line);
    if (open !== undefined) {
      if (line.trim() === open.fence) {
        blocks.push({ language: open.language, text: open.text, heading: open.heading, line: open.line });
        open = undefined;
      } else open.text += `${line}\n`;
    } else if (fence !== null) open = { fence: fence[1]!, language: fence[2]!, text: '', heading, line: index + 1 };
    else heading = /^#+ +(.*)/.exec(line)?.[1] ?? heading;
  }
  if (open !== undefined) throw new Error(`the block at line ${open.line} is not closed`);
  return blocks;
}

/** The code spans of a page outside of its fenced blocks, each as one line. */
export function codeSpans(markdown: string): string[] {
  const prose = markdown.replace(/^```[\s\S]*?^```$/gm, '');
  return [...prose.matchAll(/`([^`]+)`/g)].map(([, code]) => code!.replace(/\s+/g, ' '));
}

export interface Example {
  command: string;
  /** What the page says it prints, from the `# -> ` lines below it; undefined where it says nothing. */
  prints: string | undefined;
  line: number;
}

const EXPECTED = '# -> ';

/** The commands of a shell block: a trailing backslash continues one, an open quote too; other comments are skipped. */
export function examples(block: Block): Example[] {
  const found: Example[] = [];
  let pending = '';
  for (const [index, line] of block.text.split('\n').entries()) {
    const last = found.at(-1);
    if (pending === '' && line.startsWith(EXPECTED)) {
      if (last === undefined) throw new Error(`line ${block.line + index + 1}: an expectation without a command`);
      last.prints =
        last.prints === undefined ? line.slice(EXPECTED.length) : `${last.prints}\n${line.slice(EXPECTED.length)}`;
      continue;
    }
    if (pending === '' && /^\s*(#|$)/.test(line)) continue;
    pending += pending === '' ? line : `\n${line}`;
    if (!isComplete(pending)) continue;
    found.push({ command: pending, prints: undefined, line: block.line + index + 1 });
    pending = '';
  }
  if (pending !== '') throw new Error(`line ${block.line}: a command without an end`);
  return found;
}

function isComplete(command: string): boolean {
  let quote = '';
  for (const character of command.replace(/\\[\s\S]/g, (pair) => (pair === '\\\n' ? '' : '__'))) {
    if (quote === '') quote = character === '"' || character === "'" ? character : '';
    else if (character === quote) quote = '';
  }
  return quote === '' && !command.endsWith('\\');
}

/** Whether a command printed what the page says; `...` stands for anything, blanks at line ends do not count. */
export function printedAsSaid(printed: string, said: string): boolean {
  const tidy = (text: string): string => text.replace(/[ \t]+$/gm, '').trim();
  const escaped = tidy(said)
    .split('...')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${escaped.join('[\\s\\S]*')}$`).test(tidy(printed));
}
