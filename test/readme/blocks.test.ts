/** The reader of examples, on a page made up for it: a README test that reads nothing would pass on anything. */
import { expect, test } from 'vitest';
import { codeSpans, examples, fencedBlocks, printedAsSaid } from './blocks.ts';
import { runExamples } from './shell.ts';

const PAGE = [
  '# Page',
  '## First',
  '```bash',
  '# a remark',
  'word=canvas; echo "one',
  'two"',
  '# -> one',
  '# -> two',
  "printf '%s\\n' \\",
  "  'it''s'",
  '```',
  'text',
  '```sql',
  'SELECT 1;',
  '```',
  '## Second',
  '```bash',
  'echo $word is here',
  '# -> canvas ... here',
  'false',
  '```',
].join('\n');

test('blocks carry their language, heading and line', () => {
  expect(fencedBlocks(PAGE).map(({ language, heading, line }) => [language, heading, line])).toEqual([
    ['bash', 'First', 3],
    ['sql', 'First', 13],
    ['bash', 'Second', 17],
  ]);
  expect(() => fencedBlocks('```bash\necho')).toThrow(/not closed/);
});

test('code spans may go over lines, and what stands in a block is none', () => {
  expect(codeSpans(`Say \`npm\nrun\` or \`x\`.\n${PAGE}`)).toEqual(['npm run', 'x']);
});

test('commands may go over several lines, and expectations belong to the command above', () => {
  const [first] = fencedBlocks(PAGE);
  expect(examples(first!)).toEqual([
    { command: 'word=canvas; echo "one\ntwo"', prints: 'one\ntwo', line: 6 },
    { command: "printf '%s\\n' \\\n  'it''s'", prints: undefined, line: 10 },
  ]);
});

test.each([
  ['{"a":1,"b":2}\n', '{"a":1,...}', true],
  ['{"a":1,"b":2}\n', '{"a":2,...}', false],
  ['{"a":1,"b":2}\n', '{"a":1', false],
  ['a.c', 'abc', false],
  ['abc', 'a.c', false],
  ['one  \ntwo\n', 'one\ntwo', true],
])('%j against %j: %s', (printed, said, same) => {
  expect(printedAsSaid(printed, said)).toBe(same);
});

test('all commands of a page run in one shell, in order, with their exit codes', async () => {
  const all = fencedBlocks(PAGE)
    .filter(({ language }) => language === 'bash')
    .flatMap(examples);
  const outcomes = await runExamples(all, (command) => command);
  expect(outcomes.map(({ printed, exit }) => [printed, exit])).toEqual([
    ['one\ntwo\n', 0],
    ['its\n', 0],
    ['canvas is here\n', 0],
    ['', 1],
  ]);
});
