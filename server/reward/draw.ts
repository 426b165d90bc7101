/** Completion -> drawing: parsing and applying with the limits and the style that belong to a preset. */
import type { ActionSet } from '../../schemas/action.ts';
import type { Preset } from '../../schemas/reward.ts';
import { applyActions } from '../canvas/apply.ts';
import { MAX_ACTIONS } from '../canvas/limits.ts';
import { parseCompletion } from '../canvas/parse.ts';
import type { ApplyStart, Style } from '../canvas/types.ts';
import type { Drawing } from './types.ts';

export interface DrawOptions {
  preset: Preset;
  action_set: ActionSet;
  finish_reason?: string | undefined;
}

/** Draws a completion on the start canvas. Never throws, whatever the completion is. */
export function draw(completion: unknown, start: ApplyStart, options: DrawOptions): Drawing {
  const { preset, action_set, finish_reason } = options;
  const style: Style = preset === 'article' ? 'article' : 'lenient';
  const parse = parseCompletion(completion, { style, max_actions: MAX_ACTIONS[preset], finish_reason });
  const apply = parse.actions && applyActions(parse.actions, start, { action_set, style });
  return { completion, parse, apply };
}
