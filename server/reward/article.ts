/**
 * Preset `article` (article.md, after Mishra, "On Building Agents From First Principles", 2026):
 *
 *   reward = valid * (0.4 + 0.3 layout + 0.3 semantics)
 *
 * - valid: 1 if there is a canvas and no error, else 0
 * - layout: 0 for an empty canvas; else 1 - 0.15 for each pair of shapes whose boxes intersect or touch, + 0.1 for each
 *   labelled shape (at most 5), + 0.1 for each arrow (at most 5), clamped to [0, 1] once at the end
 * - semantics: share of the prompt's important words that occur in labels; 0.5 where the prompt has none
 *
 * It does not know what the task expects, and it is easy to please; reward.md section 3 shows by what.
 */
import type { Canvas } from '../../schemas/canvas.ts';
import type { ActionError, Reason } from '../../schemas/reward.ts';
import { OVERLAP_COST, overlapMessage, type Touching, touchingPairs } from './overlap.ts';
import { byLoss, firstFew } from './reasons.ts';
import type { PresetScore, ScorePreset } from './types.ts';
import { importantWords, missingWords } from './words.ts';

const BASE = 0.4;
const LAYOUT_WEIGHT = 0.3;
const SEMANTICS_WEIGHT = 0.3;
const ITEM_BONUS = 0.1;
const BONUS_ITEMS = 5;

export const scoreArticle: ScorePreset = (task, drawing) => {
  const { parse, apply } = drawing;
  if (apply === null) return score(0, NOTHING, NOTHING, errorReasons(parse.errors, 1));
  const layout = scoreLayout(apply.canvas);
  const semantics = scoreSemantics(task.prompt, apply.canvas);
  const ungated = BASE + LAYOUT_WEIGHT * layout.value + SEMANTICS_WEIGHT * semantics.value;
  const valid = apply.errors.length === 0;
  return score(valid ? ungated : 0, layout, semantics, errorReasons(apply.errors, ungated), valid);
};

interface Part {
  value: number;
  reasons: Reason[];
}

const NOTHING: Part = { value: 0, reasons: [] };

function score(reward: number, layout: Part, semantics: Part, errors: readonly Reason[], valid = false): PresetScore {
  return {
    reward,
    components: { valid: valid ? 1 : 0, layout: layout.value, semantics: semantics.value },
    reasons: byLoss([...errors, ...layout.reasons, ...semantics.reasons]),
    expectation: 'none',
  };
}

const EMPTY_CANVAS: Reason = {
  component: 'layout',
  code: 'empty_canvas',
  message: 'there are no shapes: create some',
  lost: LAYOUT_WEIGHT,
};

/** One reason for each error; together they cost what the canvas would have earned without them. */
function errorReasons(errors: readonly ActionError[], ungated: number): Reason[] {
  return errors.map(({ code, message }) => ({
    component: 'valid',
    code,
    message: `any error makes the reward 0; ${message}`,
    lost: ungated / errors.length,
  }));
}

function scoreLayout({ shapes, arrows }: Canvas): Part {
  if (shapes.length === 0) return { value: 0, reasons: [EMPTY_CANVAS] };
  const touching = touchingPairs(shapes);
  let value = 1;
  for (let i = 0; i < touching.count; i++) value -= OVERLAP_COST;
  let labelled = 0;
  for (const shape of shapes) if (shape.text.trim() !== '') labelled++;
  value += ITEM_BONUS * Math.min(BONUS_ITEMS, labelled);
  value += ITEM_BONUS * Math.min(BONUS_ITEMS, arrows.length);
  value = Math.max(0, Math.min(1, value));
  return { value, reasons: value < 1 ? [overlapReason(touching, value)] : [] };
}

function overlapReason(touching: Touching, value: number): Reason {
  return {
    component: 'layout',
    code: 'shapes_overlap',
    message: overlapMessage(touching),
    lost: LAYOUT_WEIGHT * (1 - value),
  };
}

function scoreSemantics(prompt: string, canvas: Canvas): Part {
  const important = importantWords(prompt);
  if (important.size === 0) return { value: 0.5, reasons: [noWords()] };
  const missing = missingWords(important, canvas);
  const value = (important.size - missing.length) / important.size;
  if (missing.length === 0) return { value, reasons: [] };
  const message = `no label holds these words of the prompt: ${firstFew(missing)}`;
  const lost = SEMANTICS_WEIGHT * (1 - value);
  return { value, reasons: [{ component: 'semantics', code: 'words_missing', message, lost }] };
}

function noWords(): Reason {
  const message = 'the prompt has no word of 4 or more letters, so nothing in the drawing can change this part';
  return { component: 'semantics', code: 'prompt_without_words', message, lost: SEMANTICS_WEIGHT / 2 };
}
