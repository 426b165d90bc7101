/** The rules of preset article written a second time, in Python (test/bench/article.py), agree with ours. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SHAPE_KINDS } from '../../schemas/action.ts';
import { DEFAULT_CANVAS_SIZE } from '../../schemas/task.ts';
import { scoreArticle } from '../../server/reward/article.ts';
import { drawOn } from '../canvas/support.ts';

const TWIN = fileURLToPath(new URL('../bench/article.py', import.meta.url));
const VECTORS = fileURLToPath(new URL('../data/vectors/article.jsonl', import.meta.url));
const SEED = 317;

function check(path: string): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync('python3', [TWIN, 'check', path], { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

test('the Python twin agrees with every golden vector', () => {
  expect(check(VECTORS)).toEqual({ status: 0, output: '{"vectors": 317}\n' });
});

test('the check notices a wrong vector', () => {
  const folder = mkdtempSync(join(tmpdir(), 'article-'));
  const path = join(folder, 'wrong.jsonl');
  writeFileSync(path, JSON.stringify({ ...toVector('Draw', '{}', 0), reward: 0.5 }));
  expect(check(path)).toMatchObject({ status: 1, output: expect.stringContaining('w0: reward') as string });
  rmSync(folder, { recursive: true });
});

/** Our own answer in the form of a golden vector. */
function toVector(prompt: string, completion: string, index: number): Record<string, unknown> {
  const drawing = drawOn(completion, { preset: 'article' });
  const { reward, components } = scoreArticle({ prompt, canvas: DEFAULT_CANVAS_SIZE }, drawing);
  const { parse, apply } = drawing;
  const answer = apply && {
    errors: apply.errors.map((error) => error.message),
    shapes: apply.canvas.shapes.length,
    arrows: apply.canvas.arrows.length,
    layout: components['layout'],
    semantics: components['semantics'],
  };
  const nothing = { errors: null, shapes: null, arrows: null, layout: null, semantics: null };
  const parseError = apply ? {} : { parse_error: parse.errors[0]?.message };
  return { id: `w${index}`, prompt, completion, parsed: apply !== null, reward, ...(answer ?? nothing), ...parseError };
}

const WORDS = [
  'Gateway',
  'user-db',
  'S3',
  'K8s',
  'ÄPFEL',
  'İstanbul',
  'Kelvin',
  'x',
  ' ',
  '',
  'データ',
  'a_b-c9',
  '-dash',
];
const label = fc.array(fc.constantFrom(...WORDS), { maxLength: 4 }).map((words) => words.join(' '));
const number = fc.oneof(
  fc.double({ min: -500, max: 1200, noNaN: true }),
  fc.integer({ min: -1, max: 1001 }),
  fc.constantFrom<unknown>('1', true, null, 1e308, 1000, 0),
);
const id = fc.constantFrom<unknown>('a', 'b', 'A', 'a ', '__proto__', '', 5);
const action = fc.oneof(
  { weight: 5, arbitrary: shapeOf(id, fc.constantFrom<unknown>(...SHAPE_KINDS, 'Star', 1), number) },
  { weight: 5, arbitrary: shapeOf(fc.uuid(), fc.constantFrom(...SHAPE_KINDS), fc.integer({ min: 1, max: 900 })) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('connect'), from: id, to: id, text: label }) },
  fc.constantFrom<unknown>({ type: 'done' }, { type: 7 }, 'x', null),
);
const completion = fc.oneof(
  fc.array(action, { maxLength: 12 }).map((actions) => JSON.stringify({ actions })),
  fc
    .array(shapeOf(fc.uuid(), fc.constant('text'), fc.nat(900)), { maxLength: 42 })
    .map((actions) => `Here: {"actions":${JSON.stringify(actions)}}.`),
  fc.json({ maxDepth: 4 }),
  fc.string(),
  fc.constantFrom('{"actions":[NaN]}', '{"actions":[{"x":1e999}]}', '} {', '{', '{}{}', '\ufeff{"actions":[{}]}'),
);

function shapeOf(
  ids: fc.Arbitrary<unknown>,
  kinds: fc.Arbitrary<unknown>,
  numbers: fc.Arbitrary<unknown>,
): fc.Arbitrary<unknown> {
  const type = fc.constant('create_shape');
  const text = fc.oneof({ weight: 9, arbitrary: label }, fc.constantFrom<unknown>(null, 5, [], true));
  return fc.record({ type, id: ids, shape: kinds, x: numbers, y: numbers, w: numbers, h: numbers, text });
}

test(`the two agree on 3000 random completions (seed ${SEED})`, () => {
  const samples = fc.sample(fc.tuple(label, completion), { seed: SEED, numRuns: 3000 });
  const lines = samples.map(([prompt, text], index) => JSON.stringify(toVector(prompt, text, index)));
  const folder = mkdtempSync(join(tmpdir(), 'article-'));
  const path = join(folder, 'random.jsonl');
  writeFileSync(path, lines.join('\n'));
  expect(check(path)).toEqual({ status: 0, output: '{"vectors": 3000}\n' });
  rmSync(folder, { recursive: true });
});
