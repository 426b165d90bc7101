/** What the README writes in Python that needs no framework, as it is written; the rest runs beside the frameworks in test/interop. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../clients/ts/index.ts';
import { startServer } from '../../server/main.ts';
import { readText, ROOT } from '../rules/files.ts';
import { temporaryFolder } from '../tools/temporary-folder.ts';
import { codeSpans, examples, fencedBlocks } from './blocks.ts';

const page = readText('README.md');
const blocks = fencedBlocks(page);
const TASK = 'train.pipeline.1.3';
const ANSWER =
  '{"actions": [{"type": "create_shape", "id": "a", "shape": "rectangle", "x": 120, "y": 360, "w": 200, "h": 80, "text": "Record"}]}';

let server: Awaited<ReturnType<typeof startServer>>;
let expected: number;
beforeAll(async () => {
  server = await startServer({ port: 0 });
  expected = (await createClient({ url: server.url }).reward({ task_id: TASK, completion: ANSWER })).reward;
});
afterAll(() => server.close());

/** Runs a command where the package is, as if it were installed; gives what it printed. */
async function run(folder: string, command: string, args: readonly string[]): Promise<string> {
  const env = {
    ...process.env,
    CANVAS_GYM_URL: server.url,
    PYTHONPATH: join(ROOT, 'clients/python/src'),
    PYTHONDONTWRITEBYTECODE: '1',
  };
  return (await promisify(execFile)(command, args, { cwd: folder, env })).stdout;
}

const toHere = (code: string): string => code.replaceAll('http://HOST', server.url);

const writers = blocks
  .filter(({ language }) => language === 'sh')
  .flatMap(examples)
  .map(({ command }) => command)
  .filter((command) => command.startsWith('python -c ') && !command.includes('canvas_gym.skyrl'));

test('there are lines that write rows for GRPO and for verl', () => {
  expect(writers.map((line) => /'(\w+\.\w+)'/.exec(line)?.[1])).toEqual(['rows.jsonl', 'train.json']);
});

test.each(writers)('%s', async (line) => {
  const folder = temporaryFolder();
  await run(folder, 'bash', ['-c', line.replace(/^python /, 'python3 ')]);
  const text = readFileSync(join(folder, /'(\w+\.\w+)'/.exec(line)![1]!), 'utf8');
  const rows = text
    .trimEnd()
    .split('\n')
    .map((row) => JSON.parse(row) as { prompt: { role: string; content: string }[] });
  expect(rows).toHaveLength(1000);
  expect(rows[0]!.prompt.map(({ role }) => role)).toEqual(['system', 'user']);
  expect(new Set(rows.map((row) => /train\.(\w+)\.1\./.exec(JSON.stringify(row))?.[1])).size).toBeGreaterThan(5);
});

test("AReaL's reward function, called as AReaL calls it, gives the reward of the environment", async () => {
  const folder = temporaryFolder();
  const [file] = blocks.filter(({ heading, language }) => heading === 'AReaL' && language === 'python');
  writeFileSync(join(folder, 'canvas_reward.py'), toHere(file!.text));
  const call = `reward_fn('Draw it.', '${ANSWER}', prompt_ids=[1], completion_ids=[2], task_id='${TASK}', split='train')`;
  const printed = await run(folder, 'python3', ['-c', `from canvas_reward import reward_fn; print(${call})`]);
  expect(Number(printed)).toBe(expected);
});

const made = [page, ...codeSpans(page)]
  .flatMap((code) => [...code.matchAll(/reward_function\("http:\/\/HOST"[^)]*\)/g)])
  .map(([code]) => code);

test.each([...new Set(made)])("TRL's %s gives the reward of the environment", async (code) => {
  const call = `${toHere(code)}(prompts=['Draw it.'], completions=['${ANSWER}'], task_id=['${TASK}'])`;
  const script = `from canvas_gym.trl import reward_function; print(${call})`;
  expect(JSON.parse(await run(temporaryFolder(), 'python3', ['-c', script]))).toEqual([expected]);
});

test('all of its Python is Python', async () => {
  const all = blocks.filter(({ language }) => language === 'python').map(({ text }) => text);
  expect(all.length).toBeGreaterThan(5);
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'all.json'), JSON.stringify(all));
  const script = "import json; [compile(code, 'README.md', 'exec') for code in json.load(open('all.json'))]";
  await run(folder, 'python3', ['-c', script]);
});
