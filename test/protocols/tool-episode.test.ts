/** Episodes of tool calls, whatever protocol brings the calls: what a refused call costs, and that an end is an end. */
import { describe, expect, test } from 'vitest';
import type { State } from '../../schemas/episode.ts';
import { reset, step } from '../../server/episode.ts';
import { answerInWords, callTool, startToolEpisode, type ToolResult } from '../../server/protocols/tools/episode.ts';
import { SOLUTION, TASK_ID, toCall } from './drawings.ts';

const ENVIRONMENT = { reset, step };
const [FIRST] = SOLUTION;
if (FIRST?.type !== 'create_shape') throw new Error('the solution begins with a shape');
const BAD_ARROW = { from_id: FIRST.id, to_id: 'zzz' };

const start = (max_turns?: number): State => startToolEpisode({ task_id: TASK_ID, max_turns }, ENVIRONMENT).state;
const call = (state: State, name: string, input: unknown): ToolResult => callTool(state, name, input, ENVIRONMENT);

/** The task's solution, drawn call by call. */
function drawn(max_turns?: number): State {
  let state = start(max_turns);
  for (const action of SOLUTION) {
    const { name, input } = toCall(action);
    ({ state } = call(state, name, input));
  }
  return state;
}

const WORTH = call(drawn(), 'submit_diagram', {}).reward!;

test('the drawing of these tests is worth something', () => {
  expect(WORTH).toBeGreaterThan(0.9);
});

describe('a refused call leaves the drawing what it is worth', () => {
  test.each([
    ['an arrow to nowhere', 'connect', BAD_ARROW],
    ['no arguments', 'create_shape', {}],
    ['arguments that are text', 'create_shape', 'draw'],
    ['arguments too long', 'create_shape', { id: 'x'.repeat(20_000) }],
  ])('%s', (_, name, input) => {
    const before = drawn();
    const { state, ok, finished, reward } = call(before, name, input);
    expect({ ok, finished, reward, turn: state.turn }).toEqual({
      ok: false,
      finished: false,
      reward: null,
      turn: before.turn + 1,
    });
    expect(state.value).toBe(WORTH);
    expect(call(state, 'submit_diagram', {}).reward).toBe(WORTH);
  });

  test('as the last call that is allowed', () => {
    const { ok, finished, reward, text, state } = call(drawn(SOLUTION.length + 1), 'connect', BAD_ARROW);
    expect({ ok, finished, reward }).toEqual({ ok: false, finished: true, reward: WORTH });
    expect(state.stop_reason).toBe('max_steps');
    expect(text).toContain('arrow target does not exist');
    expect(text.match(/does not exist/g)).toHaveLength(1);
  });

  test.each([
    ['text without JSON', 'x'],
    ['a number', 7],
    ['actions that are none', [3, null]],
    ['more actions than are read', Array.from({ length: 300 }, () => ({ type: 'done' }))],
    ['an arrow to nowhere', [{ type: 'connect', from: 'a', to: 'zzz' }]],
    ['text that is too long', 'x'.repeat(300_000)],
  ])('a submission that brings %s submits what is drawn', (_, actions) => {
    const { ok, finished, reward, state } = call(drawn(), 'submit_diagram', { actions });
    expect({ ok, finished, reward }).toEqual({ ok: false, finished: true, reward: WORTH });
    expect(state.stop_reason).toBe('submitted');
  });

  test.each([
    ['without actions', 'Done!', true],
    ['with an arrow to nowhere', '{"actions": [{"type": "connect", "from": "a", "to": "zzz"}]}', false],
  ])('words %s', (_, words, isFine) => {
    const { ok, reward, state } = answerInWords(drawn(), words, ENVIRONMENT);
    expect({ ok, reward, stop_reason: state.stop_reason }).toEqual({
      ok: isFine,
      reward: WORTH,
      stop_reason: 'submitted',
    });
  });
});

describe('what is no refusal', () => {
  test('a submission of which a part is applied costs what its faults cost', () => {
    const actions = [
      { type: 'move_shape', id: FIRST.id, x: 0, y: 0 },
      { type: 'connect', from: 'a', to: 'zzz' },
    ];
    const { ok, reward } = call(drawn(), 'submit_diagram', { actions });
    expect(ok).toBe(false);
    expect(reward).toBeLessThan(WORTH);
    expect(reward).toBeGreaterThan(0);
  });

  test.each(['weak', 'article', 'stronger', 'graded'] as const)(
    'a whole answer that cannot be read is worth the same as anywhere: %s',
    (reward) => {
      const { state } = startToolEpisode({ task_id: TASK_ID, reward }, ENVIRONMENT);
      expect(call(state, 'submit_diagram', { actions: 'I cannot draw.' }).reward).toBe(0);
    },
  );

  test('a done of its own ends a submission as ours does', () => {
    const submit = (actions: readonly unknown[]) => call(start(), 'submit_diagram', { actions });
    const { ok, reward } = submit([...SOLUTION, { type: 'done' }]);
    expect({ ok, reward }).toEqual({ ok: true, reward: submit(SOLUTION).reward });
  });
});

test.each([
  ['as it is', {}],
  ['with actions as text', { actions: JSON.stringify({ actions: SOLUTION }) }],
  ['with what cannot be read', { actions: 'x' }],
  ['with text that is too long', { actions: 'x'.repeat(300_000) }],
])('what was submitted %s is over', (_, input) => {
  const { state, finished } = call(start(), 'submit_diagram', input);
  expect(finished).toBe(true);
  expect(state.stop_reason).toBe('submitted');
  for (const name of ['create_shape', 'submit_diagram']) expect(() => call(state, name, {})).toThrow('over');
});
