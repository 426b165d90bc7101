import { describe, expect, test } from 'vitest';
import type { ScoredTask } from '../../schemas/task.ts';
import { scoreCompletion } from '../../server/reward/score.ts';
import { ALPHA, ARROW, BETA, PAIR, arrow, box, nodes, score, taskOf } from './drawing.ts';

describe('reasons', () => {
  const chain = taskOf({
    nodes: nodes('Alpha', 'Beta', 'Gamma'),
    edges: [
      { from: 'Alpha', to: 'Beta', label: 'yes' },
      { from: 'Beta', to: 'Gamma' },
    ],
  });

  test('a perfect drawing has none', () => {
    expect(score(PAIR, [ALPHA, BETA, ARROW]).reasons).toEqual([]);
  });

  test('a strip is told the size at which it is none, and then says no more of it', () => {
    const draw = (h: number) =>
      score(
        chain,
        [0, 300, 600].map((x, i) => box(['Alpha', 'Beta', 'Gamma'][i]!, x, 0, { h })),
      );
    const told = (h: number) => draw(h).reasons.find(({ code }) => code === 'too_elongated');
    const [, size, least] = /is (\d+ x 40) px; make it at least (\d+) px high/.exec(told(40)!.message)!;
    expect(size).toBe('700 x 40');
    expect(told(Number(least))).toBeUndefined();
    expect(told(Number(least) - 40)).toBeDefined();
  });

  test('each says what would be gained, largest first, and names what is meant', () => {
    const { reward, reasons } = score(PAIR, [ALPHA, BETA]);
    expect(reasons.map(({ component, code }) => [component, code])).toEqual([['edge', 'missing_arrow']]);
    expect(reasons[0]?.lost).toBeCloseTo(1 - reward, 12);
    expect(reasons[0]?.message).toContain('"Alpha" -> "Beta"');
  });

  test.each<[string, ScoredTask, readonly unknown[], string, string]>([
    ['a shape is missing', PAIR, [ALPHA], 'missing_shape', '"Beta"'],
    [
      'a shape cannot be seen',
      PAIR,
      [ALPHA, box('Beta', 5000, 0), ARROW],
      'hidden_shape',
      '"Beta" (move it inside the canvas)',
    ],
    [
      'a label is wrong',
      PAIR,
      [ALPHA, box('b', 200, 0, { text: 'Betta' }), arrow('Alpha', 'b')],
      'label_differs',
      '"Betta" should be "Beta"',
    ],
    ['a shape is too many', PAIR, [ALPHA, BETA, ARROW, box('x', 400, 0)], 'extra_shape', '"x"'],
    ['an arrow is turned round', PAIR, [ALPHA, BETA, arrow('Beta', 'Alpha')], 'reversed_arrow', '"Alpha" -> "Beta"'],
    ['an arrow is too many', PAIR, [ALPHA, BETA, ARROW, ARROW], 'extra_arrow', '"Alpha" -> "Beta"'],
    ['an arrow has no room', PAIR, [ALPHA, box('Beta', 104, 0), ARROW], 'hidden_arrow', '"Alpha" -> "Beta"'],
    [
      'an arrow lacks its label',
      chain,
      [ALPHA, BETA, ARROW, box('Gamma', 400, 0), arrow('Beta', 'Gamma')],
      'arrow_label_differs',
      '"yes"',
    ],
    [
      'a row is too flat',
      chain,
      [ALPHA, box('Beta', 400, 0), box('Gamma', 800, 0), ARROW, arrow('Beta', 'Gamma')],
      'too_elongated',
      'px high: enlarge shapes, move them closer or use two rows',
    ],
    [
      'a column is too narrow',
      chain,
      [ALPHA, box('Beta', 0, 400), box('Gamma', 0, 800), ARROW, arrow('Beta', 'Gamma')],
      'too_elongated',
      'px wide: enlarge shapes, move them closer or use two columns',
    ],
    ['boxes leave no room', PAIR, [ALPHA, box('Beta', 102, 0), ARROW], 'badly_filled', 'leave more room'],
    ['boxes overlap', PAIR, [ALPHA, box('Beta', 70, 0), ARROW], 'shapes_overlap', '"Alpha" and "Beta"'],
    ['an action was refused', PAIR, [ALPHA, BETA, ARROW, ARROW, ALPHA], 'refused_actions', 'action 4'],
    ['no action was well-formed', PAIR, [{ ...ALPHA, id: '' }], 'refused_actions', 'id must be a non-empty string'],
    ['nothing was drawn', PAIR, [{ type: 'connect', from: 'Alpha', to: 'Beta' }], 'empty_canvas', 'create shapes'],
    [
      'a bare text stands for a box',
      PAIR,
      [box('Alpha', 0, 0, { shape: 'text' }), BETA, ARROW],
      'bare_text',
      '"Alpha"',
    ],
  ])('%s', (_, task, actions, code, named) => {
    const { reasons } = score(task, actions);
    expect(reasons.find((reason) => reason.code === code)?.message).toContain(named);
    expect(reasons.map(({ lost }) => lost)).toEqual(reasons.map(({ lost }) => lost).sort((a, b) => b - a));
  });

  test('a prompt without important words says so once, for the two parts that count them', () => {
    const { reasons, components } = score({ prompt: 'a box A', canvas: PAIR.canvas }, [ALPHA, BETA, ARROW]);
    expect(components).toMatchObject({ node: 0.5, edge: 0.5 });
    expect(reasons.map(({ component, code }) => [component, code])).toEqual([['node', 'prompt_without_words']]);
  });

  test('an answer without JSON has one reason, which costs all', () => {
    expect(scoreCompletion(PAIR, 'sorry', 'graded').result.reasons).toMatchObject([{ code: 'no_json', lost: 1 }]);
  });
});
