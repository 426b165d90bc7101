/**
 * The routes, as data. This table is what validates requests, makes the OpenAPI document and the docs page, types the
 * handlers, and is the TypeScript client: the key of a row is its `operationId` and the client's method.
 */
import type { z } from 'zod';
import { PROTOCOL_ROUTES } from './protocols/index.ts';
import {
  RenderRequest,
  ResetRequest,
  RewardRequest,
  ScoreRequest,
  StepRequest,
  TaskParams,
  TasksQuery,
} from './requests.ts';
import {
  HealthResponse,
  MetadataResponse,
  OpenApiResponse,
  ResetResponse,
  RewardResponse,
  RootResponse,
  SchemaResponse,
  ScoreResponse,
  StepResponse,
  TasksResponse,
  ToolsResponse,
} from './responses.ts';
import type { RawAnswer, Route } from './route.ts';
import { PublicTask } from './task.ts';

export type { RawAnswer, Route } from './route.ts';

const EXAMPLE_ACTIONS = [
  { type: 'create_shape', id: 'a', shape: 'rectangle', x: 80, y: 80, w: 160, h: 80, text: 'Client' },
  { type: 'create_shape', id: 'b', shape: 'rectangle', x: 360, y: 80, w: 160, h: 80, text: 'Server' },
  { type: 'connect', from: 'a', to: 'b', text: 'request' },
];
const EXAMPLE_PROMPT = 'Draw a client that sends a request to a server.';

/** The environment's own routes: what `clients/ts` has methods for. */
export const ENV_ROUTES = {
  reset: {
    method: 'POST',
    path: '/reset',
    tag: 'episode',
    summary: 'Begin an episode',
    description:
      'Everything is optional: without a task, `seed` draws one from the suite (filtered by split, family, level, index), and without a seed the server picks one and reports it in `info.seed`. Hand `state` back with the next action.',
    body: ResetRequest,
    body_optional: true,
    answer: ResetResponse,
    refusals: [400, 404, 422],
    example: { seed: 7, split: 'train', level: 1 },
  },
  step: {
    method: 'POST',
    path: '/step',
    tag: 'episode',
    summary: 'Take a turn',
    description:
      'Send `state` as it was answered, or, for a single turn, one of `task_id`, `task`, `prompt`. Bad model output is graded, never refused.',
    body: StepRequest,
    answer: StepResponse,
    refusals: [400, 404, 409, 422],
    example: { prompt: EXAMPLE_PROMPT, action: { actions: EXAMPLE_ACTIONS } },
  },
  reward: {
    method: 'POST',
    path: '/reward',
    tag: 'scoring',
    summary: 'Score one completion, with reasons',
    description:
      'Give one of `prompt`, `task_id`, `task`. With `held_out` the answer also holds measures that no reward holds, for evaluation.',
    body: RewardRequest,
    answer: RewardResponse,
    refusals: [400, 404, 422],
    example: { prompt: EXAMPLE_PROMPT, completion: JSON.stringify({ actions: EXAMPLE_ACTIONS }), reward: 'graded' },
  },
  score: {
    method: 'POST',
    path: '/score',
    tag: 'scoring',
    summary: 'Score a batch of completions',
    description:
      'Columns of equal length. An item is scored against its `context.task_id`, else its `context.task`, else its prompt. An empty batch gives empty lists. With `held_out` the answer also holds, for each item, measures that no reward holds, for evaluation.',
    body: ScoreRequest,
    body_limit: 'batch',
    in_thread: true,
    answer: ScoreResponse,
    refusals: [400, 404, 422],
    example: {
      prompts: [EXAMPLE_PROMPT, EXAMPLE_PROMPT],
      completions: [JSON.stringify({ actions: EXAMPLE_ACTIONS }), 'I cannot draw.'],
      reward: 'graded',
    },
  },
  render: {
    method: 'POST',
    path: '/render',
    tag: 'scoring',
    summary: 'Draw a canvas',
    description: 'Give one of `state`, `canvas`, `actions`, `completion`.',
    body: RenderRequest,
    answer: {
      content: {
        'image/svg+xml': 'The picture',
        'image/png': 'The picture; X-Missing-Glyphs counts characters that show as empty boxes',
        'application/json': 'A tldraw or Excalidraw document',
        'text/plain': 'A Mermaid flowchart',
      },
    },
    refusals: [400, 404, 422],
    example: { actions: EXAMPLE_ACTIONS, format: 'svg' },
  },
  tasks: {
    method: 'GET',
    path: '/tasks',
    tag: 'tasks',
    summary: 'List tasks of the suite',
    query: TasksQuery,
    answer: TasksResponse,
    refusals: [422],
  },
  task: {
    method: 'GET',
    path: '/tasks/{task_id}',
    tag: 'tasks',
    summary: 'One task of the suite, without its expected answer',
    params: TaskParams,
    answer: PublicTask,
    refusals: [404, 422],
  },
  tools: {
    method: 'GET',
    path: '/tools',
    tag: 'about',
    summary: 'The actions as tools, for agents that call functions',
    answer: ToolsResponse,
  },
  schema: {
    method: 'GET',
    path: '/schema',
    tag: 'about',
    summary: 'JSON Schemas of action, observation and state',
    answer: SchemaResponse,
  },
  metadata: {
    method: 'GET',
    path: '/metadata',
    tag: 'about',
    summary: 'Name, version and reward presets',
    answer: MetadataResponse,
  },
  health: {
    method: 'GET',
    path: '/health',
    tag: 'about',
    summary: 'Whether the server takes requests',
    answer: HealthResponse,
  },
  openapi: {
    method: 'GET',
    path: '/openapi.json',
    tag: 'about',
    summary: 'This API as an OpenAPI 3.1 document',
    answer: OpenApiResponse,
  },
  docs: {
    method: 'GET',
    path: '/docs',
    tag: 'about',
    summary: 'This API as a page to read and try; works offline',
    answer: { content: { 'text/html': 'The page' } },
  },
  metrics: {
    method: 'GET',
    path: '/metrics',
    tag: 'about',
    summary: 'Counters in the Prometheus text format, of this process',
    answer: { content: { 'text/plain': 'Prometheus text format 0.0.4' } },
  },
  root: {
    method: 'GET',
    path: '/',
    tag: 'about',
    summary: 'A page for a browser, the list of routes for everything else',
    answer: RootResponse,
  },
} as const satisfies Record<string, Route>;

export type EnvRouteId = keyof typeof ENV_ROUTES;
export type ProtocolRouteId = keyof typeof PROTOCOL_ROUTES;
export const ENV_ROUTE_IDS = Object.keys(ENV_ROUTES) as EnvRouteId[];

/** All routes: the environment's own, and those of the protocols that rest on it. */
export const ROUTES = { ...ENV_ROUTES, ...PROTOCOL_ROUTES } as const;

export type Routes = typeof ROUTES;
export type RouteId = keyof Routes;
export const ROUTE_IDS = Object.keys(ROUTES) as RouteId[];

type Output<R, K extends string> =
  R extends Record<K, infer S extends z.ZodType> ? z.output<S> : R extends Record<K, 'bytes'> ? Uint8Array : undefined;
type Input<R, K extends string> = R extends Record<K, infer S extends z.ZodType> ? z.input<S> : unknown;

/** What a caller gives: path parameters, query and body in one object, since no name occurs in two of them. */
export type RouteInput<K extends RouteId> = Input<Routes[K], 'params'> &
  Input<Routes[K], 'query'> &
  Input<Routes[K], 'body'>;

/** What a handler is given once the request is valid. */
export interface RouteRequest<K extends RouteId> {
  params: Output<Routes[K], 'params'>;
  query: Output<Routes[K], 'query'>;
  body: Output<Routes[K], 'body'>;
}

/** The answer's JSON document; for the other routes `never`. */
export type RouteAnswer<K extends RouteId> = Routes[K]['answer'] extends infer S extends z.ZodType
  ? z.output<S>
  : never;

/** Routes whose answer is no JSON document of ours. */
export type RawRouteId = { [K in RouteId]: Routes[K]['answer'] extends RawAnswer ? K : never }[RouteId];
