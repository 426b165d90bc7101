/** `canvas-gym export --dataset ...` in the shapes that trainers read. The real `datasets` package loads them in test/interop. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openStore } from '../../clients/store/index.ts';
import { INSTRUCTIONS } from '../../schemas/instructions.ts';
import { temporaryFolder } from '../tools/temporary-folder.ts';
import { episode, RUN, sample, step } from '../store/records.ts';
import { runCli } from './command-line.ts';

const USER = { role: 'user', content: 'Draw a client.' };
const CANVAS = 'The canvas is 1200 x 800 pixels.';
const SYSTEM = { role: 'system', content: `Be terse.\n${CANVAS}` };
const says = (content: string): Record<string, string>[] => [{ role: 'assistant', content }];

/** Two tasks: the first with three answers of the teacher and two episodes, the second with one answer. */
function folderWithRun(): string {
  const cwd = temporaryFolder();
  const store = openStore(join(cwd, 'runs/canvas-gym.db'));
  const task_id = 'train.pipeline.1.1';
  store.createRun({ run_id: RUN, command: 'teach', config: {} });
  store.recordTeacherSamples(RUN, [
    sample(1, { sample: 0, completion: 'good', reward: 0.8, accepted: true }),
    sample(1, { sample: 1, completion: 'poor', reward: 0.4, accepted: false, reject_reason: 'low_reward' }),
    sample(1, { sample: 2, completion: 'unscored', reward: null, accepted: false, reject_reason: 'no_reward' }),
    sample(2, { completion: 'only', reward: 0.7, accepted: true }),
  ]);
  store.recordEpisodes(RUN, 'reinforce', [
    episode(1, { task_id, episode_return: 0.9, steps: [step({ action: 'best' })] }),
    episode(2, { task_id, episode_return: 0.1, steps: [step({ action: 'two' }), step({ action: 'turns' })] }),
    episode(3, { task_id, episode_return: 0, reward_preset: 'article', steps: [step({ action: 'other preset' })] }),
    episode(4, { task_id: null, episode_return: 0.5 }),
    episode(5, { task_id: 'val.er.2.7', prompt: 'Draw tables.', episode_return: null }),
  ]);
  store.close();
  return cwd;
}

const verlRow = (index: number, task_id: string, prompt: string): Record<string, unknown> => ({
  data_source: 'text_to_diagram',
  prompt: [{ role: 'user', content: prompt }],
  ability: 'diagram',
  reward_model: { style: 'rule', ground_truth: `{"task_id":"${task_id}"}` },
  extra_info: {
    ...{ split: task_id.split('.')[0], index, task_id },
    interaction_kwargs: { name: 'diagram', task_id },
  },
});

describe('rows for trainers', () => {
  const cwd = folderWithRun;

  test.each([
    [
      'prompt_completion',
      [
        { prompt: [USER], completion: says('good') },
        { prompt: [USER], completion: says('only') },
      ],
    ],
    ['messages', [{ messages: [USER, ...says('good')] }, { messages: [USER, ...says('only')] }]],
    [
      'unpaired',
      [
        { prompt: [USER], completion: says('good'), label: true },
        { prompt: [USER], completion: says('poor'), label: false },
        { prompt: [USER], completion: says('unscored'), label: false },
        { prompt: [USER], completion: says('only'), label: true },
      ],
    ],
    ['preference', [{ prompt: [USER], chosen: says('best'), rejected: says('poor') }]],
    [
      'prompts',
      [
        { prompt: [USER], task_id: 'train.pipeline.1.1', split: 'train' },
        { prompt: [USER], task_id: 'train.pipeline.1.2', split: 'train' },
        { prompt: [{ role: 'user', content: 'Draw tables.' }], task_id: 'val.er.2.7', split: 'val' },
      ],
    ],
    [
      'verl',
      [
        verlRow(0, 'train.pipeline.1.1', 'Draw a client.'),
        verlRow(1, 'train.pipeline.1.2', 'Draw a client.'),
        verlRow(2, 'val.er.2.7', 'Draw tables.'),
      ],
    ],
  ])('%s', async (dataset, rows) => {
    const { stdout, stderr } = await runCli(['export', '--dataset', dataset, '--system', ''], { cwd: cwd() });
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(rows);
    expect(stderr).toBe(`${rows.length} rows of ${dataset} of ${RUN}\n`);
  });

  test('a system message says how to answer, or what --system gives, and how large the canvas is', async () => {
    const first = async (...flags: string[]): Promise<unknown> => {
      const { stdout } = await runCli(['export', '--dataset', 'messages', ...flags], { cwd: cwd() });
      return (JSON.parse(stdout.split('\n')[0]!) as { messages: unknown[] }).messages[0];
    };
    expect(await first()).toEqual({ role: 'system', content: `${INSTRUCTIONS}\n${CANVAS}` });
    expect(await first('--system', 'Be terse.')).toEqual(SYSTEM);
  });

  test.each([
    ['--dataset messages --format parquet --out x.parquet', 'messages holds chat messages'],
    ['--dataset verl --stage sft', '--stage: the dataset verl has no stages'],
    ['--dataset prompts --policy-version rl-1', '--policy-version: the dataset prompts has no policies'],
    ['--dataset messages --format csv', '--format csv: messages is no table of numbers'],
    ['--dataset metrics --system x', '--system: the dataset metrics has no system message'],
  ])('%s is refused, since it could do nothing', async (flags, reason) => {
    const { code, stderr } = await runCli(['export', ...flags.split(' ')], { cwd: cwd() });
    expect(code).toBe(2);
    expect(stderr).toContain(reason);
  });
});
