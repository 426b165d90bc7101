/** Wrong use of the protocol: each row is a request and the exact refusal. Nothing here answers 500, or 503. */
import { describe, expect, test } from 'vitest';
import { STATE_VERSION } from '../../schemas/episode.ts';
import { PRESETS } from '../../schemas/reward.ts';
import { ROUTES, ROUTE_IDS, type Route } from '../../schemas/routes.ts';
import { SPLITS } from '../../schemas/task.ts';
import { SUITE_VERSION } from '../../server/tasks/suite.ts';
import { overTransports } from './support.ts';

const BAD_SEED =
  'body.seed: must be an integer from 0 to 9007199254740991 (2^53 - 1); send larger seeds, up to 18446744073709551615, as a string of digits';
const NO_NAN = '; JSON has no NaN or Infinity, send null or leave it out';
const COMPLETION =
  'must be a text, a list of chat messages with one of the role "assistant", or an object with "actions"';
const PRESET_NAMES = PRESETS.join(', ');
const SPLIT_NAMES = SPLITS.join(', ');
const ONE_ARROW = '{"shapes":[],"arrows":[{"from":"a","to":"b","text":""}]}';
const SHAPE = { id: 'a', shape: 'rectangle', x: 0, y: 0, w: 100, h: 60, text: '' };
const STATE = {
  version: STATE_VERSION,
  suite_version: SUITE_VERSION,
  reward_version: 1,
  task: { prompt: 'x' },
  action_set: 'core',
  max_turns: 1,
  turn: 0,
  canvas: { shapes: [], arrows: [] },
  selected: [],
  value: 0,
  total_reward: 0,
};
const LONG_NODES = Array.from({ length: 41 }, (_, i) => ({ id: `${i}`, label: 'x'.repeat(i === 40 ? 1 : 500) }));
const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

type Row = readonly [
  name: string,
  request: readonly [method: string, path: string, body?: string],
  status: number,
  code: string,
  path: string,
  message: string | RegExp,
];

const ROWS: readonly Row[] = [
  ['an empty body', ['POST', '/step', ''], 400, 'not_json', 'body', 'body is empty; send a JSON object'],
  ['a body cut short', ['POST', '/reset', '{"seed":'], 400, 'not_json', 'body', /^body must be JSON: Unexpected end/],
  ['a body that is no JSON', ['POST', '/reward', 'hello'], 400, 'not_json', 'body', /^body must be JSON: /],
  ['NaN', ['POST', '/reset', '{"seed":NaN}'], 400, 'not_json', 'body', new RegExp(`${NO_NAN}$`)],
  ['Infinity', ['POST', '/score', '{"completions":[Infinity]}'], 400, 'not_json', 'body', new RegExp(`${NO_NAN}$`)],
  ['-Infinity', ['POST', '/step', '{"action":-Infinity}'], 400, 'not_json', 'body', new RegExp(`${NO_NAN}$`)],
  [
    'a body deeper than 64',
    ['POST', '/step', `{"prompt":"x","action":${deep(64)}}`],
    400,
    'too_deep',
    'body',
    'body must not nest deeper than 64 levels',
  ],
  [
    'a body 300 000 deep',
    ['POST', '/score', `{"completions":${deep(300_000)}}`],
    400,
    'too_deep',
    'body',
    'body must not nest deeper than 64 levels',
  ],
  [
    'a body over 1 MiB',
    ['POST', '/reset', JSON.stringify({ prompt: 'x'.repeat(2 ** 20) })],
    413,
    'body_too_large',
    'body',
    'body must be at most 1048576 bytes; send less, or more requests',
  ],
  [
    'an unknown route',
    ['POST', '/steps', '{}'],
    404,
    'unknown_route',
    'path',
    'no route /steps; did you mean "/step"?; GET / lists them',
  ],
  [
    'a route nothing resembles',
    ['GET', '/v1/chat/completions'],
    404,
    'unknown_route',
    'path',
    'no route /v1/chat/completions; GET / lists them',
  ],
  ['a wrong method', ['GET', '/step'], 405, 'method_not_allowed', 'path', '/step takes POST, not GET'],
  [
    'a wrong method of a route with a parameter',
    ['DELETE', '/tasks/train.pipeline.1.0'],
    405,
    'method_not_allowed',
    'path',
    '/tasks/train.pipeline.1.0 takes GET, HEAD, not DELETE',
  ],
  [
    'an unknown preset',
    ['POST', '/reset', '{"reward":"articel"}'],
    422,
    'invalid_request',
    'body.reward',
    `body.reward: must be one of ${PRESET_NAMES}; did you mean "article"?`,
  ],
  [
    'an unknown preset of a batch',
    ['POST', '/score', '{"completions":[],"reward":"best"}'],
    422,
    'invalid_request',
    'body.reward',
    `body.reward: must be one of ${PRESET_NAMES}`,
  ],
  [
    'an unknown split',
    ['POST', '/reset', '{"split":"trian"}'],
    422,
    'invalid_request',
    'body.split',
    `body.split: must be one of ${SPLIT_NAMES}; did you mean "train"?`,
  ],
  [
    'an unknown split in a query',
    ['GET', '/tasks?split=tset_iid'],
    422,
    'invalid_request',
    'query.split',
    `query.split: must be one of ${SPLIT_NAMES}; did you mean "test_iid"?`,
  ],
  [
    'an unknown level',
    ['POST', '/reset', '{"level":9}'],
    422,
    'invalid_request',
    'body.level',
    'body.level: must be one of 1, 2, 3, 4, 5',
  ],
  [
    'an unknown task',
    ['POST', '/reset', '{"task_id":"trian.pipelin.1.7"}'],
    404,
    'unknown_task',
    'body.task_id',
    'no task "trian.pipelin.1.7"; ids are <split>.<family>.<level>.<index>, the nearest is train.pipeline.1.7',
  ],
  [
    'an unknown task in a URL',
    ['GET', '/tasks/nope'],
    404,
    'unknown_task',
    'path.task_id',
    'no task "nope"; ids are <split>.<family>.<level>.<index>, the nearest is train.pipeline.1.0',
  ],
  [
    'an unknown task in a batch',
    ['POST', '/score', '{"completions":["a"],"context":{"task_id":["nope"]}}'],
    404,
    'unknown_task',
    'body.context.task_id[0]',
    /^no task "nope"/,
  ],
  [
    'a family its split does not have',
    ['POST', '/reset', '{"split":"train","family":"timeline"}'],
    404,
    'unknown_task',
    'body',
    /^split train has no family timeline; it has architecture, /,
  ],
  [
    'an unknown field',
    ['POST', '/reset', '{"promt":"x"}'],
    422,
    'invalid_request',
    'body.promt',
    'body: unknown field "promt"; did you mean "prompt"?',
  ],
  [
    'an unknown field inside',
    ['POST', '/reset', '{"task":{"prompt":"x","expekt":{}}}'],
    422,
    'invalid_request',
    'body.task.expekt',
    'body.task: unknown field "expekt"; did you mean "expect"?',
  ],
  [
    'an unknown field of a query',
    ['GET', '/tasks?levl=1'],
    422,
    'invalid_request',
    'query.levl',
    'query: unknown field "levl"; did you mean "level"?',
  ],
  [
    'a limit that is no number',
    ['GET', '/tasks?limit=all'],
    422,
    'invalid_request',
    'query.limit',
    'query.limit: must be a number, not a text',
  ],
  [
    'a limit out of range',
    ['GET', '/tasks?limit=0'],
    422,
    'invalid_request',
    'query.limit',
    'query.limit: must be at least 1',
  ],
  ['a seed over 2^53', ['POST', '/reset', '{"seed":9007199254740993}'], 400, 'bad_seed', 'body.seed', BAD_SEED],
  ['the seed 2^53', ['POST', '/reset', '{"seed":9007199254740992}'], 400, 'bad_seed', 'body.seed', BAD_SEED],
  ['a negative seed', ['POST', '/reset', '{"seed":-1}'], 400, 'bad_seed', 'body.seed', BAD_SEED],
  ['a fractional seed', ['POST', '/reset', '{"seed":0.5}'], 400, 'bad_seed', 'body.seed', BAD_SEED],
  [
    'a seed string over 2^64',
    ['POST', '/reset', '{"seed":"18446744073709551616"}'],
    400,
    'bad_seed',
    'body.seed',
    BAD_SEED,
  ],
  ['a seed that is no number', ['POST', '/reset', '{"seed":"seven"}'], 400, 'bad_seed', 'body.seed', BAD_SEED],
  [
    'a number too large',
    ['POST', '/reset', '{"max_turns":1e999}'],
    422,
    'invalid_request',
    'body.max_turns',
    'body.max_turns: must be a number, not one too large for a double',
  ],
  [
    'no turns',
    ['POST', '/reset', '{"max_turns":0}'],
    422,
    'invalid_request',
    'body.max_turns',
    'body.max_turns: must be at least 1',
  ],
  [
    'two tasks',
    ['POST', '/reset', '{"prompt":"x","task_id":"train.pipeline.1.0"}'],
    422,
    'invalid_request',
    'body.prompt',
    'give one of task_id, task and prompt, not task_id and prompt',
  ],
  [
    'a task and a filter',
    ['POST', '/reset', '{"prompt":"x","level":1}'],
    422,
    'invalid_request',
    'body.level',
    'level chooses a task from the suite; leave it out, or the named task',
  ],
  [
    'an edge without a node',
    ['POST', '/reset', '{"task":{"prompt":"x","expect":{"nodes":[],"edges":[{"from":"a","to":"b"}]}}}'],
    422,
    'invalid_request',
    'body.task.expect.edges[0].from',
    'body.task.expect.edges[0].from: no node has this id',
  ],
  [
    'labels of 20 001 characters',
    [
      'POST',
      '/reward',
      JSON.stringify({ task: { prompt: 'x', expect: { nodes: LONG_NODES, edges: [] } }, completion: '' }),
    ],
    422,
    'invalid_request',
    'body.task.expect.nodes',
    /: labels, aliases and allowed_extras hold at most 20000 characters together, these 20001$/,
  ],
  [
    'a canvas of 1001 shapes that are none',
    ['POST', '/render', JSON.stringify({ canvas: { shapes: Array<object>(1001).fill({}), arrows: [] } })],
    422,
    'invalid_request',
    'body.canvas.shapes',
    'body.canvas.shapes: must be at most 1000 items long',
  ],
  [
    'a drawing of 1001 actions',
    ['POST', '/render', JSON.stringify({ actions: Array<object>(1001).fill({}) })],
    422,
    'invalid_request',
    'body.actions',
    'body.actions: must be at most 1000 items long',
  ],
  [
    'a label of 10 001 characters to draw',
    ['POST', '/render', JSON.stringify({ canvas: { shapes: [{ ...SHAPE, text: 'x'.repeat(10_001) }], arrows: [] } })],
    422,
    'invalid_request',
    'body.canvas.shapes[0].text',
    'body.canvas.shapes[0].text: must be at most 10000 characters long',
  ],
  [
    'a prompt of 32 769 characters',
    ['POST', '/reward', JSON.stringify({ prompt: 'x'.repeat(32_769), completion: '' })],
    422,
    'invalid_request',
    'body.prompt',
    'body.prompt: must be at most 32768 characters long',
  ],
  [
    'a prompt of 32 769 characters in a message of a batch',
    [
      'POST',
      '/score',
      JSON.stringify({ prompts: [[{ role: 'user', content: 'x'.repeat(32_769) }]], completions: [''] }),
    ],
    422,
    'invalid_request',
    'body.prompts[0]',
    'body.prompts[0]: must be at most 32768 characters long',
  ],
  ...['constructor', '__proto__', { toString: 1 }].map((reward): Row => [
    `a state of the preset ${JSON.stringify(reward)}`,
    ['POST', '/step', JSON.stringify({ action: '', state: { ...STATE, reward } })],
    422,
    'invalid_request',
    'body.state.reward',
    /^body.state.reward: must be one of /,
  ]),
  [
    'a step without an action',
    ['POST', '/step', '{"prompt":"x"}'],
    422,
    'invalid_request',
    'body.action',
    'body.action: Field required',
  ],
  [
    'a step without a task',
    ['POST', '/step', '{"action":"x"}'],
    422,
    'invalid_request',
    'body.state',
    'give state, or for a single turn one of task_id, task and prompt',
  ],
  [
    'a completion that is a number',
    ['POST', '/reward', '{"prompt":"x","completion":7}'],
    422,
    'invalid_request',
    'body.completion',
    `body.completion: ${COMPLETION}`,
  ],
  [
    'a completion that is null',
    ['POST', '/reward', '{"prompt":"x","completion":null}'],
    422,
    'invalid_request',
    'body.completion',
    `body.completion: ${COMPLETION}`,
  ],
  [
    'messages without an answer',
    ['POST', '/reward', '{"prompt":"x","completion":[{"role":"user","content":"x"}]}'],
    422,
    'invalid_request',
    'body.completion',
    `body.completion: ${COMPLETION}`,
  ],
  [
    'a completion of a batch that is a number',
    ['POST', '/score', '{"prompts":["a","b"],"completions":["c",3]}'],
    422,
    'invalid_request',
    'body.completions[1]',
    `body.completions[1]: ${COMPLETION}`,
  ],
  [
    'no completion',
    ['POST', '/reward', '{"prompt":"x"}'],
    422,
    'invalid_request',
    'body.completion',
    'body.completion: Field required',
  ],
  [
    'nothing to score against',
    ['POST', '/reward', '{"completion":"x"}'],
    422,
    'invalid_request',
    'body.prompt',
    'give one of prompt, task_id and task',
  ],
  [
    'columns of different length',
    ['POST', '/score', '{"prompts":["a"],"completions":["b","c"]}'],
    422,
    'unequal_columns',
    'body.prompts',
    'columns must be of equal length, not completions 2, prompts 1',
  ],
  [
    'a context of different length',
    ['POST', '/score', '{"completions":["a","b"],"context":{"task_id":["train.pipeline.1.0"]}}'],
    422,
    'unequal_columns',
    'body.context.task_id',
    'columns must be of equal length, not completions 2, context.task_id 1',
  ],
  [
    'a batch without prompts',
    ['POST', '/score', '{"completions":["a"]}'],
    422,
    'invalid_request',
    'body.prompts[0]',
    'item 0 has no prompt, task_id or task',
  ],
  [
    'a batch over 4096',
    ['POST', '/score', JSON.stringify({ completions: Array<string>(4097).fill('') })],
    422,
    'invalid_request',
    'body.completions',
    'body.completions: must be at most 4096 items long',
  ],
  [
    'nothing to draw',
    ['POST', '/render', '{}'],
    422,
    'invalid_request',
    'body.state',
    'give one of state, canvas, actions, completion, not none',
  ],
  [
    'two things to draw',
    ['POST', '/render', '{"actions":[],"completion":"x"}'],
    422,
    'invalid_request',
    'body.completion',
    'give one of state, canvas, actions, completion, not actions and completion',
  ],
  [
    'an arrow without ends',
    ['POST', '/render', `{"canvas":${ONE_ARROW}}`],
    422,
    'invalid_request',
    'body.canvas.arrows[0].from',
    'body.canvas.arrows[0].from: no shape has this id',
  ],
  [
    'an unknown format',
    ['POST', '/render', '{"actions":[],"format":"pgn"}'],
    422,
    'invalid_request',
    'body.format',
    'body.format: must be one of svg, png, tldraw, excalidraw, mermaid; did you mean "png"?',
  ],
];

/** Routes whose body is checked against a schema; the others refuse in the words of their protocol. */
const withBody = ROUTE_IDS.map((id): Route => ROUTES[id])
  .filter(({ body }) => body !== undefined && body !== 'bytes')
  .map(({ path }) => path);

overTransports('bad input', (api) => {
  test.each(ROWS)('%s', async (_, [method, path, body], status, code, place, message) => {
    const answer = await api().send(method, path, { body: body ?? null });
    const { error, detail } = answer.json as { error: { message: string }; detail: { loc: unknown[] }[] };
    const expected = typeof message === 'string' ? message : (expect.stringMatching(message) as string);
    expect({ status: answer.status, ...error }).toEqual({ status, code, path: place, message: expected });
    expect(detail[0]?.loc.length).toBeGreaterThan(0);
  });

  describe.each(withBody)('%s', (path) => {
    test.each([
      ['null', 'null'],
      ['a list', '[]'],
      ['a string', '"x"'],
      ['a number', '3'],
      ['a boolean', 'true'],
    ])('a body that is %s (G03)', async (kind, body) => {
      const { status, json } = await api().post(path, body);
      const message = `body must be an object, not ${kind}`;
      expect([status, json]).toEqual([
        400,
        {
          error: { code: 'not_an_object', message, path: 'body' },
          detail: [{ type: 'not_an_object', loc: ['body'], msg: message }],
        },
      ]);
    });

    test('a compressed body', async () => {
      const { status, json } = await api().post(path, '{}', { 'content-encoding': 'gzip' });
      expect([status, json]).toMatchObject([415, { error: { code: 'unsupported_encoding' } }]);
    });

    test('bytes that are not UTF-8', async () => {
      const answer = await api().send('POST', path, { body: new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]) });
      expect(answer.json).toMatchObject({ error: { code: 'not_json', message: 'body must be JSON: it is not UTF-8' } });
    });
  });

  test('a refusal of a method names those that are allowed', async () => {
    const allowed = async (method: string, path: string) => (await api().send(method, path)).headers.get('allow');
    expect([await allowed('GET', '/reset'), await allowed('PATCH', '/health')]).toEqual(['POST', 'GET, HEAD']);
  });

  test('every fault is listed, with what was sent where it is short', async () => {
    const { json } = await api().post('/reset', { seed: -1, level: 7, promt: 'x', max_turns: 0 });
    const { detail } = json as { detail: { loc: unknown[]; type: string; input?: unknown }[] };
    expect(detail.map(({ loc, type, input }) => [loc.join('.'), type, input])).toEqual([
      ['body.promt', 'unknown_key', undefined],
      ['body.seed', 'invalid_value', -1],
      ['body.level', 'invalid_union', 7],
      ['body.max_turns', 'too_small', 0],
    ]);
  });

  test.each([
    [
      'a mistyped field is named before what it leaves missing',
      '/score',
      { prompt: ['x'], completion: ['y'] },
      'prompts',
    ],
    ['a field by the name that answers have', '/reward', { prompt: 'x', completion: 'y', preset: 'weak' }, 'reward'],
    [
      'a column that can only be meant as task_id',
      '/score',
      { completions: ['y'], context: { task_ids: ['t'] } },
      'task_id',
    ],
    ['the same at FAI-RL', '/fai_rl', { prompts: ['x'], completions: ['y'], context: { TaskID: ['t'] } }, 'task_id'],
  ])('%s', async (_, path, body, name) => {
    const { status, json } = await api().post(path, body);
    expect(status).toBe(422);
    expect((json as { error: { message: string } }).error.message).toContain(`"${name}"`);
  });

  test('what is no fault: a body without a media type, a byte order mark, the extra keys of OpenEnv clients', async () => {
    const send = (body: string, headers = {}) => api().post('/step', body, headers);
    const step = '{"prompt":"x","action":"","request_id":"r-1","timeout_s":5}';
    expect((await send(step)).status).toBe(200);
    expect((await send(`\ufeff${step}`, { 'content-type': 'text/plain' })).status).toBe(200);
    expect((await send(step, { 'content-type': 'application/x-www-form-urlencoded' })).status).toBe(200);
  });

  test('a Content-Encoding of identity is none, in any letter case', async () => {
    for (const encoding of ['identity', 'Identity']) {
      expect((await api().post('/reset', { prompt: 'x' }, { 'content-encoding': encoding })).status).toBe(200);
    }
  });

  test('a long key or version is not repeated whole', async () => {
    const long = 'x'.repeat(500_000);
    const bodies = [{ [long]: 1 }, { state: { version: long }, action: '' }, { task: { prompt: '', [long]: 1 } }];
    for (const body of bodies) {
      const { status, text } = await api().post('/step', body);
      expect([status < 500, text.length < 2000]).toEqual([true, true]);
    }
  });

  test('a name that is a property of every object is an unknown field like any other', async () => {
    for (const key of ['__proto__', 'constructor', 'toString']) {
      const { status, json } = await api().post('/reset', `{"${key}":{"seed":1}}`);
      expect([key, status, json]).toMatchObject([key, 422, { error: { path: `body.${key}` } }]);
    }
  });
});

test('a request with many faults is answered in little space', async () => {
  const keys = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`key_${i}`, i]));
  const { createApp } = await import('../../server/app.ts');
  const api = createApp();
  const answer = await api.fetch(new Request('http://test/reset', { method: 'POST', body: JSON.stringify(keys) }));
  expect(answer.status).toBe(422);
  expect((await answer.text()).length).toBeLessThan(10_000);
});
