/** tasks, score and play against a running server; runs and export on a log. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore } from '../../clients/store/index.ts';
import { createClient } from '../../clients/ts/index.ts';
import { openRun } from '../../trainer/run.ts';
import { episodes, RUN, sample, step } from '../store/records.ts';
import { runCli, startServer, type Server } from './command-line.ts';
import { temporaryFolder } from '../tools/temporary-folder.ts';

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const parseLines = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const DRAWING = JSON.stringify({
  actions: [{ type: 'create_shape', id: 'a', shape: 'rectangle', x: 80, y: 80, w: 160, h: 80, text: 'Client' }],
});

test('tasks lists what the server lists, as a table or as JSON', async () => {
  const query = { split: 'train', family: 'pipeline', level: 1, limit: 3, offset: 2 } as const;
  const { tasks, total } = await createClient({ url: server.url }).tasks(query);
  const flags = Object.entries(query).map(([key, value]) => `--${key}=${value}`);
  const [table, json] = await Promise.all(
    [flags, [...flags, '--json']].map((args) => runCli(['tasks', `--url=${server.url}`, ...args])),
  );
  expect(parseLines(json!.stdout)).toEqual(tasks);
  const lines = table!.stdout.trimEnd().split('\n');
  expect(lines.map((line) => line.split(/ {2,}/)[0])).toEqual([
    'task',
    ...tasks.map(({ task_id }) => task_id),
    `3 of ${total} tasks`,
  ]);
});

describe('score', () => {
  const rows = [
    { id: 7, prompt: 'Draw a client.', completion: DRAWING },
    { task_id: 'train.pipeline.1.0', completion: [{ role: 'assistant', content: DRAWING }] },
    { task: { prompt: 'Draw it.', expect: { nodes: [{ id: 'a', label: 'Client' }], edges: [] } }, completion: DRAWING },
    { prompt: 'Draw a client.', completion: 'I cannot draw.' },
  ];

  test('answers each line with its reward as the server gives it, and sums up', async () => {
    const input = `\ufeff${rows.map((row) => JSON.stringify(row)).join('\n\n')}\n`;
    const { code, stdout, stderr } = await runCli(['score', '-', '--url', server.url, '--batch', '3'], { input });
    expect(code).toBe(0);
    const client = createClient({ url: server.url });
    const expected = await Promise.all(
      rows.map(async (row, i) => {
        const { id, completion, ...rest } = { id: undefined, ...row };
        const { reward, components, errors } = await client.reward({ ...rest, completion });
        return { ...(id !== undefined && { id }), ...rest, line: 2 * i + 1, reward, components, errors };
      }),
    );
    expect(parseLines(stdout)).toEqual(expected);
    const mean = expected.reduce((sum, { reward }) => sum + reward, 0) / expected.length;
    expect(stderr).toBe(`4 scored with graded, mean ${mean.toFixed(4)}, 1 with reward 0\n`);
  });

  test.each([
    ['is not JSON', '{"completion"', /line 2 is not JSON/],
    ['has no task', '{"completion": "x"}', /line 2: .*task_id, task or prompt/],
    ['has no completion', '{"prompt": "x"}', /line 2: completion/],
    ['names an unknown task', '{"task_id": "train.nothing.1.0", "completion": "x"}', /no task "train\.nothing/],
  ])('fails by name where a line %s', async (_, line, message) => {
    const file = join(temporaryFolder(), 'completions.jsonl');
    writeFileSync(file, `${JSON.stringify(rows[0])}\n${line}\n`);
    const outcome = await runCli(['score', file, '--url', server.url, '--batch', '1']);
    expect(outcome).toMatchObject({ code: 1, stderr: expect.stringMatching(message) as string });
  });
});

test('play shows the prompt, takes short forms and JSON, and says what the reward says', async () => {
  const svg = join(temporaryFolder(), 'canvas.svg');
  const task = await createClient({ url: server.url }).task({ task_id: 'train.pipeline.1.0' });
  const lines = [
    'rect a 80 80 240 80 Client',
    'nonsense',
    'ellipse b 600 400 200 160 Server',
    'a -> b calls',
    '{"actions":[]}',
    'done',
  ];
  const args = ['play', '--url', server.url, '--task-id', task.task_id, '--svg', svg];
  const { code, stdout } = await runCli(args, { input: lines.join('\n') });
  expect(code).toBe(0);
  expect(stdout).toContain(`prompt  ${task.prompt}\n`);
  expect(stdout).toMatch(/\+-+\+\n *\| *Client *\|/);
  expect(stdout).toMatch(/\.\.+>/);
  expect(stdout).toContain('error   actions array is empty');
  expect(stdout).toMatch(/^return {2}-?\d\.\d{3} after 5 turns$/m);
  expect(readFileSync(svg, 'utf8')).toMatch(/^<svg[\s\S]*Client[\s\S]*Server/);
});

describe('on a log', () => {
  /** A folder with a log in it: one finished run, one whose process is gone, one that goes on. */
  function folderWithLog(): string {
    const cwd = temporaryFolder();
    const store = openStore(join(cwd, 'runs/canvas-gym.db'));
    store.createRun({ run_id: RUN, command: 'sft', config: {} });
    store.recordEpisodes(RUN, 'reinforce', episodes(600, { steps: [step({ action: 'a\u0000b' })] }));
    store.recordEpisodes(RUN, 'evaluate', episodes(3, { episode_return: null }));
    store.recordTeacherSamples(
      RUN,
      [0, 1, 2].map((i) => sample(i)),
    );
    store.recordMetrics(RUN, 'reinforce', 1, { 'episode/return': 0.5 });
    store.finishRun(RUN, 'done');
    store.createRun({ run_id: 'gone', command: 'teach', config: {} });
    const { run_id } = openRun({ root: join(cwd, 'runs'), command: 'sft', settings: {} });
    store.createRun({ run_id, command: 'sft', config: {} });
    store.close();
    return cwd;
  }

  test('runs shows the newest first, and what became of each', async () => {
    const { stdout } = await runCli(['runs', '--json'], { cwd: folderWithLog() });
    const runs = parseLines(stdout).map(({ command, status }) => [command, status]);
    expect(runs).toEqual([
      ['sft', 'running'],
      ['teach', 'interrupted'],
      ['sft', 'done'],
    ]);
  });

  test('export writes all episodes of a stage with their steps, exactly', async () => {
    const { stdout, stderr } = await runCli(['export', RUN, '--stage', 'reinforce'], { cwd: folderWithLog() });
    const rows = parseLines(stdout);
    expect(rows.map(({ task_id }) => task_id)).toEqual(episodes(600).map(({ task_id }) => task_id));
    expect(rows[599]).toMatchObject({
      schema_version: 1,
      run_id: RUN,
      split: 'train',
      steps: [{ turn: 0, action: 'a\u0000b' }],
    });
    expect(stderr).toBe(`600 rows of trajectories of ${RUN}\n`);
  });

  test('export writes the SFT dataset and metrics', async () => {
    const cwd = folderWithLog();
    const [sft, metrics] = await Promise.all(
      ['sft', 'metrics'].map((name) => runCli(['export', RUN, '--dataset', name, '--out', `${name}.jsonl`], { cwd })),
    );
    expect([sft!.code, metrics!.code]).toEqual([0, 0]);
    const [kept, points] = ['sft', 'metrics'].map((name) =>
      parseLines(readFileSync(join(cwd, `${name}.jsonl`), 'utf8')),
    );
    expect(kept).toEqual(
      [1, 2].map((i) => ({
        prompt: 'Draw a client.',
        completion: '{"actions":[]}',
        task_id: `train.pipeline.1.${i}`,
        reward: 0.9,
      })),
    );
    expect(points).toEqual([{ stage: 'reinforce', name: 'episode/return', optimizer_step: 1, value: 0.5 }]);
  });

  test.each([
    ['sft', '--stage', 'reinforce', 'the dataset sft has no stages'],
    ['sft', '--policy-version', 'rl-1', 'the dataset sft has no policies'],
    ['metrics', '--policy-version', 'rl-1', 'the dataset metrics has no policies'],
  ])('export of %s refuses %s, which could do nothing', async (dataset, flag, value, reason) => {
    const { code, stderr } = await runCli(['export', RUN, '--dataset', dataset, flag, value], { cwd: folderWithLog() });
    expect(code).toBe(2);
    expect(stderr).toContain(`${flag}: ${reason}`);
  });

  test('export writes the metrics of one stage', async () => {
    const cwd = folderWithLog();
    const rowsOf = async (stage: string) =>
      parseLines((await runCli(['export', RUN, '--dataset', 'metrics', '--stage', stage], { cwd })).stdout);
    expect(await rowsOf('sft')).toEqual([]);
    expect(await rowsOf('reinforce')).toHaveLength(1);
  });

  test('Parquet holds the same rows as JSON lines', async () => {
    const cwd = folderWithLog();
    const [, json] = await Promise.all(
      [['--format', 'parquet', '--out', 'run.parquet'], []].map((flags) => runCli(['export', RUN, ...flags], { cwd })),
    );
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(join(cwd, 'run.parquet')) });
    const parsed = rows.map((row) => ({ ...row, steps: JSON.parse(String(row['steps'])) as unknown }));
    expect(parsed).toEqual(parseLines(json!.stdout));
    expect(parsed).toHaveLength(603);
  });
});
