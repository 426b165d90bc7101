/** Rewards by URL as OpenRLHF, slime, miles and FAI-RL ask for them: their exact bodies, and what they read of the answers. */
import { describe, expect, test } from 'vitest';
import { createApp } from '../../server/app.ts';
import { reset, step } from '../../server/episode.ts';
import { reward, score } from '../../server/grade.ts';
import { render } from '../../server/render/index.ts';
import { createApi, overTransports, type Answer, type Api } from '../http/support.ts';
import { GOOD, INLINE, POOR, PROMPT, PROSE, TASK_ID, ZEBRA } from './drawings.ts';

const chatMl = (ask: string): string => `<|im_start|>user\n${ask}<|im_end|>\n<|im_start|>assistant\n`;
const CHAT = chatMl(PROMPT);

interface OpenRlhfAnswer {
  rewards: number[];
  scores: number[];
  extra_logs?: Record<string, number[]>;
}

/** What the environment itself says of completions. */
async function rewardsOf(api: Api, completions: readonly string[], preset: 'graded' | 'article' = 'graded') {
  const results = completions.map((completion) => api.client.reward({ task_id: TASK_ID, completion, reward: preset }));
  return (await Promise.all(results)).map((result) => result.reward);
}

const codeOf = ({ status, json }: Answer): [number, string, string] => {
  const { error } = json as { error: { code: string; path: string } };
  return [status, error.code, error.path];
};

overTransports('OpenRLHF', (api) => {
  const ask = async (body: unknown, query = ''): Promise<OpenRlhfAnswer> => {
    const { status, json, text } = await api().post(`/get_reward${query}`, body);
    expect(status, text).toBe(200);
    return json as OpenRlhfAnswer;
  };
  const batch = (completions: readonly string[], label: unknown = TASK_ID) => ({
    query: completions.map((text) => `${CHAT}${text}<|im_end|>`),
    prompts: completions.map(() => CHAT),
    labels: completions.map(() => label),
  });

  test('a batch has a reward for each item, the environment’s own, in order', async () => {
    const completions = [GOOD, PROSE, POOR];
    const { rewards, scores, extra_logs } = await ask(batch(completions));
    expect(rewards).toEqual(await rewardsOf(api(), completions));
    expect(rewards[0]).toBeGreaterThan(0.9);
    expect(scores).toEqual(rewards);
    for (const column of Object.values(extra_logs!)) {
      expect(column.length).toBe(3);
      expect(column.every((value) => Number.isFinite(value))).toBe(true);
    }
  });

  test('the logs have the same keys whatever the items, and for none', async () => {
    const { components } = await api().client.reward({ task_id: TASK_ID, completion: GOOD });
    const names = Object.keys(components);
    for (const completions of [[GOOD], [PROSE], ['[]', GOOD], []]) {
      expect(Object.keys((await ask(batch(completions))).extra_logs!)).toEqual(names);
    }
  });

  test('an empty batch has empty lists, and no logs where none are wanted', async () => {
    const { rewards, scores } = await ask({ query: [], prompts: [], labels: [] });
    expect([rewards, scores]).toEqual([[], []]);
    expect(await ask(batch([GOOD]), '?extra_logs=none')).toEqual({
      rewards: await rewardsOf(api(), [GOOD]),
      scores: await rewardsOf(api(), [GOOD]),
    });
  });

  test('the query chooses a preset', async () => {
    const { rewards, extra_logs } = await ask(batch([POOR]), '?reward=article');
    expect(rewards).toEqual(await rewardsOf(api(), [POOR], 'article'));
    expect(Object.keys(extra_logs!)).toEqual(['valid', 'layout', 'semantics']);
  });

  test.each([
    ['a task id', TASK_ID],
    ['an object', { task_id: TASK_ID, difficulty: 3 }],
    ['JSON text', JSON.stringify({ task_id: TASK_ID })],
  ])('a label that is %s', async (_, label) => {
    expect((await ask(batch([POOR], label))).rewards).toEqual(await rewardsOf(api(), [POOR]));
  });

  test.each([
    ['an object with a task', { task: INLINE }],
    ['JSON text of one', JSON.stringify({ task: INLINE })],
    ['an inline task itself', INLINE],
    ['JSON text of it', JSON.stringify(INLINE)],
  ])('a label that is %s brings its own expectation', async (_, label) => {
    const { rewards } = await ask(batch([ZEBRA, GOOD], label));
    expect(rewards[0]).toBeGreaterThan(0.9);
    expect(rewards[1]).toBeLessThan(0.5);
  });

  test.each([
    ['null', null],
    ['empty', ''],
  ])('a label that is %s leaves the prompt to count, as the user said it', async (_, label) => {
    const { rewards } = await ask(batch([GOOD], label));
    expect(rewards).toEqual([(await api().client.reward({ prompt: PROMPT, completion: GOOD })).reward]);
  });

  test('labels may be missing, and so may prompts where labels name the tasks', async () => {
    const plain = await ask({ query: [`${CHAT}${GOOD}`], prompts: [CHAT] });
    expect(plain.rewards).toEqual([(await api().client.reward({ prompt: PROMPT, completion: GOOD })).reward]);
    const labelled = await ask({ query: [`${GOOD}<|im_end|>`], labels: [TASK_ID] });
    expect(labelled.rewards).toEqual(await rewardsOf(api(), [GOOD]));
  });

  test('the examples of a prompt are no answer', async () => {
    const prompt = `Answer with JSON like ${GOOD}\n`;
    const { rewards } = await ask({ query: [`${prompt}${PROSE}`], prompts: [prompt], labels: [TASK_ID] });
    expect(rewards).toEqual([0]);
  });

  test.each([
    [
      'an unknown task',
      { query: [CHAT], prompts: [CHAT], labels: ['train.nope.1.3'] },
      [404, 'unknown_task', 'body.labels[0]'],
    ],
    [
      'labels of another length',
      { query: [CHAT], prompts: [CHAT], labels: [] },
      [422, 'unequal_columns', 'body.labels'],
    ],
    [
      'a label that is a number',
      { query: [CHAT], prompts: [CHAT], labels: [42] },
      [422, 'invalid_request', 'body.labels[0]'],
    ],
    [
      'a label without a task',
      { query: [CHAT], prompts: [CHAT], labels: [{ a: 1 }] },
      [422, 'invalid_request', 'body.labels[0]'],
    ],
    [
      'a label of broken JSON',
      { query: [CHAT], prompts: [CHAT], labels: ['{"task'] },
      [422, 'invalid_request', 'body.labels[0]'],
    ],
    [
      'an object of an unknown task',
      { query: ['x', 'x'], labels: [TASK_ID, { task_id: 'nope' }] },
      [404, 'unknown_task', 'body.labels[1].task_id'],
    ],
    [
      'a task whose arrow has no end',
      { query: ['x'], labels: [{ task: { prompt: 'x', expect: { nodes: [], edges: [{ from: 'a', to: 'b' }] } } }] },
      [422, 'invalid_request', 'body.labels[0].task.expect.edges[0].from'],
    ],
    ['no prompt and no label', { query: ['x'] }, [422, 'invalid_request', 'body.prompts[0]']],
    ['another prompt', { query: [PROSE], prompts: ['Say it.'] }, [422, 'invalid_request', 'body.query[0]']],
    ['no query', { prompts: [] }, [422, 'invalid_request', 'body.query']],
    ['a query that is text', { query: 'x' }, [422, 'invalid_request', 'body.query']],
  ])('%s is refused', async (_, body, expected) => {
    expect(codeOf(await api().post('/get_reward', body))).toEqual(expected);
  });

  test('an unknown preset is refused', async () => {
    expect(codeOf(await api().post('/get_reward?reward=best', { query: [] }))).toEqual([
      422,
      'invalid_request',
      'query.reward',
    ]);
  });
});

overTransports('slime and miles', (api) => {
  const ask = async (body: unknown, query = ''): Promise<unknown> => {
    const { status, json, text, type } = await api().post(`/rm${query}`, body);
    expect([status, type], text).toEqual([200, 'application/json']);
    return json;
  };

  test('the body is the reward, a bare number', async () => {
    const [good, prose] = await rewardsOf(api(), [GOOD, PROSE]);
    expect(await ask({ prompt: CHAT, response: `${GOOD}<|im_end|>`, label: TASK_ID })).toBe(good);
    expect(await ask({ prompt: CHAT, response: PROSE, label: TASK_ID })).toBe(prose);
    expect(prose).toBe(0);
  });

  test('with a reward key it is an object of numbers', async () => {
    const { reward: value, components } = await api().client.reward({ task_id: TASK_ID, completion: POOR });
    const answer = await ask({ prompt: null, response: POOR, label: TASK_ID }, '?reward_key=score');
    expect(answer).toEqual({ ...components, score: value });
  });

  test.each([
    ['a templated text', CHAT],
    ['a plain text', PROMPT],
    [
      'chat messages',
      [
        { role: 'system', content: 'Draw.' },
        { role: 'user', content: PROMPT },
      ],
    ],
  ])('a prompt that is %s, without a label', async (_, prompt) => {
    const { reward: expected } = await api().client.reward({ prompt: PROMPT, completion: GOOD });
    expect(await ask({ prompt, response: GOOD, label: null })).toBe(expected);
    expect(await ask({ prompt, response: GOOD })).toBe(expected);
  });

  test('a label of an object, and other fields of the trainer', async () => {
    const body = { prompt: PROMPT, response: ZEBRA, label: { task: INLINE }, metadata: { a: [1] }, index: 7 };
    expect(await ask(body, '?reward=article')).toBe(
      (await api().client.reward({ task: INLINE, completion: ZEBRA, reward: 'article' })).reward,
    );
  });

  test.each([
    ['neither prompt nor label', '', { prompt: null, response: 'x', label: null }, 'body.prompt'],
    ['no response', '', { prompt: 'x', label: null }, 'body.response'],
    ['a reward key that is no name', '?reward_key=a.b', { prompt: 'x', response: 'x' }, 'query.reward_key'],
  ])('%s is refused', async (_, query, body, path) => {
    expect(codeOf(await api().post(`/rm${query}`, body))).toEqual([422, 'invalid_request', path]);
  });
});

overTransports('FAI-RL', (api) => {
  /** As `APIRewardFunction` reads an answer: a list under the field, of the right length, finite, no flags. */
  const ask = async (body: { completions: unknown[] }): Promise<number[]> => {
    const { status, json, text } = await api().post('/fai_rl', body);
    expect(status, text).toBe(200);
    const { rewards } = json as { rewards: number[] };
    expect(rewards.length).toBe(body.completions.length);
    for (const value of rewards) expect([typeof value, Number.isFinite(value)]).toEqual(['number', true]);
    return rewards;
  };

  test('its own request: fields of the user beside, columns of any name in the context', async () => {
    const completions = [GOOD, PROSE];
    const context = {
      task_id: [TASK_ID, TASK_ID],
      answer: ['a', null],
      difficulty: [1, 2],
      completion_ids: [[1, 2], [3]],
    };
    const body = { model: 'judge', temperature: 0.2, prompts: [PROMPT, PROMPT], completions, context };
    expect(await ask(body)).toEqual(await rewardsOf(api(), completions));
  });

  test('chat messages on both sides, and a preset', async () => {
    const prompts = [[{ role: 'user', content: PROMPT }]];
    const completions = [[{ role: 'assistant', content: POOR }]];
    const { reward: expected } = await api().client.reward({ prompt: PROMPT, completion: POOR, reward: 'article' });
    expect(await ask({ prompts, completions, context: {}, reward: 'article' } as never)).toEqual([expected]);
  });

  test('tasks of the data set, as objects or as JSON text', async () => {
    const context = { task: [INLINE, JSON.stringify(INLINE), null] };
    const rewards = await ask({
      prompts: ['x', 'x', INLINE.prompt],
      completions: [ZEBRA, ZEBRA, ZEBRA],
      context,
    } as never);
    expect(rewards[0]).toBeGreaterThan(0.9);
    expect(rewards[1]).toBe(rewards[0]);
  });

  test('an empty batch', async () => {
    expect(await ask({ prompts: [], completions: [], context: {} } as never)).toEqual([]);
  });

  test.each([
    ['columns of different length', { prompts: ['x'], completions: [] }, [422, 'unequal_columns', 'body.prompts']],
    [
      'a completion that is a number',
      { prompts: ['x'], completions: [3] },
      [422, 'invalid_request', 'body.completions[0]'],
    ],
    [
      'an unknown task',
      { prompts: ['x'], completions: ['x'], context: { task_id: ['nope'] } },
      [404, 'unknown_task', 'body.context.task_id[0]'],
    ],
    [
      'a column that is shorter',
      { prompts: ['x'], completions: ['x'], context: { task_id: [] } },
      [422, 'unequal_columns', 'body.context.task_id'],
    ],
  ])('%s is refused', async (_, body, expected) => {
    expect(codeOf(await api().post('/fai_rl', body))).toEqual(expected);
  });
});

/** Runs `work`; how long it took, and the longest time in which nothing else had a turn, ms. */
async function watchTurns(work: () => Promise<unknown>): Promise<{ total: number; longest: number }> {
  const start = performance.now();
  let [last, longest, isDone] = [start, 0, false];
  const done = work().finally(() => (isDone = true));
  const tick = (): void => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
    if (!isDone) setImmediate(tick);
  };
  setImmediate(tick);
  await done;
  tick();
  return { total: performance.now() - start, longest };
}

describe('while the tasks of a batch are made, others have their turn', () => {
  const app = createApp();
  const api = createApi('http://test', async (request) => app.fetch(request));
  const batchFrom = (first: number) => Array.from({ length: 600 }, (_, i) => `train.architecture.4.${first + i}`);
  const texts = batchFrom(0).map(() => 'x');

  test.each([
    ['/fai_rl', { prompts: texts, completions: texts, context: { task_id: batchFrom(70_000) } }],
    ['/get_reward', { query: texts, labels: batchFrom(80_000) }],
  ])('%s', async (path, body) => {
    const { total, longest } = await watchTurns(() => api.post(path, body));
    expect(longest).toBeLessThan(total / 3);
  });
});

describe('a server whose scoring fails', () => {
  const log: string[] = [];
  /** Fails on one item of a batch, as `score` does: null for it. */
  const failing: typeof score = async (request, report) => {
    const answer = await score(request, report);
    report(new Error('password 1234'));
    return { ...answer, rewards: answer.rewards.map((value, i) => (i === 0 ? null : value)) };
  };
  const environment = { reset, step, reward, score: failing, render };
  const app = createApp({ environment, log: (entry) => log.push(entry) });
  const api = createApi('http://test', async (request) => app.fetch(request));

  test.each([
    ['/get_reward', { query: [GOOD, GOOD], labels: [TASK_ID, TASK_ID] }],
    ['/rm', { prompt: PROMPT, response: GOOD, label: TASK_ID }],
    ['/fai_rl', { prompts: [PROMPT, PROMPT], completions: [GOOD, GOOD], context: {} }],
  ])('%s: 503 with Retry-After, no number', async (path, body) => {
    const answer = await api.post(path, body);
    expect(codeOf(answer)).toEqual([503, 'internal', '']);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(answer.text).not.toContain('1234');
    expect(log.pop()).toContain('password 1234');
  });
});
