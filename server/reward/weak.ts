/** Preset `weak` (article.md): 1 if the completion parses as JSON by the article's rules 1 and 2, else 0. */
import type { Reason } from '../../schemas/reward.ts';
import { isArticleJson } from '../canvas/parse.ts';
import type { ScorePreset } from './types.ts';

const NOT_JSON: Reason = {
  component: 'parses_as_json',
  code: 'not_json',
  message: 'neither the completion nor its part from the first { to the last } is JSON: answer with one JSON object',
  lost: 1,
};

export const scoreWeak: ScorePreset = (_task, drawing) => {
  const reward = isArticleJson(drawing.completion) ? 1 : 0;
  return {
    reward,
    components: { parses_as_json: reward },
    reasons: reward === 1 ? [] : [NOT_JSON],
    expectation: 'none',
  };
};
