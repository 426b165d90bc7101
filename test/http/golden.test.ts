/** All golden vectors of the article's rules, through every route that scores. */
import { expect, test } from 'vitest';
import type { ActionError } from '../../schemas/reward.ts';
import { GOLDEN, overTransports, type Api, type GoldenVector } from './support.ts';

interface Graded {
  reward: number | null;
  errors: readonly ActionError[];
  shapes?: number;
  arrows?: number;
  layout: number | undefined;
  semantics: number | undefined;
}

/** Faults of parsing have no index: then there is no canvas. */
const isParsed = (errors: readonly ActionError[]): boolean => errors.every(({ index }) => index !== undefined);

function expectAgreement(vector: GoldenVector, graded: Graded): void {
  const { id } = vector;
  expect(Math.abs((graded.reward ?? NaN) - vector.reward), id).toBeLessThanOrEqual(1e-12);
  expect(isParsed(graded.errors), id).toBe(vector.parsed);
  if (!vector.parsed) return;
  expect(
    graded.errors.map(({ message }) => message),
    id,
  ).toEqual(vector.errors);
  expect(Math.abs((graded.layout ?? NaN) - (vector.layout ?? NaN)), id).toBeLessThanOrEqual(1e-12);
  expect(Math.abs((graded.semantics ?? NaN) - (vector.semantics ?? NaN)), id).toBeLessThanOrEqual(1e-12);
  if (graded.shapes !== undefined) expect([graded.shapes, graded.arrows], id).toEqual([vector.shapes, vector.arrows]);
}

async function step(api: Api, { prompt, completion }: GoldenVector): Promise<Graded> {
  const { state } = await api.client.reset({ prompt, reward: 'article' });
  const { reward, observation } = await api.client.step({ state, action: completion });
  return {
    reward,
    errors: observation.errors,
    shapes: observation.canvas.shapes.length,
    arrows: observation.canvas.arrows.length,
    layout: observation.reward_components['layout'],
    semantics: observation.reward_components['semantics'],
  };
}

async function reward(api: Api, { prompt, completion }: GoldenVector): Promise<Graded> {
  const answer = await api.client.reward({ prompt, completion, reward: 'article' });
  return {
    reward: answer.reward,
    errors: answer.errors,
    layout: answer.components['layout'],
    semantics: answer.components['semantics'],
  };
}

overTransports('golden vectors', (api) => {
  test('there are 317', () => {
    expect(GOLDEN).toHaveLength(317);
  });

  test.each([
    ['/step', step],
    ['/reward', reward],
  ])('agree through %s', async (_, grade) => {
    for (const vector of GOLDEN) expectAgreement(vector, await grade(api(), vector));
  });

  test('agree through /score, in one batch', async () => {
    const { rewards, errors, components, preset } = await api().client.score({
      prompts: GOLDEN.map(({ prompt }) => prompt),
      completions: GOLDEN.map(({ completion }) => completion),
      reward: 'article',
    });
    expect(preset).toEqual({ name: 'article', version: 1 });
    GOLDEN.forEach((vector, i) => {
      const { layout, semantics } = components[i]!;
      expectAgreement(vector, { reward: rewards[i]!, errors: errors[i]!, layout, semantics });
    });
  });
});
