/** A turn as a chat completion gives it: the assistant's message, handed to /step as it is. */
import { expect, test } from 'vitest';
import { createApp } from '../../server/app.ts';
import { toTurnOutput } from '../../schemas/message.ts';

const call = (name: string, args: unknown): object => ({
  id: `call_${name}`,
  type: 'function',
  function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
});
const message = (...calls: object[]): object => ({ role: 'assistant', content: null, tool_calls: calls });
const box = (id: string, x: number, text: string): object => ({
  id,
  shape: 'rectangle',
  x,
  y: 360,
  w: 200,
  h: 80,
  text,
});

test.each<[string, unknown, unknown]>([
  ['a text', 'Hello', 'Hello'],
  ['actions', { actions: [] }, { actions: [] }],
  ['a message with text', { role: 'assistant', content: '{"actions": []}' }, '{"actions": []}'],
  ['text parts', { role: 'assistant', content: [{ type: 'text', text: 'Hi' }] }, 'Hi'],
  [
    'a call',
    message(call('connect', { from_id: 'a', to_id: 'b' })),
    { actions: [{ type: 'connect', from: 'a', to: 'b' }] },
  ],
  ['the end', message(call('submit_diagram', '')), { actions: [{ type: 'done' }] }],
  [
    'calls, one of them malformed',
    message(call('create_shape', '{"id": '), call('set_text', { id: 'a', text: 'b' }), call('no_such_tool', {})),
    { actions: [{ type: 'create_shape' }, { type: 'set_text', id: 'a', text: 'b' }] },
  ],
  ['what is no call', { role: 'assistant', tool_calls: [7, null, {}, { function: { name: 7 } }] }, { actions: [] }],
])('%s', (_, action, output) => {
  expect(toTurnOutput(action)).toEqual(output);
});

test('a perfect drawing by tool calls earns what it earns as actions', async () => {
  const app = createApp();
  const post = async (path: string, body: unknown): Promise<Record<string, unknown>> =>
    (await (
      await app.fetch(new Request(`http://x${path}`, { method: 'POST', body: JSON.stringify(body) }))
    ).json()) as Record<string, unknown>;
  const started = await post('/reset', { task_id: 'train.pipeline.1.3', action_set: 'editor', max_turns: 5 });
  const shapes = [box('a', 120, 'Record'), box('b', 500, 'Review'), box('c', 880, 'Edit Episode')];
  const drawn = message(...shapes.map((shape) => call('create_shape', shape)));
  const joined = message(
    call('connect', { from_id: 'a', to_id: 'b' }),
    call('connect', { from_id: 'b', to_id: 'c' }),
    call('submit_diagram', {}),
  );
  const first = await post('/step', { state: started['state'], action: drawn });
  const last = await post('/step', { state: first['state'], action: joined });
  expect(last).toMatchObject({ done: true, stop_reason: 'submitted', observation: { errors: [] } });
  expect((last['state'] as { value: number }).value).toBeGreaterThan(0.95);
});
