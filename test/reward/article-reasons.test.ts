import { expect, test } from 'vitest';
import { scoreArticle } from '../../server/reward/article.ts';
import type { PresetScore } from '../../server/reward/types.ts';
import { DEFAULT_CANVAS_SIZE } from '../../schemas/task.ts';
import { box, drawOn, text } from '../canvas/support.ts';

function article(prompt: string, completion: string): PresetScore {
  return scoreArticle({ prompt, canvas: DEFAULT_CANVAS_SIZE }, drawOn(completion, { preset: 'article' }));
}

const apart = (index: number): Record<string, unknown> => ({ x: index * 300 });
const overlapping = Array.from({ length: 12 }, (_, i) => box(`s${i}`, { text: '' }));

test.each([
  ['nothing lost', 'Draw gateway', text(box('draw gateway')), []],
  ['no JSON', 'Draw gateway', 'gateway', [['valid', 'no_json', 1]]],
  [
    'two errors',
    'Draw',
    text(box('draw'), box('draw'), { type: 'x' }),
    [
      ['valid', 'duplicate_shape_id', 0.5],
      ['valid', 'unknown_action_type', 0.5],
    ],
  ],
  ['missing words', 'queue and cache', text(box('cache')), [['semantics', 'words_missing', 0.15]]],
  ['no important words', 'S3', text(box('S3')), [['semantics', 'prompt_without_words', 0.15]]],
  [
    'no shapes',
    'S3',
    text({ type: 'done' }),
    [
      ['valid', 'unknown_action_type', 0.55],
      ['layout', 'empty_canvas', 0.3],
      ['semantics', 'prompt_without_words', 0.15],
    ],
  ],
  [
    'overlaps',
    'K8s',
    text(...overlapping),
    [
      ['layout', 'shapes_overlap', 0.3],
      ['semantics', 'prompt_without_words', 0.15],
    ],
  ],
] as const)('why points are lost: %s', (_name, prompt, completion, reasons) => {
  const { reward, reasons: got } = article(prompt, completion);
  expect(got.map(({ component, code }) => [component, code])).toEqual(
    reasons.map(([component, code]) => [component, code]),
  );
  for (const [index, [, , lost]] of reasons.entries()) expect(got[index]?.lost).toBeCloseTo(lost, 12);
  expect(got.reduce((sum, reason) => sum + reason.lost, reward)).toBeCloseTo(1, 12);
});

test('messages name the words, the pairs and the errors', () => {
  const message = (score: PresetScore): string | undefined => score.reasons[0]?.message;
  const two = text(box('api', { text: '' }), box('cache', { text: '', x: 100 }), box('far', { text: '', ...apart(3) }));
  expect(message(article('queue cache Queue', text(box('cache'))))).toContain(': queue');
  expect(article('S3', two).reasons[1]?.message).toContain('1 pair(s) of boxes overlap or touch: api and cache;');
  expect(message(article('S3', text(...overlapping)))).toContain(
    's0 and s1, s0 and s2, s0 and s3, s0 and s4, s0 and s5 and 61 more',
  );
  expect(message(article('S3', text(box('a', { w: 0 }))))).toContain(
    'action 0: shape width and height must be positive',
  );
});
