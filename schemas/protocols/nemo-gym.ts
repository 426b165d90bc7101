/**
 * NVIDIA NeMo Gym: a resources server (`/seed_session`, a route for each tool, `/verify`) for its agents and for verifiers'
 * `nemo_gym` taskset, and its newer Gymnasium protocol under the prefix `/nemo-gym`, since `/reset` and `/step` are taken.
 * Rows of a data set come whole with every request; of their fields the ones below are read.
 */
import { z } from 'zod';
import { ActionSet, type ActionType } from '../action.ts';
import { MAX_TURNS } from '../requests.ts';
import { Preset } from '../reward.ts';
import type { Route } from '../route.ts';
import { TOOLS, type SUBMIT_TOOL, type Tool } from '../tools.ts';

const rowFields = {
  responses_create_params: z
    .looseObject({ input: z.unknown().optional() })
    .describe('What the model is asked; its last user message is the task where the row names none'),
  task_id: z.unknown().optional().describe('A task of the suite, e.g. train.pipeline.1.42'),
  task: z.unknown().optional().describe('An inline task, as an object or as JSON text'),
  reward_preset: Preset.nullish().describe('Default graded'),
};

export const NemoRow = z.looseObject(rowFields);
export type NemoRow = z.infer<typeof NemoRow>;

const NemoResponse = z
  .looseObject({
    output: z.array(z.unknown()).describe('Items of the Responses API; messages and function calls count'),
    incomplete_details: z.unknown().optional(),
  })
  .describe('A response of the Responses API');
export type NemoResponse = z.infer<typeof NemoResponse>;

export const NemoVerifyRequest = z.looseObject({ ...rowFields, response: NemoResponse });
export type NemoVerifyRequest = z.infer<typeof NemoVerifyRequest>;

const episodeFields = {
  max_turns: z.number().int().min(1).max(MAX_TURNS).nullish().describe('Responses an episode takes, default 1'),
  action_set: ActionSet.nullish().describe('Default core, with several turns editor'),
};

export const NemoResetRequest = z.looseObject({ ...rowFields, ...episodeFields });
export type NemoResetRequest = z.infer<typeof NemoResetRequest>;
export const NemoStepRequest = z.looseObject({ ...rowFields, ...episodeFields, response: NemoResponse });
export type NemoStepRequest = z.infer<typeof NemoStepRequest>;

const Info = z.record(z.string(), z.unknown());

export const NemoResetResponse = z.strictObject({
  observation: z.string().nullable().describe('The task in words; null where the row asks the model already'),
  info: Info,
});
export const NemoStepResponse = z.strictObject({
  observation: z.string().nullable().describe('What to change; null once the episode is over'),
  reward: z.number(),
  terminated: z.boolean(),
  truncated: z.boolean(),
  info: Info.describe('Components as reward/<name>, and for function calls `tool_outputs`'),
});

export const NemoToolResponse = z.strictObject({
  ok: z.boolean().describe('False where the call was refused and changed nothing'),
  message: z.string().describe('For the model'),
  done: z.boolean().describe('No more calls are taken'),
});
export type NemoToolResponse = z.infer<typeof NemoToolResponse>;

export const NemoMetricsRequest = z.looseObject({
  verify_responses: z.array(z.looseObject({})).describe('Answers of /verify, each with its _ng_task_index'),
});
export type NemoMetricsRequest = z.infer<typeof NemoMetricsRequest>;

const Metrics = z.record(z.string(), z.unknown());

export const NemoMetricsResponse = z.strictObject({
  group_level_metrics: z.array(Metrics).describe('For each task: <statistic>/<field>, _ng_task_index'),
  agent_metrics: Metrics.describe('Over all: mean, max, min, median and std of each field that holds numbers'),
  key_metrics: Metrics.describe('The means among them'),
});
export type NemoMetricsResponse = z.infer<typeof NemoMetricsResponse>;

type ToolName = Exclude<ActionType, 'done'> | typeof SUBMIT_TOOL;
export type NemoToolRouteId = `nemo_tool_${ToolName}`;

function toToolRoute({ name, description, input_schema }: Tool) {
  return {
    method: 'POST',
    path: `/${name}`,
    tag: 'nemo-gym',
    summary: `Tool: ${description.split('.')[0]!.toLowerCase()}`,
    description: `Needs the cookie of /seed_session. Takes ${Object.keys(input_schema['properties'] as object).join(', ')}. Bad arguments are answered with 200 and what to change.`,
    body: 'bytes',
    body_limit: 'batch',
    answer: NemoToolResponse,
    refusals: [400, 422],
  } as const satisfies Route;
}

type ToolRoute = ReturnType<typeof toToolRoute>;

const TOOL_ROUTES = Object.fromEntries(TOOLS.map((tool) => [`nemo_tool_${tool.name}`, toToolRoute(tool)])) as Readonly<
  Record<NemoToolRouteId, ToolRoute>
>;

export const NEMO_TOOL_ROUTE_IDS = Object.keys(TOOL_ROUTES) as NemoToolRouteId[];

const EXAMPLE_ROW = {
  responses_create_params: { input: [{ role: 'user', content: 'Draw a client that sends a request to a server.' }] },
};
const EXAMPLE_RESPONSE = {
  id: 'resp_1',
  object: 'response',
  output: [
    {
      type: 'message',
      role: 'assistant',
      content: [
        {
          type: 'output_text',
          text: '{"actions": [{"type": "create_shape", "id": "a", "shape": "rectangle", "x": 80, "y": 80, "w": 160, "h": 80, "text": "Client"}]}',
        },
      ],
    },
  ],
};

export const NEMO_GYM_ROUTES = {
  nemo_seed_session: {
    method: 'POST',
    path: '/seed_session',
    tag: 'nemo-gym',
    summary: 'Begin a rollout',
    description: 'Sets the cookie that the tools need. It holds the canvas, so any replica can take the next call.',
    body: NemoRow,
    body_limit: 'batch',
    answer: z.strictObject({}),
    refusals: [400, 404, 422],
    example: EXAMPLE_ROW,
  },
  ...TOOL_ROUTES,
  nemo_verify: {
    method: 'POST',
    path: '/verify',
    tag: 'nemo-gym',
    summary: 'Reward of a rollout',
    description:
      'The row and the response come back byte for byte, with `reward` and its components as `reward/<name>`. Function calls of our tools in the response are drawn from the first to the last, and actions that the model wrote after them; a response without such calls is scored by the text of its last message.',
    body: 'bytes',
    body_limit: 'batch',
    answer: z.looseObject({ reward: z.number() }),
    refusals: [400, 404, 422],
    example: { ...EXAMPLE_ROW, response: EXAMPLE_RESPONSE },
  },
  nemo_aggregate_metrics: {
    method: 'POST',
    path: '/aggregate_metrics',
    tag: 'nemo-gym',
    summary: 'Statistics over answers of /verify',
    body: NemoMetricsRequest,
    body_limit: 'batch',
    answer: NemoMetricsResponse,
    refusals: [400, 422],
    example: { verify_responses: [{ _ng_task_index: 0, reward: 0.5 }] },
  },
  nemo_reverify_mode: {
    method: 'GET',
    path: '/reverify_mode',
    tag: 'nemo-gym',
    summary: 'Whether stored rollouts can be verified again',
    answer: z.literal('stateless'),
  },
  nemo_reset: {
    method: 'POST',
    path: '/nemo-gym/reset',
    tag: 'nemo-gym',
    summary: 'Begin an episode of the Gymnasium protocol',
    body: NemoResetRequest,
    body_limit: 'batch',
    answer: NemoResetResponse,
    refusals: [400, 404, 422],
    example: EXAMPLE_ROW,
  },
  nemo_step: {
    method: 'POST',
    path: '/nemo-gym/step',
    tag: 'nemo-gym',
    summary: 'Take a turn of the Gymnasium protocol',
    description: 'Needs the cookie of the answer before. One response is one turn, however many functions it calls.',
    body: NemoStepRequest,
    body_limit: 'batch',
    answer: NemoStepResponse,
    refusals: [400, 404, 409, 422],
  },
  nemo_close: {
    method: 'POST',
    path: '/nemo-gym/close',
    tag: 'nemo-gym',
    summary: 'Forget an episode',
    body: z.looseObject({}),
    body_optional: true,
    answer: z.strictObject({}),
    refusals: [400, 422],
  },
} as const satisfies Record<string, Route>;

export type NemoRouteId = keyof typeof NEMO_GYM_ROUTES;
