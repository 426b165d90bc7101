/**
 * The README's shell examples that use curl, as written and in order, in one shell, against a fresh server. Only the port is
 * changed. Each command must succeed, and print what the `# -> ` lines below it say (`...` stands for anything).
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readText } from '../rules/files.ts';
import { startSources, type ServerProcess } from '../tools/processes.ts';
import { examples, fencedBlocks, printedAsSaid } from './blocks.ts';
import { runExamples, type Outcome } from './shell.ts';

const blocks = fencedBlocks(readText('README.md')).filter(
  ({ language, text }) => language === 'bash' && text.includes('curl '),
);
const all = blocks.flatMap(examples);
const DOCUMENTED = 'localhost:8000';

let server: ServerProcess;
let outcomes: Outcome[];

beforeAll(async () => {
  server = await startSources();
  outcomes = await runExamples(all, (command) => command.replaceAll(DOCUMENTED, `127.0.0.1:${server.port}`));
});
afterAll(() => server.stop());

test('the page shows reset, step, reward, score and both pictures, and says what most commands print', () => {
  const commands = all.map(({ command }) => command).join('\n');
  for (const route of ['/reset', '/step', '/reward', '/score', '/render'])
    expect(commands).toContain(`${DOCUMENTED}${route}`);
  expect(commands).toMatch(/"format": ?"png"/);
  expect(commands).toMatch(/"max_turns": ?2/);
  expect(all.filter(({ prints }) => prints !== undefined).length).toBeGreaterThan(all.length / 2);
});

test.each(all.map((example, i) => [`line ${example.line}: ${example.command.slice(0, 60)}`, i] as const))(
  '%s',
  (_, i) => {
    const { printed, prints, exit } = outcomes[i]!;
    expect(exit, printed).toBe(0);
    if (prints !== undefined && !printedAsSaid(printed, prints)) expect(printed).toBe(prints);
  },
);
