/** Bodies and queries of the HTTP API. Strict: an unknown key is a fault that names the key. */
import { z } from 'zod';
import { ActionSet } from './action.ts';
import { Canvas, CanvasSize, MAX_CANVAS_ITEMS } from './canvas.ts';
import { CompletionSchema, MAX_PROMPT_LENGTH, PromptSchema } from './completion.ts';
import { State } from './episode.ts';
import { Preset } from './reward.ts';
import { Family, InlineTask, Level, Split } from './task.ts';

/** Most items of a batch. */
export const MAX_BATCH = 4096;
/** Tasks on a page unless the query says otherwise. */
export const DEFAULT_LIMIT = 50;
/** Most turns of an episode. */
export const MAX_TURNS = 1000;

/** Decimal integers from 0 to 2^64 - 1 without leading zeros. */
const UINT64 =
  '^(0|[1-9][0-9]{0,18}|1[0-7][0-9]{18}|18[0-3][0-9]{17}|184[0-3][0-9]{16}|1844[0-5][0-9]{15}|18446[0-6][0-9]{14}' +
  '|184467[0-3][0-9]{13}|1844674[0-3][0-9]{12}|184467440[0-6][0-9]{10}|1844674407[0-2][0-9]{9}' +
  '|18446744073[0-6][0-9]{8}|1844674407370[0-8][0-9]{6}|18446744073709[0-4][0-9]{5}|184467440737095[0-4][0-9]{4}' +
  '|18446744073709550[0-9]{3}|18446744073709551[0-5][0-9]{2}|1844674407370955160[0-9]|1844674407370955161[0-5])$';
const UINT64_REGEX = new RegExp(UINT64);

/** A seed as JSON can carry it without loss: a safe integer, or the digits of a 64-bit one. */
export function isSeed(value: unknown): value is number | string {
  return typeof value === 'string' ? UINT64_REGEX.test(value) : Number.isSafeInteger(value) && (value as number) >= 0;
}

export const SeedSchema = z
  .custom<number | string>(isSeed, {
    error:
      'must be an integer from 0 to 9007199254740991 (2^53 - 1); send larger seeds, up to 18446744073709551615, as a string of digits',
    params: { code: 'bad_seed' },
  })
  .meta({
    description: 'Integer up to 2^53 - 1, or a string of digits up to 2^64 - 1 (no leading zeros)',
    anyOf: [
      { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      { type: 'string', pattern: UINT64 },
    ],
  });

const RewardPreset = Preset.optional().describe('Reward preset, default graded');
const TaskId = z.string().max(200).describe('A task of the suite, e.g. train.pipeline.1.42');
const FinishReason = z
  .string()
  .max(40)
  .nullish()
  .describe('Why sampling stopped, as the model server says it; "length" means that the text was cut');
const InlinePrompt = z.string().max(MAX_PROMPT_LENGTH).describe('A free prompt, without an expected answer');
const AnyValue = z.custom<unknown>((value) => value !== undefined, { error: 'Field required' });

const OfSplit = Split.optional().describe('Split of the suite');
const OfFamily = Family.optional().describe('Family of tasks');
const OfLevel = Level.optional().describe('Difficulty');
const InlineTaskField = InlineTask.optional().describe('A task that is not of the suite, and what it expects');
const HeldOutField = z
  .boolean()
  .optional()
  .describe('Also answer the held-out measures, which are for evaluation and not for training; default false');
const ActionSetField = ActionSet.optional().describe('Which actions there are, default core');

export const ResetRequest = z.strictObject({
  seed: SeedSchema.nullish().describe(
    'Draws the task: an integer up to 2^53 - 1, or a string of digits up to 2^64 - 1 (no leading zeros)',
  ),
  task_id: TaskId.optional(),
  split: OfSplit,
  family: OfFamily,
  level: OfLevel,
  index: z
    .number()
    .int()
    .min(0)
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('Position in split, family and level'),
  task: InlineTaskField,
  prompt: InlinePrompt.optional(),
  reward: RewardPreset,
  action_set: ActionSetField,
  max_turns: z.number().int().min(1).max(MAX_TURNS).optional().describe('Turns of the episode, default 1'),
  episode_id: z.string().max(255).nullish().describe('Handed back in state and info; means nothing to the server'),
});
export type ResetRequest = z.infer<typeof ResetRequest>;

export const StepRequest = z.strictObject({
  state: State.optional().describe('What /reset or the last /step answered'),
  action: AnyValue.meta({
    description:
      'Model output: a text, {actions: [...]}, a list of actions, or an assistant message of a chat completion, whose tool calls count, else its text. Any other value is graded as bad output, never refused',
  }),
  task_id: TaskId.optional(),
  task: InlineTaskField,
  prompt: InlinePrompt.optional(),
  reward: RewardPreset,
  action_set: ActionSetField,
  finish_reason: FinishReason,
  request_id: z
    .string()
    .max(255)
    .nullish()
    .describe('Accepted for OpenEnv clients and ignored: equal requests get equal answers'),
  timeout_s: z
    .number()
    .positive()
    .nullish()
    .describe('Accepted for OpenEnv clients and ignored: a step takes milliseconds'),
});
export type StepRequest = z.infer<typeof StepRequest>;

export const RewardRequest = z.strictObject({
  prompt: PromptSchema.optional(),
  task_id: TaskId.optional(),
  task: InlineTaskField,
  completion: CompletionSchema,
  reward: RewardPreset,
  action_set: ActionSetField,
  finish_reason: FinishReason,
  held_out: HeldOutField,
});
export type RewardRequest = z.infer<typeof RewardRequest>;

export const ScoreRequest = z.strictObject({
  prompts: z
    .array(PromptSchema)
    .max(MAX_BATCH)
    .optional()
    .describe('The task of each completion in words: a text, or chat messages (the last of the user counts)'),
  completions: z
    .array(CompletionSchema)
    .max(MAX_BATCH)
    .describe('Model outputs, each a text, chat messages (the last of the assistant counts), or {actions: [...]}'),
  context: z
    .looseObject({
      task_id: z.array(TaskId.nullable()).max(MAX_BATCH).optional(),
      task: z.array(InlineTask.nullable()).max(MAX_BATCH).optional(),
      finish_reason: z.array(FinishReason).max(MAX_BATCH).optional(),
    })
    .optional()
    .describe(
      'Columns as long as completions; where a task is null its prompt is used, and finish_reason says which texts were cut. Other columns a trainer sends along are ignored',
    ),
  reward: RewardPreset,
  action_set: ActionSetField,
  held_out: HeldOutField,
});
export type ScoreRequest = z.infer<typeof ScoreRequest>;

export const RENDER_FORMATS = ['svg', 'png', 'tldraw', 'excalidraw', 'mermaid'] as const;
export const RenderFormat = z.enum(RENDER_FORMATS);
export type RenderFormat = z.infer<typeof RenderFormat>;

export const RenderRequest = z.strictObject({
  state: State.optional().describe('Its canvas is drawn'),
  canvas: Canvas.optional().describe('Shapes and arrows to draw'),
  actions: z
    .array(AnyValue)
    .max(MAX_CANVAS_ITEMS)
    .optional()
    .describe('Drawn on an empty canvas; faulty ones are left out'),
  completion: CompletionSchema.optional(),
  format: RenderFormat.optional().describe('What the drawing is answered as, default svg'),
  canvas_size: CanvasSize.optional().describe('Drawing area, default 1200 x 800, or that of the task in state'),
});
export type RenderRequest = z.infer<typeof RenderRequest>;

export const TasksQuery = z.strictObject({
  split: OfSplit,
  family: OfFamily,
  level: OfLevel,
  limit: z.number().int().min(1).max(1000).optional().describe(`Most tasks to answer, default ${DEFAULT_LIMIT}`),
  offset: z
    .number()
    .int()
    .min(0)
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('How many tasks to pass over first, default 0'),
});
export type TasksQuery = z.infer<typeof TasksQuery>;

export const TaskParams = z.strictObject({ task_id: TaskId });
export type TaskParams = z.infer<typeof TaskParams>;
