import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { draw } from '../../server/reward/draw.ts';
import { EMPTY_CANVAS } from '../../schemas/canvas.ts';
import { DEFAULT_CANVAS_SIZE } from '../../schemas/task.ts';
import { scoreArticle } from '../../server/reward/article.ts';

interface Vector {
  id: string;
  kind: string;
  prompt: string;
  completion: string;
  parsed: boolean;
  errors: string[] | null;
  shapes: number | null;
  arrows: number | null;
  layout: number | null;
  semantics: number | null;
  reward: number;
  parse_error?: string;
}

const VECTORS = readFileSync(new URL('../data/vectors/article.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Vector);

test('there are 317 golden vectors', () => {
  expect(VECTORS).toHaveLength(317);
});

test.each(VECTORS)('golden vector $id ($kind)', (vector) => {
  const start = { canvas: EMPTY_CANVAS, selected: [] };
  const drawing = draw(vector.completion, start, { preset: 'article', action_set: 'core' });
  const { reward, components } = scoreArticle({ prompt: vector.prompt, canvas: DEFAULT_CANVAS_SIZE }, drawing);
  const { apply, parse } = drawing;
  expect({
    parsed: apply !== null,
    errors: apply?.errors.map((error) => error.message) ?? null,
    shapes: apply?.canvas.shapes.length ?? null,
    arrows: apply?.canvas.arrows.length ?? null,
    parse_error: parse.errors[0]?.message,
  }).toEqual({
    parsed: vector.parsed,
    errors: vector.errors,
    shapes: vector.shapes,
    arrows: vector.arrows,
    parse_error: vector.parse_error,
  });
  expect(Math.abs(reward - vector.reward)).toBeLessThanOrEqual(1e-12);
  expect(Math.abs((components['layout'] ?? NaN) - (vector.layout ?? 0))).toBeLessThanOrEqual(1e-12);
  expect(Math.abs((components['semantics'] ?? NaN) - (vector.semantics ?? 0))).toBeLessThanOrEqual(1e-12);
});
