/** Episodes: what an agent is given (observation), what the caller carries from turn to turn (state), how one ends. */
import { z } from 'zod';
import { Action, ActionSet } from './action.ts';
import { Canvas, MAX_CANVAS_ITEMS } from './canvas.ts';
import { ActionError, Components, Preset } from './reward.ts';
import { InlineTask } from './task.ts';

export const STATE_VERSION = 1;

/** Why an episode ended; null while it goes on. The closed set of style.md, less the reasons only a caller can know. */
export const STOP_REASONS = ['submitted', 'max_steps', 'max_tokens', 'invalid_action', 'timeout', 'error'] as const;
export const StopReason = z.enum(STOP_REASONS);
export type StopReason = z.infer<typeof StopReason>;

/** A remark of the canvas checker that costs nothing by itself, e.g. a label that does not fit its shape. */
export const Lint = z.strictObject({
  code: z.string(),
  message: z.string(),
  shape: z.string().optional().describe('Id of the shape it is about'),
});
export type Lint = z.infer<typeof Lint>;

export const Observation = z.strictObject({
  prompt: z.string(),
  task_id: z.string().nullable().describe('null for an inline task'),
  turn: z.number().int().min(0).describe('Turns taken so far'),
  max_turns: z.number().int().min(1),
  canvas_size: z.strictObject({ w: z.number(), h: z.number() }).describe('Drawing area, canvas pixels'),
  canvas: Canvas,
  selected: z.array(z.string()).describe('Ids of the selected shapes'),
  errors: z.array(ActionError).describe('Faults of the last action'),
  applied: z.number().int().min(0),
  rejected: z.number().int().min(0),
  lints: z.array(Lint),
  reward_components: Components.describe('Components of the canvas so far; empty before the first turn'),
  total_reward: z.number().describe('Sum of the rewards of this episode so far'),
});
export type Observation = z.infer<typeof Observation>;

/**
 * All an episode needs; the caller hands it back with the next action. Holds the reference of a suite task, never its
 * expected answer. An inline task travels whole, since the caller brought it.
 */
export const State = z.strictObject({
  version: z.literal(STATE_VERSION),
  suite_version: z.number().int().describe('Version of the task suite the episode began with'),
  reward_version: z.number().int().describe('Version of the reward preset the episode began with'),
  task_id: z.string().optional(),
  task: InlineTask.optional(),
  episode_id: z.string().optional(),
  seed: z.string().optional().describe('The seed given to reset, as a decimal string'),
  reward: Preset,
  action_set: ActionSet,
  max_turns: z.number().int().min(1),
  turn: z.number().int().min(0),
  canvas: Canvas,
  selected: z.array(z.string()).max(MAX_CANVAS_ITEMS),
  value: z
    .number()
    .min(0)
    .max(1)
    .describe('R after the last turn, less what its faults cost; the next reward is measured against it'),
  total_reward: z.number().min(-11).max(1).describe('R less 0.01 for each of at most 1000 turns'),
  stop_reason: StopReason.optional().describe('Present once the episode has ended'),
  sig: z.string().optional().describe('HMAC-SHA256 over all other fields with sorted keys, hexadecimal'),
});
export type State = z.infer<typeof State>;

/** What each turn costs in an episode of several turns. */
export const TURN_COST = 0.01;

/**
 * What a step takes as an action, as `GET /schema` describes it: one field, so that a client which wraps a bare text or
 * list in the schema's only field sends something that is understood.
 */
export const DrawingAction = z
  .strictObject({
    actions: z
      .union([z.string(), z.array(Action), z.looseObject({})])
      .describe(
        'A list of actions, the whole text a model wrote, which is searched for one, or its JSON, parsed: {"actions": [...]}',
      ),
  })
  .describe('Bare texts and lists do as well. Any other value is graded as bad model output, never refused');
