/** The grammar of valid completions: what it lets through is valid on the server, what the teacher writes it lets through. */
import { describe, expect, test } from 'vitest';
import { ACTION_SETS, Action, type ActionSet } from '../../../schemas/action.ts';
import { EMPTY_CANVAS } from '../../../schemas/canvas.ts';
import { createRng, hash64, type Rng } from '../../../schemas/seed.ts';
import { applyActions } from '../../../server/canvas/apply.ts';
import { parseCompletion } from '../../../server/canvas/parse.ts';
import { sampleTask } from '../../../server/tasks/suite.ts';
import { actionGrammar, type Grammar, type GrammarState } from '../../../trainer/decoding/grammar.ts';
import { tokenBytes } from '../../../trainer/decoding/token-bytes.ts';
import { isAllowed } from '../../../trainer/model/token-mask.ts';
import { toFirstPrompt } from '../../../trainer/prompt.ts';
import { createScriptedTeacher } from '../../../trainer/teacher/scripted.ts';
import { encodeCompletion, trainTokenizer } from '../../../trainer/tokenizer.ts';

/** The teacher's answers to tasks of all families and levels. */
const EXAMPLES = Array.from({ length: 200 }, (_, i) => {
  const task = sampleTask({ seed: String(i), split: 'train' });
  const observation = { prompt: task.prompt, canvas_size: task.canvas };
  const teacher = createScriptedTeacher(createRng(hash64('grammar test', i)), { flaw_rate: 0 });
  return teacher.propose(observation, 1).map((completion) => ({ prompt: toFirstPrompt(task), completion }));
}).flat();
const tokenizer = trainTokenizer(EXAMPLES);
const IDS = Array.from({ length: tokenizer.vocab_size }, (_, id) => id);

const grammarOf = (action_set: ActionSet, max_actions = 40): Grammar =>
  actionGrammar(tokenizer, { action_set, max_actions });

/** The state behind some ids, undefined where they leave the grammar. */
function follow(grammar: Grammar, ids: readonly number[]): GrammarState | undefined {
  return ids.reduce<GrammarState | undefined>((state, id) => state && grammar.advance(state, id), grammar.start);
}

const accepts = (action_set: ActionSet, text: string): boolean =>
  follow(grammarOf(action_set), encodeCompletion(tokenizer, text)) !== undefined;

/** Walks the grammar at random until it ends: what a policy without any idea would write. */
function write(grammar: Grammar, rng: Rng, limit: number): { text: string; isFinished: boolean } {
  const ids: number[] = [];
  let state = grammar.start;
  while (state.at !== 'ended' && ids.length < limit) {
    const mask = grammar.allowed(state);
    const id = rng.pick(IDS.filter((each) => isAllowed(mask, each)));
    ids.push(id);
    state = grammar.advance(state, id)!;
  }
  return { text: tokenizer.decode(ids), isFinished: state.at === 'ended' };
}

function read(text: string, action_set: ActionSet) {
  const parse = parseCompletion(text, { style: 'lenient', max_actions: 40 });
  const start = { canvas: EMPTY_CANVAS, selected: [] };
  return { parse, apply: applyActions(parse.actions ?? [], start, { action_set }) };
}

describe.each(ACTION_SETS)('random walks under %s', (action_set) => {
  const grammar = grammarOf(action_set);
  const walks = Array.from({ length: 300 }, (_, i) => write(grammar, createRng(hash64('walk', action_set, i)), 2000));
  const finished = walks.filter(({ isFinished }) => isFinished).map(({ text }) => text);

  test('mostly come to an end', () => {
    expect(finished.length).toBeGreaterThan(250);
  });

  test('every one that ends is strict JSON of valid actions, on the server and in the schema', () => {
    for (const text of finished) {
      const { parse, apply } = read(text, action_set);
      expect([text, parse.info.outcome, parse.errors]).toEqual([text, 'strict', []]);
      expect([text, apply.counts.schema_valid]).toEqual([text, apply.counts.actions]);
      for (const action of parse.actions!) expect(Action.safeParse(action).error).toBeUndefined();
    }
  });

  test('what is written is what the canvas keeps', () => {
    const labels = finished.flatMap((text) =>
      read(text, action_set).apply.applied.flatMap((action) => (action.type === 'create_shape' ? [action.text] : [])),
    );
    const written = finished.flatMap((text) => {
      const { apply, parse } = read(text, action_set);
      const refused = new Set(apply.rejected.map(({ index }) => index));
      const kept = parse.actions!.filter((action, i) => action['type'] === 'create_shape' && !refused.has(i));
      return kept.map(({ text: label }) => label ?? '');
    });
    expect(labels).toEqual(written);
  });
});

test('the number of actions is limited', () => {
  const grammar = grammarOf('core', 2);
  const texts = Array.from({ length: 100 }, (_, i) => write(grammar, createRng(hash64('short', i)), 2000));
  const counts = texts
    .filter(({ isFinished }) => isFinished)
    .map(({ text }) => read(text, 'core').apply.counts.actions);
  expect(new Set(counts)).toEqual(new Set([1, 2]));
});

test('every completion of the teacher is in the grammar, under both action sets', () => {
  expect(EXAMPLES.length).toBeGreaterThan(150);
  for (const { completion } of EXAMPLES) {
    expect([completion, accepts('core', completion), accepts('editor', completion)]).toEqual([completion, true, true]);
  }
});

const box = (fields: object): string =>
  JSON.stringify({
    actions: [{ type: 'create_shape', id: 'a', shape: 'text', x: 1, y: 2, w: 3, h: 4, text: '', ...fields }],
  });

describe('one spelling of each valid completion', () => {
  test.each([
    ['a label in another script', 'core', box({ text: 'データ \u{1f5c4} ü' }), true],
    ['quotes and backslashes', 'core', box({ text: 'a "b" \\ c' }), true],
    ['a line break in a label', 'core', box({ text: 'two\nlines' }), true],
    ['a line break in an id', 'core', box({ id: 'two\nlines' }), false],
    ['a bidirectional override', 'core', box({ text: 'a\u202eb' }), false],
    ['a control character', 'core', box({ text: 'a\u0001b' }), false],
    ['an empty id', 'core', box({ id: '' }), false],
    ['decimals', 'core', box({ x: -12.5, w: 0.25 }), true],
    ['no width', 'core', box({ w: 0 }), false],
    ['too wide', 'core', box({ w: 1001 }), false],
    ['widest', 'core', box({ w: 1000 }), true],
    ['too far out', 'core', box({ x: 1_000_000 }), false],
    ['a leading zero', 'core', box({}).replace('"x":1', '"x":01'), false],
    ['an unknown kind', 'core', box({ shape: 'star' }), false],
    ['an unknown key', 'core', box({ color: 'red' }), false],
    ['white space', 'core', box({}).replace('"x":1', '"x": 1'), false],
    ['no actions', 'core', '{"actions":[]}', false],
    ['an action of the other set', 'core', '{"actions":[{"type":"delete_shape","id":"a"}]}', false],
    ['that action in its set', 'editor', '{"actions":[{"type":"delete_shape","id":"a"}]}', true],
    ['nothing selected', 'editor', '{"actions":[{"type":"select","ids":[]}]}', true],
    ['two selected', 'editor', '{"actions":[{"type":"select","ids":["a","b"]}]}', true],
    ['done alone', 'editor', '{"actions":[{"type":"done"}]}', true],
    ['an action after done', 'editor', '{"actions":[{"type":"done"},{"type":"delete_shape","id":"a"}]}', false],
    ['text behind the JSON', 'core', `${box({})}.`, false],
    ['cut', 'core', box({}).slice(0, -1), false],
  ] as const)('%s (%s)', (_name, action_set, text, isValid) => {
    expect(accepts(action_set, text)).toBe(isValid);
  });
});

test('the end is allowed exactly where the text is whole, and then nothing else is', () => {
  const grammar = grammarOf('core');
  const ids = encodeCompletion(tokenizer, EXAMPLES[0]!.completion).slice(0, -1);
  ids.forEach((_, i) => {
    expect(isAllowed(grammar.allowed(follow(grammar, ids.slice(0, i))!), tokenizer.eos_id)).toBe(false);
  });
  const mask = grammar.allowed(follow(grammar, ids)!);
  expect(IDS.filter((id) => isAllowed(mask, id))).toEqual([tokenizer.eos_id]);
});

test('bytes of tokens put together are the text of the tokens, in any order of tokens', () => {
  const bytes = tokenBytes(tokenizer);
  const rng = createRng(3n);
  const plain = IDS.filter((id) => bytes[id] && !/[\ufffd\ue001]/.test(tokenizer.decode([id])));
  for (let i = 0; i < 300; i++) {
    const ids = Array.from({ length: 12 }, () => rng.pick(plain));
    const joined = Buffer.concat(ids.map((id) => bytes[id]!)).toString('utf8');
    expect(tokenizer.decode(ids)).toBe(joined);
  }
});
