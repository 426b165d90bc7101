/**
 * The routes of the Open Reward Standard (ORS), as the package openreward 0.1.167 speaks it: bare at the root, where its
 * client asks, and under the name of the environment. Sessions are named by the header X-Session-ID.
 *
 * Left out: `/score_group`, since every drawing has a reward of its own. A client is told by `supports_score_group` and by 404.
 */
import { z } from 'zod';
import { ToolsResponse } from '../responses.ts';
import type { Route } from '../route.ts';
import { Family, Level, Split } from '../task.ts';

/** The one environment there is. */
export const ORS_ENVIRONMENT = 'diagram';

/** Any letter case will do. */
const EnvironmentName = z
  .string()
  .max(200)
  .meta({ enum: [ORS_ENVIRONMENT] });
const EnvironmentParams = z.strictObject({ env_name: EnvironmentName });
export type EnvironmentParams = z.infer<typeof EnvironmentParams>;

/** The name of a session: what /create_session gave, or a name of one's own. */
export const SessionId = z.string().regex(/^[!-~]{1,200}$/);
const SessionHeaders = z.object({ 'X-Session-ID': SessionId });

/** Names are checked where they are looked up, so that the refusal is the protocol's. */
const SplitName = z.string().max(200).meta({ enum: Split.options });

export const SplitBody = z.looseObject({ split: SplitName });
export const TaskBody = z.looseObject({ split: SplitName, index: z.number().int().describe('0 to num_tasks - 1') });
export const TaskRangeBody = z.looseObject({
  split: SplitName,
  start: z.number().int().nullish().describe('Default 0; below 0 it counts from the end'),
  stop: z.number().int().nullish().describe('First index left out, default num_tasks; below 0 it counts from the end'),
});

export const CreateBody = z.looseObject({
  env_name: EnvironmentName.nullish(),
  split: SplitName.nullish(),
  index: z.number().int().nullish(),
  task_spec: z
    .record(z.string(), z.unknown())
    .nullish()
    .describe(
      'Instead of split and index: a task as /task answers it, of which task_id counts, or one of your own: {prompt, expect?, canvas?, direction?, allowed_extras?}. Either may bring reward (a preset) and max_turns (tool calls)',
    ),
  toolset_name: z
    .string()
    .max(200)
    .nullish()
    .meta({ enum: [null], description: 'There are no toolsets; leave it out' }),
});
export type CreateBody = z.infer<typeof CreateBody>;

export const CallBody = z.looseObject({
  name: z.string().max(200),
  input: z.record(z.string(), z.unknown()),
  task_id: z.string().max(240).nullish().describe('Of a call made before: its answer again, nothing is run'),
});
export type CallBody = z.infer<typeof CallBody>;

/** A task without its expected answer. Flat, with the same keys in every task, so that a trainer can make a table of it. */
export const OrsTask = z.strictObject({
  task_id: z.string(),
  suite_version: z.number().int(),
  split: Split,
  family: Family,
  level: Level,
  seed: z.string(),
  request: z.string().describe('What the user asks for; not called prompt, a name that trainers keep for themselves'),
  canvas_w: z.number(),
  canvas_h: z.number(),
  direction: z.string().nullable(),
  provenance: z.string().nullable(),
});
export type OrsTask = z.infer<typeof OrsTask>;

export const OrsSplit = z.strictObject({ name: Split, type: z.enum(['train', 'validation', 'test']) });
export type OrsSplit = z.infer<typeof OrsSplit>;

const TextBlock = z.strictObject({ text: z.string(), detail: z.null(), type: z.literal('text') });
export type TextBlock = z.infer<typeof TextBlock>;
const Message = z.strictObject({ role: z.enum(['system', 'user']), blocks: z.array(TextBlock), detail: z.null() });
export type Message = z.infer<typeof Message>;

const SessionAnswer = z.strictObject({ sid: z.string() });
const TasksAnswer = z.strictObject({ tasks: z.array(OrsTask), env_name: z.string() });
const EVENTS = { content: { 'text/event-stream': 'Server-sent events' } } as const;

const SPLITS = {
  method: 'GET',
  tag: 'ors',
  summary: 'The splits of the task suite',
  answer: z.array(OrsSplit),
} as const;
const NUM_TASKS = {
  method: 'POST',
  tag: 'ors',
  summary: 'How many tasks a split has',
  body: SplitBody,
  answer: z.strictObject({ num_tasks: z.number().int().min(0) }),
} as const;
const TASK = {
  method: 'POST',
  tag: 'ors',
  summary: 'One task of a split',
  body: TaskBody,
  answer: z.strictObject({ task: OrsTask, env_name: z.string() }),
} as const;
const TASKS = {
  method: 'POST',
  tag: 'ors',
  summary: 'All tasks of a split',
  body: SplitBody,
  answer: TasksAnswer,
} as const;
const TASK_RANGE = {
  method: 'POST',
  tag: 'ors',
  summary: 'Some tasks of a split',
  body: TaskRangeBody,
  answer: TasksAnswer,
} as const;
const TASK_TOOLS = {
  method: 'GET',
  tag: 'ors',
  summary: 'The tools of a session, which are those of every session',
  headers: SessionHeaders,
  answer: ToolsResponse,
} as const;
const PROMPT = {
  method: 'GET',
  tag: 'ors',
  summary: "The session's task, and how to answer it",
  headers: SessionHeaders,
  answer: z.array(TextBlock),
} as const;
const MESSAGES = {
  method: 'GET',
  tag: 'ors',
  summary: 'The same as messages of a conversation',
  headers: SessionHeaders,
  answer: z.array(Message),
} as const;
const CALL = {
  method: 'POST',
  tag: 'ors',
  summary: 'Call a tool',
  headers: SessionHeaders,
  description:
    'Events: task_id, then chunk (none or more) and end, whose data joined are one JSON text: {"ok": true, "output": {blocks, metadata, reward, finished}} or {"ok": false, "error", "reason"}. A call that is sent again with its task_id has the same answer, and runs nothing; the last 16 answers are kept. An event error says that no call has this task_id. Where the server fails, the answer is 503: no reward was given, and nothing changed. An answer that has to wait begins with its task_id and comments; a fault is an event error then.',
  body: CallBody,
  answer: EVENTS,
} as const;

const named = { params: EnvironmentParams } as const;

export const ORS_ROUTES = {
  ors_version: {
    method: 'GET',
    path: '/version',
    tag: 'ors',
    summary: 'Version of the server',
    answer: z.strictObject({ version: z.string(), build_sha: z.null() }),
  },
  ors_list_environments: {
    method: 'GET',
    path: '/list_environments',
    tag: 'ors',
    summary: 'Names of the environments',
    answer: z.array(z.string()),
  },
  ors_splits: { ...SPLITS, path: '/splits' },
  ors_env_splits: { ...SPLITS, ...named, path: '/{env_name}/splits', refusals: [404, 422] },
  ors_num_tasks: { ...NUM_TASKS, path: '/num_tasks', refusals: [400, 422], example: { split: 'train' } },
  ors_env_num_tasks: { ...NUM_TASKS, ...named, path: '/{env_name}/num_tasks', refusals: [400, 404, 422] },
  ors_task: { ...TASK, path: '/task', refusals: [400, 422], example: { split: 'train', index: 3 } },
  ors_env_task: { ...TASK, ...named, path: '/{env_name}/task', refusals: [400, 404, 422] },
  ors_tasks: { ...TASKS, path: '/tasks', refusals: [400, 422], example: { split: 'test_real' } },
  ors_env_tasks: { ...TASKS, ...named, path: '/{env_name}/tasks', refusals: [400, 404, 422] },
  ors_task_range: {
    ...TASK_RANGE,
    path: '/task_range',
    refusals: [400, 422],
    example: { split: 'train', start: 0, stop: 2 },
  },
  ors_env_task_range: { ...TASK_RANGE, ...named, path: '/{env_name}/task_range', refusals: [400, 404, 422] },
  ors_env_tools: {
    method: 'GET',
    path: '/{env_name}/tools',
    tag: 'ors',
    summary: 'The same as /tools',
    ...named,
    answer: ToolsResponse,
    refusals: [404, 422],
  },
  ors_task_tools: { ...TASK_TOOLS, path: '/task_tools', refusals: [400, 404, 410] },
  ors_env_task_tools: { ...TASK_TOOLS, ...named, path: '/{env_name}/task_tools', refusals: [400, 404, 410, 422] },
  ors_create_session: {
    method: 'POST',
    path: '/create_session',
    tag: 'ors',
    summary: 'A name for a session',
    description: 'Events: task_id with the name, then end. Holds no place yet; /create does.',
    answer: EVENTS,
  },
  ors_create: {
    method: 'POST',
    path: '/create',
    tag: 'ors',
    headers: SessionHeaders,
    summary: 'Begin an episode in a session',
    description:
      'Where all places are taken, 503 with Retry-After. A session that is not used for an hour (`--session-idle-timeout`) ends.',
    body: CreateBody,
    answer: SessionAnswer,
    refusals: [400, 404, 422],
  },
  ors_prompt: { ...PROMPT, path: '/prompt', refusals: [400, 404, 410] },
  ors_env_prompt: { ...PROMPT, ...named, path: '/{env_name}/prompt', refusals: [400, 404, 410, 422] },
  ors_messages: { ...MESSAGES, path: '/messages', refusals: [400, 404, 410] },
  ors_env_messages: { ...MESSAGES, ...named, path: '/{env_name}/messages', refusals: [400, 404, 410, 422] },
  ors_call: { ...CALL, path: '/call', refusals: [400, 404, 410, 422] },
  ors_env_call: { ...CALL, ...named, path: '/{env_name}/call', refusals: [400, 404, 410, 422] },
  ors_ping: {
    method: 'POST',
    path: '/ping',
    tag: 'ors',
    headers: SessionHeaders,
    summary: 'Keep a session',
    answer: z.strictObject({ status: z.literal('ok') }),
    refusals: [400, 404, 410],
  },
  ors_delete: {
    method: 'POST',
    path: '/delete',
    tag: 'ors',
    headers: SessionHeaders,
    summary: 'End the episode of a session, if there is one',
    answer: SessionAnswer,
    refusals: [400],
  },
  ors_delete_session: {
    method: 'POST',
    path: '/delete_session',
    tag: 'ors',
    headers: SessionHeaders,
    summary: 'End a session, if there is one',
    answer: SessionAnswer,
    refusals: [400],
  },
} as const satisfies Record<string, Route>;

export type OrsRouteId = keyof typeof ORS_ROUTES;
