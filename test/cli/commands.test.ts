/** tasks, score and play against a running server; runs and export on a log. */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openStore, SCHEMA_VERSION } from '../../clients/store/index.ts';
import { createClient } from '../../clients/ts/index.ts';
import { openRun } from '../../trainer/run.ts';
import { episodes, RUN, sample, step } from '../store/records.ts';
import { runCli, startCli, startServer, type Server } from './command-line.ts';
import { temporaryFolder } from '../tools/temporary-folder.ts';

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const parseLines = (lines: string): Record<string, unknown>[] =>
  lines
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

  const good = { prompt: 'Draw a client.', completion: DRAWING };

  test('names each line that is bad with what is wrong, and scores the others', async () => {
    const bad: [string, RegExp][] = [
      ['{"completion"', /^line 2: is not JSON: /],
      ['[]', /^line 4: must be a JSON object/],
      ['{"completion": "x"}', /^line 6: has no task_id, task or prompt$/],
      ['{"prompt": "x"}', /^line 8: has no completion$/],
      ['{"prompt": "x", "completion": 7}', /^line 10: completion must be a text, /],
      ['{"task_id": "train.nothing.1.0", "completion": "x"}', /^line 12: .*"train\.nothing/],
    ];
    const file = join(temporaryFolder(), 'completions.jsonl');
    writeFileSync(file, bad.map(([line]) => `${JSON.stringify(good)}\n${line}\n`).join(''));
    const { code, stdout, stderr } = await runCli(['score', file, '--url', server.url, '--batch', '4']);
    expect(parseLines(stdout).map((row) => row['line'])).toEqual([1, 3, 5, 7, 9, 11]);
    expect(stderr.trimEnd().split('\n')).toEqual([
      ...bad.map(([, problem]) => expect.stringMatching(problem) as string),
      expect.stringMatching(/^6 scored with graded, mean .*, 6 bad lines$/),
      'canvas-gym score: 6 of 12 lines were not scored',
    ]);
    expect(code).toBe(1);
  });

  test('finds the few lines of a batch that the server refuses', async () => {
    const bad = { task_id: 'train.nothing.1.0', completion: 'x' };
    const rows = Array.from({ length: 30 }, (_, i) => ([4, 5, 29].includes(i) ? bad : good));
    const input = rows.map((row) => JSON.stringify(row)).join('\n');
    const { code, stdout, stderr } = await runCli(['score', '-', '--url', server.url], { input });
    expect(parseLines(stdout)).toHaveLength(27);
    expect(stderr.match(/^line \d+/gm)).toEqual(['line 5', 'line 6', 'line 30']);
    expect(code).toBe(1);
  });

  test('Ctrl-C while it waits for a line sums up what was scored and ends', async () => {
    const child = startCli(['score', '-', '--url', server.url, '--batch', '1']);
    onTestFinished(() => void child.kill('SIGKILL'));
    child.stdin!.write(`${JSON.stringify(good)}\n`);
    const errors = text(child.stderr!);
    await once(child.stdout!, 'data');
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([1, null]);
    expect(await errors).toMatch(/^1 scored with graded, .*\ncanvas-gym score: interrupted\n$/);
  });
});

describe('play', () => {
  const TASK = 'train.pipeline.1.0';
  const play = (lines: readonly string[], args: readonly string[] = [TASK]) =>
    runCli(['play', '--url', server.url, ...args], { input: lines.join('\n') });

  test('shows the prompt, takes short forms and JSON, and draws', async () => {
    const svg = join(temporaryFolder(), 'pictures/canvas.svg');
    const { prompt } = await createClient({ url: server.url }).task({ task_id: TASK });
    const lines = [
      ...['rect a 80 80 240 80 Client', 'ellipse b 600 400 200 160 Server', 'a -> b calls', '', '{"actions":[]}'],
      ...['move a 80 100', 'done'],
    ];
    const { code, stdout } = await play(lines, ['--task-id', TASK, '--svg', svg]);
    expect(code).toBe(0);
    expect(stdout).toContain(`prompt  ${prompt}\n`);
    expect(stdout).toMatch(/\+-+\+\n *\| *Client *\|/);
    expect(stdout).toMatch(/\.\.+>/);
    expect(stdout).toMatch(/^-1\.000 +parse +actions array is empty/m);
    expect(stdout).toMatch(/^return {2}-?\d\.\d{3} after 6 turns$/m);
    expect(readFileSync(svg, 'utf8')).toMatch(/^<svg[\s\S]*Client[\s\S]*Server/);
  });

  test('shows what lost points, largest loss first, and every component only when asked', async () => {
    const client = createClient({ url: server.url });
    const { state } = await client.reset({ task_id: TASK, action_set: 'editor', max_turns: 20 });
    const action = {
      actions: [{ type: 'create_shape', id: 'a', shape: 'rectangle', x: 80, y: 80, w: 240, h: 80, text: 'Client' }],
    };
    const { info, observation } = await client.step({ state, action });
    const names = Object.keys(observation.reward_components);
    const [brief, full] = await Promise.all(
      [['rect a 80 80 240 80 Client'], ['rect a 80 80 240 80 Client', 'parts']].map((lines) => play(lines)),
    );
    const cells = (text: string): string[][] => text.split('\n').map((line) => line.split(/ {2,}/));
    const lost = cells(brief!.stdout).filter(([first]) => /^-\d/.test(first!));
    expect(lost.map(([, component]) => component)).toEqual(info.reasons.slice(0, 5).map(({ component }) => component));
    expect(lost.map(([first]) => first)).toEqual(
      info.reasons.slice(0, 5).map((reason) => `-${reason.lost.toFixed(3)}`),
    );
    expect(brief!.stdout.split('\n').every((line) => line.length <= 200)).toBe(true);
    const shown = (text: string) => names.filter((name) => cells(text).some(([first]) => first === name));
    expect(shown(brief!.stdout)).toEqual([]);
    expect(shown(full!.stdout)).toEqual(names);
    expect(names.length).toBeGreaterThan(20);
  });

  test('says in one line what is wrong with a line', async () => {
    const bad: [string, RegExp][] = [
      ['nonsense', /^"nonsense" is no command \(help lists the commands\)$/],
      ['rec a 80 80 240 80 Client', /^"rec" is no command; the nearest one is rect /],
      ['rect a 80 eighty 240 80 Client', /^Y is a number, not "eighty": rect ID X Y W H LABEL\.\. /],
      ['move a 80', /^Y is missing: move ID X Y /],
      ['a ->', /^B is missing: A -> B LABEL\.\. /],
      ['delete a b', /^"b" is too much: delete ID /],
    ];
    const [{ code, stdout }, silent] = await Promise.all([play(bad.map(([line]) => line)), play([])]);
    const start = silent.stdout.split('\n').length - 2; // the line of the return, and what follows it
    expect(code).toBe(0);
    const said = stdout.split('\n').slice(start, -2);
    expect(said).toEqual(bad.map(([, problem]) => expect.stringMatching(problem) as string));
  });

  test('a task by name leaves nothing to choose', async () => {
    const { code, stderr } = await play([], [TASK, '--level', '2']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--level')]);
  });
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
    store.recordMetrics(RUN, 'sft', 0, { 'time/stage_s': 61.2 });
    store.recordMetrics(RUN, 'reinforce', 0, { 'time/stage_s': 9 });
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

  test('runs says how long the stages of a run took, as its report does', async () => {
    const cwd = folderWithLog();
    const [list, report] = await Promise.all([
      runCli(['runs'], { cwd }),
      runCli(['report', RUN, '--url', server.url, '--output', 'report.html'], { cwd }),
    ]);
    expect(report.code).toBe(0);
    const took = list.stdout
      .split('\n')
      .map((line) => line.split(/ {2,}/))
      .find(([run]) => run === RUN)!
      .at(-1)!;
    expect(took).toBe('1 min 10 s');
    const page = readFileSync(join(cwd, 'report.html'), 'utf8');
    expect(/<dt>took<\/dt>\s*<dd>([^<]*)/.exec(page)![1]).toBe(took);
    expect(/together<\/th>\s*<td>([^<]*)/.exec(page)![1]).toBe(took);
  });

  test.each(['trajectories', 'sft', 'metrics', 'metrics_wide', 'prompts'])(
    'export of %s takes the last run that has any',
    async (dataset) => {
      const cwd = folderWithLog();
      const [unnamed, named] = await Promise.all(
        [[], [RUN]].map((run) => runCli(['export', ...run, '--dataset', dataset], { cwd })),
      );
      expect(named!.stdout.length).toBeGreaterThan(10);
      expect(unnamed).toEqual(named);
    },
  );

  test('export writes all episodes of a stage with their steps, exactly', async () => {
    const { stdout, stderr } = await runCli(['export', RUN, '--stage', 'reinforce'], { cwd: folderWithLog() });
    const rows = parseLines(stdout);
    expect(rows.map(({ task_id }) => task_id)).toEqual(episodes(600).map(({ task_id }) => task_id));
    expect(rows[599]).toMatchObject({
      schema_version: SCHEMA_VERSION,
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
    expect(points).toContainEqual({ stage: 'reinforce', name: 'episode/return', optimizer_step: 1, value: 0.5 });
  });

  test.each([
    ['sft', '--stage', 'reinforce', 'the dataset sft has no stages'],
    ['sft', '--policy-version', 'rl-1', 'the dataset sft has no policies'],
    ['metrics', '--policy-version', 'rl-1', 'the dataset metrics has no policies'],
    ['metrics_wide', '--policy-version', 'rl-1', 'the dataset metrics_wide has no policies'],
  ])('export of %s refuses %s, which could do nothing', async (dataset, flag, value, reason) => {
    const { code, stderr } = await runCli(['export', RUN, '--dataset', dataset, flag, value], { cwd: folderWithLog() });
    expect(code).toBe(2);
    expect(stderr).toContain(`${flag}: ${reason}`);
  });

  test('export writes the metrics of one stage', async () => {
    const cwd = folderWithLog();
    const rowsOf = async (stage: string) =>
      parseLines((await runCli(['export', RUN, '--dataset', 'metrics', '--stage', stage], { cwd })).stdout);
    expect(await rowsOf('evaluate')).toEqual([]);
    expect(await rowsOf('reinforce')).toHaveLength(2);
  });

  test('export writes a row a step with a column for each metric, as JSON lines, CSV and Parquet', async () => {
    const cwd = folderWithLog();
    const wide = async (...flags: string[]) =>
      (await runCli(['export', RUN, '--dataset', 'metrics_wide', ...flags], { cwd })).stdout;
    const rows = parseLines(await wide());
    expect(rows).toContainEqual({ stage: 'reinforce', optimizer_step: 1, 'episode/return': 0.5 });
    const [header, ...lines] = (await wide('--format', 'csv')).trimEnd().split('\n');
    const columns = header!.split(',');
    expect(columns.slice(0, 2)).toEqual(['stage', 'optimizer_step']);
    const cells = lines.map((line) => line.split(','));
    const read = cells.map((row) => columns.flatMap((name, i) => (row[i] === '' ? [] : [[name, row[i]]])));
    expect(read.map((pairs) => Object.fromEntries(pairs) as unknown)).toEqual(
      rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value)]))),
    );
    expect(parseLines(await wide('--stage', 'sft')).map(({ stage }) => stage)).not.toContain('reinforce');
    await wide('--format', 'parquet', '--out', 'wide.parquet');
    const stored = await parquetReadObjects({ file: await asyncBufferFromFile(join(cwd, 'wide.parquet')) });
    const full = rows.map((row) => Object.fromEntries(columns.map((name) => [name, row[name] ?? null])));
    expect(stored).toEqual(full);
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
