/** Scoring without an episode: one completion with reasons, or a batch. Answers depend on the request alone. */
import { setImmediate } from 'node:timers/promises';
import { EMPTY_CANVAS } from '../schemas/canvas.ts';
import { toModelOutput, toPromptText } from '../schemas/completion.ts';
import type { RewardRequest, ScoreRequest } from '../schemas/requests.ts';
import type { RewardResponse, ScoreResponse } from '../schemas/responses.ts';
import { DEFAULT_PRESET, PRESET_VERSIONS } from '../schemas/reward.ts';
import { DEFAULT_CANVAS_SIZE, type ScoredTask } from '../schemas/task.ts';
import { ApiError, type Place } from './errors.ts';
import { measureHeldOut } from './reward/held-out.ts';
import { findTask, resolveInline, resolveTask } from './resolve.ts';
import { draw, drawOptions, scoreFinite } from './scoring.ts';

const START = { canvas: EMPTY_CANVAS, selected: [] };

/**
 * Scores one completion.
 * @throws ApiError invalid_request, unknown_task.
 */
export function reward(request: RewardRequest): RewardResponse {
  const { task_id, task, prompt } = request;
  const resolved = resolveTask({ task_id, task, prompt: prompt === undefined ? undefined : toPromptText(prompt) });
  if (!resolved) {
    throw new ApiError('invalid_request', 'give one of prompt, task_id and task', { place: ['body', 'prompt'] });
  }
  const preset = request.reward ?? DEFAULT_PRESET;
  const options = drawOptions(preset, request.action_set ?? 'core', request.finish_reason);
  const drawing = draw(toModelOutput(request.completion), START, options);
  const result = scoreFinite(resolved.scored, drawing, preset);
  return request.held_out ? { ...result, held_out: measureHeldOut(resolved.scored, drawing, preset) } : result;
}

/**
 * Refuses a column that can only be meant as `task_id`: ignored like other columns, it would leave every item with its prompt
 * alone, and nobody would notice.
 */
export function assertTaskColumn(context: Readonly<Record<string, unknown>> | null | undefined): void {
  if (!context || context['task_id'] !== undefined) return;
  const meant = Object.keys(context).find((key) => /^task[^a-z]*ids?$/i.test(key));
  if (meant === undefined) return;
  throw new ApiError('invalid_request', `column ${JSON.stringify(meant.slice(0, 60))} is not read; name it "task_id"`, {
    place: ['body', 'context', meant.slice(0, 60)],
  });
}

/**
 * Refuses columns of different lengths; those that are absent do not count.
 * @param columns By their path in the body, `context.task_id`; all have to be as long as the first.
 */
export function assertEqualColumns(columns: Readonly<Record<string, readonly unknown[] | null | undefined>>): void {
  const given = Object.entries(columns).flatMap(([path, column]) => (column ? [{ path, length: column.length }] : []));
  const odd = given.find(({ length }) => length !== given[0]!.length);
  if (!odd) return;
  const lengths = given.map(({ path, length }) => `${path} ${length}`).join(', ');
  throw new ApiError('unequal_columns', `columns must be of equal length, not ${lengths}`, {
    place: ['body', ...odd.path.split('.')],
  });
}

function assertColumns({ prompts, completions, context }: ScoreRequest): void {
  assertTaskColumn(context);
  const { task_id, task, finish_reason } = context ?? {};
  const columns = { 'context.task_id': task_id, 'context.task': task, 'context.finish_reason': finish_reason };
  assertEqualColumns({ completions, prompts, ...columns });
}

/** Where the caller named the task of item `i`, for a refusal. */
export type PlaceOfTask = (column: 'task_id' | 'task', i: number) => Place;

const ownPlace: PlaceOfTask = (column, i) => ['body', 'context', column, i];

/** The task of item `i`: the suite task if it names one, else the inline task, else its prompt. */
function taskOfItem({ prompts, context }: ScoreRequest, i: number, placeOf: PlaceOfTask): ScoredTask {
  const taskId = context?.task_id?.[i];
  if (taskId != null) return findTask(taskId, placeOf('task_id', i));
  const task = context?.task?.[i];
  if (task != null) return resolveInline(task, placeOf('task', i)).scored;
  const prompt = prompts?.[i];
  if (prompt !== undefined) return { prompt: toPromptText(prompt), canvas: DEFAULT_CANVAS_SIZE };
  throw new ApiError('invalid_request', `item ${i} has no prompt, task_id or task`, { place: ['body', 'prompts', i] });
}

/** Told of an item that could not be scored, which is a fault of the server. */
export type ReportFault = (error: unknown) => void;

/** How long a batch may hold the event loop before other requests get their turn. */
const TURN_MS = 20;

function createBreather(): () => Promise<void> | undefined {
  let start = performance.now();
  return () => {
    if (performance.now() - start < TURN_MS) return undefined;
    return setImmediate().then(() => {
      start = performance.now();
    });
  };
}

/** The task of each item; some of the suite take tens of milliseconds to make. */
async function tasksOf(
  request: ScoreRequest,
  placeOf: PlaceOfTask,
  breathe: () => Promise<void> | undefined,
): Promise<ScoredTask[]> {
  const tasks: ScoredTask[] = [];
  for (let i = 0; i < request.completions.length; i++) {
    tasks.push(taskOfItem(request, i, placeOf));
    await breathe();
  }
  return tasks;
}

/**
 * Scores a batch, in order. An item whose scoring fails gets null, and the others their rewards.
 * @param placeOf For protocols whose requests name tasks elsewhere than `/score` does.
 * @throws ApiError unequal_columns, invalid_request, unknown_task; nothing is scored then.
 */
export async function score(
  request: ScoreRequest,
  report: ReportFault,
  placeOf: PlaceOfTask = ownPlace,
): Promise<ScoreResponse> {
  assertColumns(request);
  const preset = request.reward ?? DEFAULT_PRESET;
  const { action_set = 'core', context } = request;
  const breathe = createBreather();
  const tasks = await tasksOf(request, placeOf, breathe);
  const answer: ScoreResponse = {
    rewards: [],
    preset: { name: preset, version: PRESET_VERSIONS[preset] },
    components: [],
    errors: [],
    ...(request.held_out ? { held_out: [] } : {}),
  };
  for (const [i, completion] of request.completions.entries()) {
    try {
      const options = drawOptions(preset, action_set, context?.finish_reason?.[i]);
      const drawing = draw(toModelOutput(completion), START, options);
      const result = scoreFinite(tasks[i]!, drawing, preset);
      const heldOut = request.held_out ? measureHeldOut(tasks[i]!, drawing, preset) : null;
      answer.rewards.push(result.reward);
      answer.components.push(result.components);
      answer.errors.push(result.errors);
      answer.held_out?.push(heldOut);
    } catch (error) {
      report(error);
      answer.rewards.push(null);
      answer.components.push({});
      answer.errors.push([{ code: 'internal', message: 'the server could not score this completion' }]);
      answer.held_out?.push(null);
    }
    await breathe();
  }
  return answer;
}
