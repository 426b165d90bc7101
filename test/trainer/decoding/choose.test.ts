/** Choosing a token: the right share of the draws, and the log-probability of the distribution that was drawn from. */
import { describe, expect, test } from 'vitest';
import {
  assertCut,
  chooseAtRandom,
  chooseGreedily,
  keepLikeliest,
  pickIndex,
  type CutSettings,
} from '../../../trainer/decoding/choose.ts';
import { createTokenMask, isAllowed } from '../../../trainer/model/token-mask.ts';

const P = Float32Array.from([0.1, 0.5, 0.05, 0.35]);
const DISTRIBUTION = { p: P, z: P.map(Math.log) };
const DRAWS = Array.from({ length: 1000 }, (_, i) => (i + 0.5) / 1000);

describe('from all tokens', () => {
  test('draws are in proportion to the probabilities', () => {
    const counts = [0, 0, 0, 0];
    for (const u of DRAWS) counts[pickIndex(P, u)]!++;
    [100, 500, 50, 350].forEach((count, id) => {
      expect(Math.abs(counts[id]! - count)).toBeLessThanOrEqual(1);
    });
  });

  test('u next to 1 gives a token that has probability', () => {
    expect(pickIndex(Float32Array.from([0.3, 0.7, 0]), 1 - 2 ** -32)).toBe(1);
  });

  test('no mask comes with the choice, and its log-probability is that of the distribution', () => {
    const { id, logprob, mask } = chooseAtRandom(DISTRIBUTION, 0.05, {});
    expect([id, mask]).toEqual([0, undefined]);
    expect(logprob).toBeCloseTo(Math.log(0.1), 6);
  });
});

describe.each<[string, CutSettings, number[]]>([
  ['top-p .4', { top_p: 0.4 }, [1]],
  ['top-p .8', { top_p: 0.8 }, [1, 3]],
  ['top-p .9', { top_p: 0.9 }, [0, 1, 3]],
  ['top-k 1', { top_k: 1 }, [1]],
  ['top-k 3', { top_k: 3 }, [0, 1, 3]],
  ['top-k 2, then top-p .7 of it', { top_k: 2, top_p: 0.7 }, [1, 3]],
  ['top-k 3, then top-p .5 of it', { top_k: 3, top_p: 0.5 }, [1]],
])('%s', (_name, cut, kept) => {
  test('keeps the likeliest', () => {
    expect(keepLikeliest(P, cut)).toEqual(kept);
  });

  test('draws from them in proportion, with log-probabilities that add up to 1, and says which they were', () => {
    const choices = DRAWS.map((u) => chooseAtRandom(DISTRIBUTION, u, cut));
    const byId = new Map(choices.map((choice) => [choice.id, choice]));
    expect([...byId.keys()].sort()).toEqual(kept);
    const total = [...byId.values()].reduce((sum, { logprob }) => sum + Math.exp(logprob), 0);
    expect(total).toBeCloseTo(1, 5);
    for (const [id, { logprob, mask }] of byId) {
      const share = choices.filter((choice) => choice.id === id).length / DRAWS.length;
      expect(Math.abs(share - Math.exp(logprob))).toBeLessThan(0.002);
      expect([0, 1, 2, 3].filter((each) => isAllowed(mask!, each))).toEqual(kept);
    }
  });
});

test('a cut is made among the tokens that a grammar allows', () => {
  const mask = createTokenMask(4, [0, 2]);
  const p = Float32Array.from([0.75, 0, 0.25, 0]);
  expect(keepLikeliest(p, { top_k: 3 }, mask)).toEqual([0, 2]);
  expect(keepLikeliest(p, { top_p: 0.7 }, mask)).toEqual([0]);
});

test('equally likely tokens are kept in the order of their ids', () => {
  expect(keepLikeliest(Float32Array.from([0.25, 0.25, 0.25, 0.25]), { top_k: 2 })).toEqual([0, 1]);
});

test('greedy takes the likeliest, whatever the cut', () => {
  const { id, logprob } = chooseGreedily(DISTRIBUTION);
  expect(id).toBe(1);
  expect(logprob).toBeCloseTo(Math.log(0.5), 6);
});

test.each([{ top_p: 0 }, { top_p: 1.1 }, { top_p: NaN }, { top_k: -1 }, { top_k: 1.5 }])('%o is refused', (cut) => {
  expect(() => {
    assertCut(cut);
  }).toThrow(RangeError);
});
