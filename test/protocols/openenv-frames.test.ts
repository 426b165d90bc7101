/** Frames of OpenEnv's web socket, without a socket: what each is answered with, and what it makes of the session. */
import { beforeEach, describe, expect, test } from 'vitest';
import { createDispatcher } from '../../server/dispatch.ts';
import { NO_EPISODE, type EnvSession } from '../../server/protocols/tools/held-episode.ts';
import { answerFrame } from '../../server/protocols/openenv/frames.ts';
import { createSigner } from '../../server/state.ts';
import type { SocketContext } from '../../server/protocols/openenv/sockets.ts';
import { NOT_SLOW_MS } from '../tools/not-slow.ts';

const UNSIGNED = createSigner(undefined);
const TASK = 'train.pipeline.1.3';
const BOX = { type: 'create_shape', id: 'a', shape: 'rectangle', x: 120, y: 360, w: 200, h: 80, text: 'Record' };
const DRAWING = { actions: [BOX] };

interface Data {
  [key: string]: unknown;
  code?: string;
  message?: string;
  errors?: { type: string; loc: unknown[] }[];
  observation?: Record<string, unknown>;
  reward?: number | null;
  done?: boolean;
  metadata?: Record<string, unknown>;
}
interface Frame {
  type: string;
  data: Data;
}

let context: SocketContext;
let session: EnvSession;
let faults: string[];

beforeEach(() => {
  faults = [];
  ({ context } = createDispatcher({ log: (entry) => faults.push(entry) }));
  session = NO_EPISODE;
});

/** Sends a frame; a text goes as it is. */
function ask(frame: unknown): Frame & { ends: boolean } {
  const bytes = Buffer.from(typeof frame === 'string' ? frame : JSON.stringify(frame));
  const answer = answerFrame(session, bytes, context, 'session-1');
  session = answer.session;
  const reply = answer.reply === undefined ? { type: 'none', data: {} } : (JSON.parse(answer.reply) as Frame);
  return { ...reply, ends: answer.ends === true };
}

const reset = (data?: unknown) => ask(data === undefined ? { type: 'reset' } : { type: 'reset', data });
const step = (data: unknown) => ask({ type: 'step', data });
const state = () => ask({ type: 'state' }).data;

describe('refusals', () => {
  test.each([
    ['no JSON', '{bad', 'INVALID_JSON', false],
    ['an empty frame', '', 'INVALID_JSON', false],
    ['NaN', '{"type":"step","data":{"actions":NaN}}', 'INVALID_JSON', false],
    ['a list', '[]', 'SESSION_ERROR', true],
    ['a number', '5', 'SESSION_ERROR', true],
    ['null', 'null', 'SESSION_ERROR', true],
    ['no type', {}, 'UNKNOWN_TYPE', false],
    ['another type', { type: 'zzz' }, 'UNKNOWN_TYPE', false],
    ['a type that is no text', { type: [] }, 'UNKNOWN_TYPE', false],
    ['a type that every object has', { type: 'toString' }, 'UNKNOWN_TYPE', false],
    ['reset with null', { type: 'reset', data: null }, 'VALIDATION_ERROR', false],
    ['reset with a list', { type: 'reset', data: [] }, 'VALIDATION_ERROR', false],
    ['a key beside the data', { type: 'reset', data: {}, id: 1 }, 'VALIDATION_ERROR', false],
    ['state with data', { type: 'state', data: {} }, 'VALIDATION_ERROR', false],
    ['a step without data', { type: 'step' }, 'VALIDATION_ERROR', false],
    ['a key beside the action', { type: 'step', data: DRAWING, request_id: 'r' }, 'VALIDATION_ERROR', false],
    ['mcp without data', { type: 'mcp' }, 'VALIDATION_ERROR', false],
    ['a seed that is none', { type: 'reset', data: { seed: 'x' } }, 'VALIDATION_ERROR', false],
    ['a preset that is none', { type: 'reset', data: { reward: 'best' } }, 'VALIDATION_ERROR', false],
    ['no such task', { type: 'reset', data: { task_id: 't' } }, 'EXECUTION_ERROR', false],
    ['two tasks', { type: 'reset', data: { task_id: TASK, prompt: 'a box' } }, 'EXECUTION_ERROR', false],
    ['a step before the first reset', { type: 'step', data: DRAWING }, 'EXECUTION_ERROR', false],
    ['nesting of 100 levels', `{"type":"step","data":${'['.repeat(100)}${']'.repeat(100)}}`, 'VALIDATION_ERROR', false],
  ])('%s', (_, frame, code, ends) => {
    const answer = ask(frame);
    expect(answer).toMatchObject({ type: 'error', data: { code }, ends });
    expect(answer.data.message).not.toBe('');
    expect(code === 'VALIDATION_ERROR').toBe(answer.data.errors !== undefined);
    expect(session).toEqual(NO_EPISODE);
    expect(faults).toEqual([]);
  });

  test('a refusal leaves the episode as it was', () => {
    reset({ task_id: TASK, episode_id: 'e' });
    ask('{bad');
    ask({ type: 'reset', data: { task_id: 't' } });
    expect(state()).toEqual({ episode_id: 'e', step_count: 0 });
    expect(step(DRAWING).type).toBe('observation');
  });

  test('a step after the end', () => {
    reset({ task_id: TASK });
    step(DRAWING);
    expect(step(DRAWING).data).toMatchObject({ code: 'EXECUTION_ERROR' });
    expect(state()).toMatchObject({ step_count: 1 });
    reset({ task_id: TASK });
    expect(step(DRAWING).data.done).toBe(true);
  });

  test('a fault of the server is reported, said, and may be repeated', () => {
    let isBroken = true;
    const { environment } = context;
    const broken: typeof environment.step = (request, signer) => {
      if (isBroken) throw new TypeError('broken');
      return environment.step(request, signer);
    };
    context = { ...context, environment: { ...environment, step: broken } };
    reset({ task_id: TASK });
    const answer = step(DRAWING);
    expect(answer.data).toMatchObject({ code: 'EXECUTION_ERROR' });
    expect(answer.data.message).not.toContain('broken');
    expect(faults).toHaveLength(1);
    isBroken = false;
    expect(step(DRAWING).data).toMatchObject({ done: true });
  });
});

describe('episodes', () => {
  test('one turn: the same as over HTTP, less the state', () => {
    const { environment } = context;
    const http = environment.reset({ task_id: TASK, episode_id: 'e' }, UNSIGNED);
    const first = reset({ task_id: TASK, episode_id: 'e' });
    expect(first.data.observation).toEqual(JSON.parse(JSON.stringify(http.observation)));
    expect(first.data).toMatchObject({ reward: null, done: false, metadata: { terminated: false, episode_id: 'e' } });
    const last = environment.step({ state: http.state, action: DRAWING }, UNSIGNED);
    const second = step(DRAWING);
    expect(second.data.observation).toEqual(JSON.parse(JSON.stringify(last.observation)));
    expect(second.data).toMatchObject({ reward: last.reward, done: true });
    expect(second.data.metadata).toMatchObject({ terminated: true, truncated: false, stop_reason: 'submitted' });
    expect(second.data.metadata?.['reasons']).toEqual(last.info.reasons);
  });

  test('several turns: rewards add up to the total, and the state counts', () => {
    reset({ task_id: TASK, max_turns: 3, action_set: 'editor', episode_id: 'e' });
    expect(state()).toEqual({ episode_id: 'e', step_count: 0 });
    const rewards = [
      step(DRAWING),
      step({ actions: [{ ...BOX, id: 'b', x: 500, text: 'Review' }] }),
      step({ actions: [{ type: 'done' }] }),
    ].map(({ data }) => data);
    expect(rewards.map(({ done }) => done)).toEqual([false, false, true]);
    const total = rewards.reduce((sum, { reward }) => sum + (reward ?? NaN), 0);
    expect(rewards[2]?.observation?.['total_reward']).toBeCloseTo(total, 12);
    expect(state()).toEqual({ episode_id: 'e', step_count: 3 });
  });

  test('the same seed gives the same episode, another one another', () => {
    const [a, b, c] = [7, '7', 8].map((seed) => JSON.stringify(reset({ seed, split: 'train' })));
    expect(a).toBe(b);
    expect(a).not.toBe(c);
  });

  test('a negative seed is one like any other', () => {
    const [a, b, c] = [-4, -4, -5].map((seed) => reset({ seed }).data.observation?.['task_id']);
    expect(a).toBe(b);
    expect(a).not.toBe(c);
  });

  test('without a seed one is picked and told, and leads to the same task', () => {
    const first = reset();
    const { seed } = first.data.metadata ?? {};
    expect(reset({ seed }).data.observation).toEqual(first.data.observation);
  });

  test('what a foreign client sends beside our fields is ignored, and null is what it left out', () => {
    const plain = reset({ seed: 3 });
    expect(reset({ seed: 3, options: {}, difficulty: 'hard', task_id: null, max_turns: null })).toEqual(plain);
  });

  test('a new reset begins anew', () => {
    reset({ task_id: TASK, episode_id: 'one' });
    step(DRAWING);
    reset({ task_id: TASK });
    expect(state()).toEqual({ episode_id: null, step_count: 0 });
  });

  test('close has no answer and ends the socket', () => {
    expect(ask({ type: 'close' })).toEqual({ type: 'none', data: {}, ends: true });
  });
});

describe('a long episode', () => {
  test('holds no more text than one answer may bring, and its frames stay quick', () => {
    reset({ task_id: TASK, max_turns: 1000 });
    const draw = (i: number, length: number) =>
      step({ actions: [{ ...BOX, id: `s${i}`, text: 'x'.repeat(length) }] }).data.observation;
    const start = performance.now();
    expect(draw(0, 990_000)?.['errors']).toMatchObject([{ code: 'completion_too_long' }]);
    for (let i = 1; i < 30; i++) draw(i, 200_000);
    expect(draw(30, 200_000)?.['errors']).toMatchObject([{ code: 'canvas_text_full' }]);
    expect((draw(31, 10)?.['canvas'] as { shapes: unknown[] }).shapes).toHaveLength(2);
    expect(performance.now() - start).toBeLessThan(NOT_SLOW_MS);
  });
});

describe('actions', () => {
  const TEXT = `Here: ${JSON.stringify(DRAWING)}`;
  const rewardOf = (data: unknown): number | null | undefined => {
    reset({ task_id: TASK });
    return step(data).data.reward;
  };

  test.each([
    ['a list', [BOX], [BOX]],
    ['a text', TEXT, TEXT],
    ['a text in the field of the schema', { actions: TEXT }, TEXT],
    ['an object in the field of the schema', { actions: DRAWING }, DRAWING],
    ['a message, as AgileRL sends it', { message: TEXT }, TEXT],
    ['a completion', { completion: TEXT }, TEXT],
    ['the action of POST /step', { action: DRAWING }, DRAWING],
    ["an action with OpenEnv's metadata", { ...DRAWING, metadata: { k: 1 } }, DRAWING],
    ["a message with OpenEnv's metadata", { message: TEXT, metadata: {} }, TEXT],
  ])('%s is graded as what it holds', (_, data, output) => {
    const { reward } = context.environment.step({ task_id: TASK, action: output }, UNSIGNED);
    expect(reward).toBeGreaterThan(0.2);
    expect(rewardOf(data)).toBe(reward);
  });

  test.each([
    ['an empty object', {}],
    ['null', null],
    ['a number', 5],
    ['true', true],
    ['another object', { foo: 'bar' }],
    ['two fields, none of them the action', { message: TEXT, completion: TEXT }],
    ['a text without JSON', 'I cannot draw.'],
  ])('%s is graded, not refused', (_, data) => {
    expect(rewardOf(data)).toBe(0);
    expect(state()['step_count']).toBe(1);
  });
});

describe('tools', () => {
  const call = (tool_name: string, args: unknown = {}) => step({ type: 'call_tool', tool_name, arguments: args });

  test('are listed before the first reset', () => {
    const tools = step({ type: 'list_tools' }).data.observation?.['tools'] as { name: string; input_schema: object }[];
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['start_diagram', 'create_shape', 'connect']));
    expect(Object.keys(tools[0] ?? {}).sort()).toEqual(['description', 'input_schema', 'name']);
  });

  test('play an episode after a plain reset, of the same task', () => {
    const { observation } = reset({ seed: 5, split: 'train' }).data;
    const first = call('create_shape', BOX).data;
    expect(first).toMatchObject({ reward: null, done: false, observation: { tool_name: 'create_shape', error: null } });
    const last = call('submit_diagram').data;
    expect(last.done).toBe(true);
    expect(last.reward).toBeGreaterThanOrEqual(0);
    expect(state()['step_count']).toBe(2);
    expect(session.state?.task_id).toBe(observation?.['task_id']);
  });

  test('a name that is none', () => {
    expect(call('fly').data).toMatchObject({ observation: { error: { error_type: 'tool_not_found' } }, reward: null });
  });

  test('a call before the first reset says what to do', () => {
    const { observation } = call('create_shape', BOX).data;
    expect(observation?.['result']).toMatchObject({ isError: true });
    expect(JSON.stringify(observation)).toContain('start_diagram');
  });

  test('JSON-RPC in a frame shares the episode of the socket', () => {
    reset({ task_id: TASK });
    const rpc = (id: number, method: string, params?: object) =>
      ask({ type: 'mcp', data: { jsonrpc: '2.0', id, method, ...(params ? { params } : {}) } }).data;
    expect(rpc(1, 'openenv/session/create')).toEqual({ jsonrpc: '2.0', id: 1, result: { session_id: 'session-1' } });
    expect(rpc(2, 'tools/call', { name: 'create_shape', arguments: BOX })).toMatchObject({
      result: { isError: false },
    });
    expect(state()['step_count']).toBe(1);
    expect(rpc(3, 'openenv/session/close', { session_id: 'session-1' })).toMatchObject({ error: { code: -32600 } });
    expect(rpc(4, 'initialize')).toMatchObject({ error: { code: -32601, data: null } });
  });
});
