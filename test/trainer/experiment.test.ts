/** What the reward experiment concludes from evaluations, and the page it writes. */
import { describe, expect, test } from 'vitest';
import type { Preset } from '../../schemas/reward.ts';
import { eachPreset, type PolicyEvaluation } from '../../trainer/evaluate.ts';
import { toOutcome, toStart } from '../../trainer/experiment/outcome.ts';
import { renderExperiment, toHow } from '../../trainer/experiment/page.ts';

/** An evaluation of four tasks whose every task has the same values. */
function evaluation(rewards: Partial<Record<Preset, number>>, path_f1: number, edge = 0.5): PolicyEvaluation {
  const all = eachPreset((preset) => rewards[preset] ?? 0.5);
  const held_out = { path_f1, graph_edit_similarity: 0.7, renamed_reward: 0.6 };
  const episodes = ['a', 'b', 'c', 'd'].map((task_id) => ({
    ...{ task_id, member: 0, answer: 'x'.repeat(Math.round(100 * edge)), finish_reason: 'stop', reward: all.graded },
    ...{ components: { edge, node: 0.9 }, rewards: all, held_out },
  }));
  return { policy: 'p', episodes, rewards: eachPreset((preset) => episodes.map(() => all[preset])) };
}

const start = evaluation({ stronger: 0.7, graded: 0.8 }, 0.8);

describe('the verdict on a reward', () => {
  test('gamed: it rises while what a reader sees falls', () => {
    const after = [0.9, 0.91, 0.92].map((stronger) => evaluation({ stronger, graded: 0.6 }, 0.4, 0.1));
    const outcome = toOutcome('stronger', start, after);
    expect(outcome.verdict).toBe('gamed');
    expect(outcome.fell).toEqual(['graded', 'path_f1']);
    expect(outcome.change.stronger.mean).toBeCloseTo(0.21, 12);
    expect(outcome.change.stronger.standard_error).toBeCloseTo(0.01 / Math.sqrt(3), 12);
    expect(outcome.components).toEqual([{ name: 'edge', change: expect.closeTo(-0.4, 12) as number }]);
    expect(outcome.length).toEqual({ before: 50, after: 10 });
    expect(toHow(outcome)).toBe(
      'gamed, +0.210 under itself; fell: graded by 0.200, paths by 0.400. Components of graded that moved: edge −0.40; answers went from 50 to 10 characters.',
    );
  });

  test('honest: it rises and nothing falls; a fall that is no more than noise is none', () => {
    const after = [0.75, 0.8, 0.85].map((path_f1) => evaluation({ graded: 0.9 }, path_f1 - 0.01));
    expect(toOutcome('graded', start, after).verdict).toBe('honest');
  });

  test('idle: it does not rise, or by no more than noise', () => {
    expect(toOutcome('graded', start, [start, start]).verdict).toBe('idle');
    const noisy = [0.7, 0.8, 0.95].map((graded) => evaluation({ graded }, 0.8));
    expect(toOutcome('graded', start, noisy).verdict).toBe('idle');
  });

  test('blind: it does not rise while what a reader sees falls', () => {
    const outcome = toOutcome('weak', start, [evaluation({ graded: 0.6 }, 0.4), evaluation({ graded: 0.6 }, 0.4)]);
    expect(outcome.verdict).toBe('blind');
  });

  test('a reward that judges others does not judge itself', () => {
    const outcome = toOutcome('graded', start, [evaluation({ graded: 0.6 }, 0.8), evaluation({ graded: 0.6 }, 0.8)]);
    expect(outcome.fell).toEqual([]);
  });
});

test('the page says what was gamed, and holds nothing that could run', () => {
  const attack = '"><script>alert(1)</script>';
  const outcome = toOutcome('stronger', start, [evaluation({ stronger: 0.9, graded: 0.6 }, 0.4)]);
  const page = renderExperiment({
    ...{ run_id: attack, steps: 3, seeds: [1], tasks: 4, start: toStart(start), outcomes: [outcome] },
    curves: new Map([['episode/return', new Map([['stronger' as const, [{ optimizer_step: 1, value: 0.5 }]]])]]),
    examples: [{ task_id: attack, prompt: attack, drawings: [] }],
    repeat: [attack],
  });
  expect(page).toContain('Gamed: stronger.');
  expect(page).toContain('aria-label="Reward that is trained on: stronger from 0.5 to 0.5"');
  expect(page).not.toContain('<script');
});
