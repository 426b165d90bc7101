import { describe, expect, test } from 'vitest';
import { countParameters } from '../../trainer/model/parameters.ts';
import { row, toJson, toTable } from './rows.ts';
import { secondsTo, toRows, WINDOW } from './trainer/reinforce.ts';
import { assertSameLosses } from './trainer/speed.ts';
import { BENCH_CONFIG, createWorkload, tokensOf, trainingFlops } from './trainer/workload.ts';

test('the model has .92 M weights', () => {
  expect(countParameters(BENCH_CONFIG)).toBe(918_912);
});

describe('the workload', () => {
  const workload = createWorkload();

  test('is the same each time', () => {
    expect(createWorkload()).toEqual(workload);
  });

  test('has batches of 16 lists of 192 tokens and 64 prompts of 32, all ids words of the model', () => {
    expect(workload.batches.map(tokensOf)).toEqual([3072, 3072, 3072, 3072]);
    expect(workload.prompts.map((ids) => ids.length)).toEqual(new Array(64).fill(32));
    const ids = [
      ...workload.prompts,
      ...workload.batches.flatMap((batch) => [...batch.prompt_ids, ...batch.completion_ids]),
    ];
    expect(ids.flat().every((id) => id >= 4 && id < BENCH_CONFIG.vocab_size)).toBe(true);
  });
});

describe('operations of a training step', () => {
  const tiny = {
    ...BENCH_CONFIG,
    ...{ hidden_size: 2, num_hidden_layers: 1, num_attention_heads: 1, num_key_value_heads: 1, head_dim: 2 },
    ...{ intermediate_size: 3, vocab_size: 5 },
  };

  test('counted by hand: two rows, of which one predicts', () => {
    // products of a row with W_qkv 2 x 6, W_o 2 x 2, W_gate_up 2 x 6, W_down 3 x 2, embedding 5 x 2: 2 operations a weight
    const forward = 2 * (2 * 12) + 2 * (1 * (4 + 12 + 6)) + 2 * 10;
    const attention = 4 * 2 * 3; // pairs (1, 1), (2, 1), (2, 2): query times key, weight times value, of 2 numbers
    expect(trainingFlops(tiny, { prompt_ids: [[1, 2]], completion_ids: [[3]] })).toBe(3 * (forward + attention));
  });

  test('two lists need twice as much as one; a longer list more than in proportion', () => {
    const one = trainingFlops(tiny, { prompt_ids: [[1, 2]], completion_ids: [[3, 4, 1]] });
    const two = trainingFlops(tiny, { prompt_ids: [[1, 2], [1, 2]], completion_ids: [[3, 4, 1], [3, 4, 1]] }); // prettier-ignore
    expect(two).toBe(2 * one);
  });
});

describe('losses of two sides', () => {
  test('that agree to a thousandth pass', () => {
    expect(() => {
      assertSameLosses({ ours: [6.2, 6.1], 'plain PyTorch': [6.2004, 6.0996] });
    }).not.toThrow();
  });

  test.each([
    ['that differ', [6.2, 6.102]],
    ['that are not numbers', [6.2, Number.NaN]],
    ['that are missing', [6.2]],
  ])('%s do not compare, and the step is named', (_, got) => {
    expect(() => {
      assertSameLosses({ ours: [6.2, 6.1], torch: got });
    }).toThrow(/step 2: torch/);
  });
});

describe('the time to a reward', () => {
  const steps = (...rewards: number[]) =>
    rewards.map((reward) => ({ seconds: 2, reward, tokens: 60, peak_rss_mb: 100 }));
  const flat = (reward: number, count: number): number[] => new Array<number>(count).fill(reward);

  test('ends with the first window whose mean is there', () => {
    const rising = steps(...flat(0.2, WINDOW), ...flat(1, WINDOW));
    expect(secondsTo(0.2 - 1e-9, rising)).toBe(2 * WINDOW);
    expect(secondsTo(0.6 - 1e-9, rising)).toBe(2 * (WINDOW + WINDOW / 2));
  });

  test('is not there for a window that is not full, nor for one good step', () => {
    expect(secondsTo(0.5, steps(...flat(1, WINDOW - 1)))).toBeUndefined();
    expect(secondsTo(0.5, steps(...flat(0.2, WINDOW), 1, ...flat(0.2, WINDOW)))).toBeUndefined();
  });

  test('rows: ratios of both, the step alone where one did not get there, no reference without TRL', () => {
    const [good, bad] = [steps(...flat(0.9, WINDOW)), steps(...flat(0.1, WINDOW)).map((s) => ({ ...s, seconds: 4 }))];
    const ratios = (rows: ReturnType<typeof toRows>) => rows.map(({ name, ratio }) => [name, ratio]);
    const slow = good.map((step) => ({ ...step, seconds: 8 }));
    expect(ratios(toRows(good, slow, 'TRL'))).toEqual([['rl_step', 0.25], ['rl_rss', 1], ['rl_to_equal_reward', 0.25]]); // prettier-ignore
    expect(ratios(toRows(good, bad, 'TRL'))).toEqual([['rl_step', 0.5], ['rl_rss', 1], ['rl_to_equal_reward', null]]); // prettier-ignore
    expect(ratios(toRows(bad, good, 'TRL'))).toEqual([
      ['rl_step', 2],
      ['rl_rss', 1],
    ]);
    expect(ratios(toRows(good, undefined, 'TRL'))).toEqual([['rl_step', null], ['rl_rss', null], ['rl_to_equal_reward', null]]); // prettier-ignore
  });
});

describe('rows', () => {
  const rows = [row('train', 8, 'tokens/s', 10, 'PyTorch', '>= .65'), row('memory', 1, 'MiB', null, '')];

  test('JSON has name, value, unit, reference and ratio, and nothing else', () => {
    expect(JSON.parse(toJson(rows))).toEqual([
      { name: 'train', value: 8, unit: 'tokens/s', reference: 10, ratio: 0.8 },
      { name: 'memory', value: 1, unit: 'MiB', reference: null, ratio: null },
    ]);
  });

  test('the table also has the goal and what the reference is', () => {
    expect(toTable(rows).split('\n')[2]).toMatch(/^train +8 +tokens\/s +10 +0\.8 +>= \.65 +PyTorch$/);
  });
});
