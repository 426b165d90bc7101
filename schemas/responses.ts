/** Answers of the HTTP API. Deterministic: equal requests give equal bytes, so there is no clock and no random id. */
import { z } from 'zod';
import { Action } from './action.ts';
import { Observation, State, StopReason } from './episode.ts';
import {
  ActionError,
  Components,
  ExpectationSource,
  HeldOut,
  ParseInfo,
  Preset,
  PresetRef,
  Reason,
  RewardResult,
} from './reward.ts';
import { Family, Level, PublicTask, Split } from './task.ts';

export const TaskFacts = z.strictObject({
  task_id: z.string(),
  split: Split,
  family: Family,
  level: Level,
  seed: z.string().describe('Seed of the task itself, a 64-bit decimal string'),
});
export type TaskFacts = z.infer<typeof TaskFacts>;

export const RejectedAction = z.strictObject({
  index: z.number().int().min(0),
  action: z.record(z.string(), z.unknown()).describe('As the model sent it'),
  error: ActionError,
});

/** Diagnostics of a turn. The keys never change; what a turn does not have is null or empty. */
export const Info = z.strictObject({
  seed: z.string().nullable().describe('Seed that chose the task; null where the request named the task'),
  episode_id: z.string().nullable(),
  task: TaskFacts.nullable().describe('null for an inline task'),
  suite_version: z.number().int(),
  preset: PresetRef,
  expectation: ExpectationSource.nullable().describe('null before the first turn'),
  parse: ParseInfo.nullable().describe('How the action was read; null before the first turn'),
  reasons: z.array(Reason),
  applied: z.array(Action).describe('Actions that changed the canvas'),
  rejected: z.array(RejectedAction),
});
export type Info = z.infer<typeof Info>;

const Flag = z.boolean();

export const ResetResponse = z.strictObject({
  observation: Observation,
  reward: z.null(),
  terminated: Flag,
  truncated: Flag,
  done: Flag,
  info: Info,
  state: State,
});
export type ResetResponse = z.infer<typeof ResetResponse>;

export const StepResponse = z.strictObject({
  observation: Observation,
  reward: z.number().describe('R of the canvas; in an episode of several turns, its change less 0.01 a turn'),
  terminated: Flag.describe("The task's own end was reached"),
  truncated: Flag.describe('An outside limit ended the episode'),
  done: Flag.describe('terminated or truncated'),
  stop_reason: StopReason.nullable(),
  info: Info,
  state: State,
});
export type StepResponse = z.infer<typeof StepResponse>;

/** Present where the request asked for it. */
const MeasuredField = HeldOut.nullable().describe('Where asked for; null where the task has no expectation');

export const RewardResponse = RewardResult.extend({ held_out: MeasuredField.optional() });
export type RewardResponse = z.infer<typeof RewardResponse>;

export const ScoreResponse = z.strictObject({
  rewards: z
    .array(z.number().min(0).max(1).nullable())
    .describe('null where the server failed: drop the item or retry'),
  preset: PresetRef,
  components: z.array(Components),
  errors: z.array(z.array(ActionError)),
  held_out: z
    .array(HeldOut.nullable())
    .optional()
    .describe('Where asked for, in order; null where the task has no expectation, or the server failed'),
});
export type ScoreResponse = z.infer<typeof ScoreResponse>;

export const TasksResponse = z.strictObject({
  tasks: z.array(PublicTask),
  total: z.number().int().min(0).describe('How many there are without limit and offset'),
  limit: z.number().int(),
  offset: z.number().int(),
});
export type TasksResponse = z.infer<typeof TasksResponse>;

export const HealthResponse = z.strictObject({ status: z.literal('healthy'), version: z.string() });
export type HealthResponse = z.infer<typeof HealthResponse>;

export const MetadataResponse = z.strictObject({
  name: z.string(),
  description: z.string(),
  version: z.string(),
  readme_content: z.null(),
  author: z.null(),
  documentation_url: z.string().nullable(),
  suite_version: z.number().int(),
  presets: z.array(PresetRef),
  default_preset: Preset,
  instructions: z.string().describe('What to tell a model that knows nothing of this environment, as a system message'),
  signed_states: z.boolean().describe('Whether state carries a signature, so that a changed one is refused'),
});
export type MetadataResponse = z.infer<typeof MetadataResponse>;

const JsonSchema = z.record(z.string(), z.unknown()).describe('JSON Schema, draft 2020-12');

export const SchemaResponse = z.strictObject({ action: JsonSchema, observation: JsonSchema, state: JsonSchema });
export type SchemaResponse = z.infer<typeof SchemaResponse>;

export const OpenApiResponse = z.looseObject({
  openapi: z.string(),
  info: z.looseObject({ title: z.string(), version: z.string() }),
  paths: z.record(z.string(), z.unknown()),
});
export type OpenApiResponse = z.infer<typeof OpenApiResponse>;

export const RootResponse = z.strictObject({
  name: z.string(),
  version: z.string(),
  docs: z.string(),
  openapi: z.string(),
  routes: z.array(z.strictObject({ method: z.string(), path: z.string(), summary: z.string() })),
});
export type RootResponse = z.infer<typeof RootResponse>;

export const ToolsResponse = z.strictObject({
  tools: z
    .array(z.strictObject({ name: z.string(), description: z.string(), input_schema: JsonSchema }))
    .describe('As Anthropic and ORS clients take them'),
  openai: z
    .array(
      z.strictObject({
        type: z.literal('function'),
        function: z.strictObject({ name: z.string(), description: z.string(), parameters: JsonSchema }),
      }),
    )
    .describe('The same, as `tools` of an OpenAI-style chat completion'),
  terminal_tool: z
    .strictObject({ name: z.string(), arg: z.string(), description: z.string() })
    .describe('For ORS harnesses: the tool that takes an answer without a tool call, in the argument `arg`'),
  supports_score_group: z.literal(false).describe('For ORS harnesses: every drawing has a reward of its own'),
  message_block_types: z.array(z.literal('text')).describe('For ORS harnesses: what blocks of messages hold'),
});
export type ToolsResponse = z.infer<typeof ToolsResponse>;
