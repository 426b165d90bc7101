/** Every command line of `canvas-gym` that the README writes, read by the settings of the command that it names. */
import { expect, test } from 'vitest';
import { COMMANDS, findCommand } from '../../clients/cli/commands.ts';
import { parseSettings, toFlag } from '../../schemas/settings.ts';
import { readText } from '../rules/files.ts';
import { codeSpans, examples, fencedBlocks } from './blocks.ts';

const page = readText('README.md');
const shell = fencedBlocks(page)
  .filter(({ language }) => language === 'bash' || language === 'sh')
  .flatMap(examples);

/** Ways to call it, and the command that each begins. */
const CALLS: readonly [RegExp, string?][] = [
  [/^(?:npm run|npx) canvas-gym (?:-- )?(?=[a-z])(.*)/],
  [/^npm start\b(?: --)?(.*)/, 'serve'],
  [/^npm run quickstart\b(?: --)?(.*)/, 'quickstart'],
  [/^npm run experiment:reward\b(?: --)?(.*)/, 'experiment-reward'],
];

/** Words of the command and what follows it; undefined for other commands. `N` stands for a number. */
function wordsOf(line: string): string[] | undefined {
  const code = line
    .replaceAll('\\\n', '')
    .replace(/\s+#.*$/s, '')
    .replaceAll(/(?<= )N\b/g, '1');
  for (const [pattern, command] of CALLS) {
    const rest = pattern.exec(code)?.[1];
    if (rest !== undefined) return [command ?? '', ...rest.trim().split(/\s+/)].filter((word) => word !== '');
  }
  return undefined;
}

const lines = [...codeSpans(page), ...shell.map(({ command }) => command)]
  .map((line) => [line, wordsOf(line)] as const)
  .filter((pair): pair is readonly [string, string[]] => pair[1] !== undefined);

test('the README starts the server for other machines, exports, and runs every stage by itself', () => {
  const written = lines.map(([, words]) => words.join(' '));
  expect(written).toContain('serve --host 0.0.0.0');
  expect(written.some((line) => line.startsWith('export --dataset '))).toBe(true);
  for (const stage of ['teach', 'sft', 'reinforce', 'evaluate', 'report']) {
    expect(written.some((line) => line.split(' ')[0] === stage)).toBe(true);
  }
});

test.each(lines)('%s', async (_, [name = '', ...words]) => {
  const { settings } = await findCommand(name);
  if (words.includes('--help')) return;
  expect(() => parseSettings(settings, words, {})).not.toThrow();
});

test('every `npm run NAME` is a script', () => {
  const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> };
  const named = [...page.matchAll(/npm run ([a-z][\w:-]*)/g)].map(([, name]) => name!);
  expect(named.length).toBeGreaterThan(5);
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named));
});

const TABLE = /^## Commands\n([\s\S]*?)^## /m.exec(page)?.[1] ?? '';
const rows = [...TABLE.matchAll(/^\| (`.*?) \| (.*) \|$/gm)].map(([, named, does]) => ({
  names: codeSpans(named!).map((span) => span.split(' ')[0]!),
  flags: [...does!.matchAll(/`(--[a-z-]+)/g)].map(([, flag]) => flag!),
}));

test('its table has every command, with flags that they have', async () => {
  expect(rows.flatMap(({ names }) => names).sort()).toEqual([...COMMANDS.keys()].sort());
  for (const { names, flags } of rows) {
    for (const name of names) {
      const { settings } = await findCommand(name);
      expect(Object.keys(settings.shape).map(toFlag)).toEqual(expect.arrayContaining(flags));
    }
  }
});
