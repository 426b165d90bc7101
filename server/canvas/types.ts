/** What the two steps of reading a completion return: parsing (text -> actions) and applying (actions -> canvas). */
import type { Action, ActionSet } from '../../schemas/action.ts';
import type { Canvas } from '../../schemas/canvas.ts';
import type { ActionError, ParseInfo } from '../../schemas/reward.ts';

/** An action as a model sent it: an object, nothing else is known yet. */
export type RawAction = Record<string, unknown>;

/** `article` follows the article's rules to the letter; `lenient` finds the JSON in prose and cleans labels. */
export type Style = 'article' | 'lenient';

export interface ParseOptions {
  style: Style;
  max_actions: number;
  /** Why sampling stopped, as the model's server says it; `length` means that the text was cut. */
  finish_reason?: string | undefined;
}

export interface ParseResult {
  /** The actions in order, or null: nothing can be executed, so there is no canvas. */
  actions: readonly RawAction[] | null;
  errors: ActionError[];
  info: ParseInfo;
}

export interface ApplyOptions {
  action_set: ActionSet;
  /** Default `lenient`. */
  style?: Style;
}

/** The canvas before an action batch, and which of its shapes are selected. */
export interface ApplyStart {
  canvas: Canvas;
  selected: readonly string[];
}

export interface RejectedAction {
  index: number;
  action: RawAction;
  error: ActionError;
}

export interface ApplyResult {
  canvas: Canvas;
  selected: string[];
  /** A `done` action was accepted. */
  submitted: boolean;
  errors: ActionError[];
  /** actions >= schema_valid (every field is right by itself) >= accepted (it also fits the canvas). */
  counts: { actions: number; schema_valid: number; accepted: number };
  /** The accepted actions, with absent labels filled in and foreign fields left out. */
  applied: Action[];
  rejected: RejectedAction[];
}
