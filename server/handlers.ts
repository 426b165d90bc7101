/** One function for each route, from the valid request to the answer. Everything about HTTP itself is in app.ts. */
import { setImmediate } from 'node:timers/promises';
import { EMPTY_CANVAS, type Canvas, type CanvasSize } from '../schemas/canvas.ts';
import { toModelOutput } from '../schemas/completion.ts';
import { DrawingAction, State } from '../schemas/episode.ts';
import { INSTRUCTIONS } from '../schemas/instructions.ts';
import { createOpenApi, toStandaloneSchema } from '../schemas/openapi.ts';
import { GradedObservation } from '../schemas/protocols/openenv.ts';
import { DEFAULT_LIMIT, type RenderRequest, type TasksQuery } from '../schemas/requests.ts';
import type { MetadataResponse, RootResponse, TasksResponse } from '../schemas/responses.ts';
import { DEFAULT_PRESET, PRESETS, PRESET_VERSIONS } from '../schemas/reward.ts';
import { ROUTES, ROUTE_IDS, type RouteAnswer } from '../schemas/routes.ts';
import type { PublicTask } from '../schemas/task.ts';
import { ABOUT } from './about.ts';
import type { Context, Handlers } from './context.ts';
import { ApiError } from './errors.ts';
import { docsPage } from './pages/docs.ts';
import { rootPage } from './pages/root.ts';
import { nemoGymHandlers } from './protocols/nemo-gym/handlers.ts';
import { openEnvHandlers } from './protocols/openenv/handlers.ts';
import { orsHandlers } from './protocols/ors/handlers.ts';
import { remoteRewardHandlers } from './protocols/remote-reward/handlers.ts';
import { listTools } from './protocols/tools/list.ts';
import { Raw } from './raw.ts';
import { RenderError } from './render/png.ts';
import { canvasSizeOf, findTask } from './resolve.ts';
import { draw, drawOptions } from './scoring.ts';
import { withSeed } from './seed.ts';
import { assertCanvas, assertDrawable, type Signer } from './state.ts';
import { listTasks, SUITE_VERSION, toPublicTask } from './tasks/suite.ts';

/** Tasks that are made between two looks at other requests: some take tens of milliseconds each the first time. */
const TASKS_AT_A_TIME = 4;

async function tasksPage({ limit = DEFAULT_LIMIT, offset = 0, ...filter }: TasksQuery): Promise<TasksResponse> {
  const tasks: PublicTask[] = [];
  for (;;) {
    const rest = Math.min(TASKS_AT_A_TIME, limit - tasks.length);
    const part = listTasks({ ...filter, limit: rest, offset: offset + tasks.length });
    tasks.push(...part.tasks);
    if (part.tasks.length < rest || tasks.length >= limit) return { tasks, total: part.total, limit, offset };
    await setImmediate();
  }
}

const RENDERED = ['state', 'canvas', 'actions', 'completion'] as const;

/** The canvas a render request means, and the drawing area it brings with it. */
function canvasOf(request: RenderRequest, signer: Signer): { canvas: Canvas; size?: CanvasSize | undefined } {
  const given = RENDERED.filter((key) => request[key] !== undefined);
  if (given.length !== 1) {
    throw new ApiError('invalid_request', `give one of ${RENDERED.join(', ')}, not ${given.join(' and ') || 'none'}`, {
      place: ['body', given[1] ?? 'state'],
    });
  }
  const { state, canvas, actions, completion } = request;
  if (state) {
    signer.assertUnchanged(state);
    assertCanvas(state.canvas, ['body', 'state', 'canvas']);
    return { canvas: state.canvas, size: canvasSizeOf(state, ['body', 'state', 'task_id']) };
  }
  if (canvas) {
    assertCanvas(canvas, ['body', 'canvas']);
    assertDrawable(canvas, ['body', 'canvas']);
    return { canvas };
  }
  const output = completion === undefined ? { actions } : toModelOutput(completion);
  const drawing = draw(output, { canvas: EMPTY_CANVAS, selected: [] }, drawOptions('graded', 'editor'));
  return { canvas: drawing.apply?.canvas ?? EMPTY_CANVAS };
}

/** Too many pictures at a time are no fault of the server. */
function toBusy(error: unknown): never {
  if (!(error instanceof RenderError && error.code === 'render_busy')) throw error;
  throw new ApiError('overloaded', 'too many pictures are drawn now; repeat the request later', {
    headers: { 'retry-after': '1' },
  });
}

async function renderCanvas(request: RenderRequest, { signer, environment }: Context): Promise<Raw> {
  const { canvas, size } = canvasOf(request, signer);
  const options = { size: request.canvas_size ?? size };
  const rendering = environment.render(canvas, request.format ?? 'svg', options).catch(toBusy);
  const { content_type, body, missing_glyphs } = await rendering;
  const missing = missing_glyphs.length > 0 ? { 'x-missing-glyphs': String(missing_glyphs.length) } : {};
  return new Raw(content_type, body, missing);
}

function metadata(signer: Signer): MetadataResponse {
  return {
    ...ABOUT,
    readme_content: null,
    author: null,
    documentation_url: null,
    suite_version: SUITE_VERSION,
    presets: PRESETS.map((name) => ({ name, version: PRESET_VERSIONS[name] })),
    default_preset: DEFAULT_PRESET,
    instructions: INSTRUCTIONS,
    signed_states: signer.isSigning,
  };
}

function rootIndex(): RootResponse {
  const routes = ROUTE_IDS.map((id) => ROUTES[id]).map(({ method, path, summary }) => ({ method, path, summary }));
  return { name: ABOUT.name, version: ABOUT.version, docs: '/docs', openapi: '/openapi.json', routes };
}

function once<T>(create: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: create() }).value;
}

const HTML = 'text/html; charset=utf-8';

export function createHandlers(context: Context): Handlers {
  const { environment, signer, metrics, shared } = context;
  let sessions = 0;
  metrics.watch('sessions', 'Sessions of MCP and OpenEnv clients, of all workers.', () => sessions);
  const openApi = once(() => createOpenApi(ABOUT) as RouteAnswer<'openapi'>);
  const docs = once(() => docsPage(openApi()));
  const schemas = once(() => ({
    action: toStandaloneSchema(DrawingAction),
    observation: toStandaloneSchema(GradedObservation),
    state: toStandaloneSchema(State),
  }));
  return {
    reset: ({ body }) => environment.reset(withSeed(body), signer),
    step: ({ body }) => {
      const answer = environment.step(body, signer);
      metrics.countCompletions(answer.state.reward, 1);
      return answer;
    },
    reward: ({ body }) => {
      const answer = environment.reward(body);
      metrics.countCompletions(answer.preset.name, 1);
      return answer;
    },
    score: async ({ body }) => {
      const answer = await environment.score(body, context.report);
      metrics.countCompletions(answer.preset.name, answer.rewards.length);
      return answer;
    },
    render: ({ body }) => renderCanvas(body, context),
    tasks: ({ query }) => tasksPage(query),
    task: ({ params }) => toPublicTask(findTask(params.task_id, ['path', 'task_id'])),
    tools: listTools,
    schema: schemas,
    metadata: () => metadata(signer),
    health: () => ({ status: 'healthy', version: ABOUT.version }),
    openapi: openApi,
    docs: () => new Raw(HTML, docs()),
    metrics: async () => {
      sessions = (await shared.count()).active;
      return new Raw('text/plain; version=0.0.4; charset=utf-8', metrics.toText());
    },
    root: (_, { headers }) =>
      headers.get('accept')?.includes('text/html')
        ? new Raw(HTML, rootPage(headers.get('host') ?? 'localhost'), { vary: 'accept' })
        : rootIndex(),
    ...nemoGymHandlers(context),
    ...openEnvHandlers(context),
    ...orsHandlers(context),
    ...remoteRewardHandlers(context),
  };
}
