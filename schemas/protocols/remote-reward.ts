/**
 * Reward functions that trainers call by URL: OpenRLHF (`--reward.remote_url`), slime and miles (`--rm-url`), FAI-RL (an API
 * reward of its GRPO recipe). Bodies are loose, since each of them sends along what the user configured.
 */
import { z } from 'zod';
import { MAX_BATCH } from '../requests.ts';
import { Preset } from '../reward.ts';
import type { Route } from '../route.ts';
import { InlineTask } from '../task.ts';

/**
 * What a label may say of its item's task, as an object or as its JSON text. Other keys are the trainer's, but with a prompt
 * of its own the label is an inline task and nothing else.
 */
export const LabelTask = z.looseObject({
  task_id: z.string().max(200).nullish(),
  task: InlineTask.nullish(),
  prompt: z.unknown().optional(),
});
export type LabelTask = z.infer<typeof LabelTask>;

const LABEL =
  'A task id; or {"task_id": ...}, {"task": ...} or an inline task, as an object or as JSON text; or null: then the prompt counts';

const Reward = Preset.optional().describe('Reward preset, default graded');
const Text = z.string().describe('Text, with the tokens of a chat template or without');

export const OpenRlhfQuery = z.strictObject({
  reward: Reward,
  extra_logs: z
    .enum(['lists', 'none'])
    .optional()
    .describe('Whether the answer has the components as `extra_logs`; default lists. OpenRLHF 0.8.11 takes none'),
});

export const OpenRlhfRequest = z.looseObject({
  query: z
    .array(Text)
    .max(MAX_BATCH)
    .describe('Prompt and response as one text; the response alone where no prompts are given'),
  prompts: z.array(Text).max(MAX_BATCH).nullish().describe('As long as query'),
  labels: z.array(z.unknown()).max(MAX_BATCH).nullish().describe(`As long as query. ${LABEL}`),
});
export type OpenRlhfRequest = z.infer<typeof OpenRlhfRequest>;

const Column = z.array(z.number());

export const OpenRlhfResponse = z.strictObject({
  rewards: Column,
  scores: Column.describe('The rewards again'),
  extra_logs: z.record(z.string(), Column).optional().describe('Every component of the preset'),
});

export const SlimeQuery = z.strictObject({
  reward: Reward,
  reward_key: z
    .string()
    .regex(/^[A-Za-z_]\w{0,63}$/)
    .optional()
    .describe(
      'Answer with an object that has the reward under this key, beside its components; give slime the same --reward-key',
    ),
});

export const SlimeRequest = z.looseObject({
  prompt: z.unknown().optional().describe('A text, or chat messages; may be null where the label names a task'),
  response: Text,
  label: z.unknown().optional().describe(LABEL),
});
export type SlimeRequest = z.infer<typeof SlimeRequest>;

export const SlimeResponse = z
  .union([z.number(), z.record(z.string(), z.number())])
  .describe('The reward; with reward_key an object');

const Items = z.array(z.unknown()).max(MAX_BATCH);

export const FaiRlRequest = z.looseObject({
  prompts: Items.describe('Texts or lists of chat messages'),
  completions: Items.describe('As long as prompts'),
  context: z
    .looseObject({
      task_id: Items.optional(),
      task: Items.optional(),
    })
    .nullish()
    .describe(`Columns of the data set. Of these, task_id and task are read: ${LABEL}`),
  reward: Reward,
});
export type FaiRlRequest = z.infer<typeof FaiRlRequest>;

export const FaiRlResponse = z.strictObject({ rewards: Column });

const EXAMPLE_PROMPT = 'Draw a client that sends a request to a server.';
const EXAMPLE_LABEL = 'train.pipeline.1.3';
const EXAMPLE_RESPONSE =
  '{"actions": [{"type": "create_shape", "id": "a", "shape": "rectangle", "x": 80, "y": 80, "w": 160, "h": 80, "text": "Client"}]}';

export const REMOTE_REWARD_ROUTES = {
  openrlhf_get_reward: {
    method: 'POST',
    path: '/get_reward',
    tag: 'remote-reward',
    summary: 'Reward for OpenRLHF',
    description:
      'Each item of `query` is its prompt followed by the response. Where the server fails on any item the answer is 503, so that the trainer asks again.',
    query: OpenRlhfQuery,
    body: OpenRlhfRequest,
    body_limit: 'batch',
    in_thread: true,
    answer: OpenRlhfResponse,
    refusals: [400, 404, 422],
    example: { query: [EXAMPLE_PROMPT + EXAMPLE_RESPONSE], prompts: [EXAMPLE_PROMPT], labels: [EXAMPLE_LABEL] },
  },
  slime_rm: {
    method: 'POST',
    path: '/rm',
    tag: 'remote-reward',
    summary: 'Reward for slime and miles',
    description: 'The answer is the reward itself, a number; with `reward_key` an object.',
    query: SlimeQuery,
    body: SlimeRequest,
    answer: SlimeResponse,
    refusals: [400, 404, 422],
    example: { prompt: EXAMPLE_PROMPT, response: EXAMPLE_RESPONSE, label: EXAMPLE_LABEL },
  },
  fai_rl_score: {
    method: 'POST',
    path: '/fai_rl',
    tag: 'remote-reward',
    summary: 'Reward for FAI-RL',
    description:
      'As `/score`, with what FAI-RL needs of an answer: other fields of the body are ignored, and no reward is ever null. Where the server fails on any item the answer is 503.',
    body: FaiRlRequest,
    body_limit: 'batch',
    in_thread: true,
    answer: FaiRlResponse,
    refusals: [400, 404, 422],
    example: { prompts: [EXAMPLE_PROMPT], completions: [EXAMPLE_RESPONSE], context: { task_id: [EXAMPLE_LABEL] } },
  },
} as const satisfies Record<string, Route>;
