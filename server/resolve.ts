/** Which task a request means: one of the suite by id or by lot, one that the request brings, or a bare prompt. */
import { closest } from 'fastest-levenshtein';
import type { CanvasSize } from '../schemas/canvas.ts';
import type { State } from '../schemas/episode.ts';
import type { TaskFacts } from '../schemas/responses.ts';
import {
  DEFAULT_CANVAS_SIZE,
  FAMILIES,
  LEVELS,
  MAX_LABEL_TEXT,
  SPLITS,
  type InlineTask,
  type ScoredTask,
  type Task,
} from '../schemas/task.ts';
import { ApiError, invalidAt, type Place } from './errors.ts';
import { getTask, listTasks } from './tasks/suite.ts';

/** A task as the routes need it: what is scored, and what the caller may be told. */
export interface ResolvedTask {
  scored: ScoredTask;
  /** null for an inline task. */
  facts: TaskFacts | null;
  /** The inline task as the caller sent it, undefined for one of the suite. */
  inline: InlineTask | undefined;
}

export interface TaskChoice {
  task_id?: string | undefined;
  task?: InlineTask | undefined;
  prompt?: string | undefined;
}

const EXAMPLE_ID = 'train.pipeline.1.0';

/** The task id nearest to one that does not exist: part by part. */
function nearestTaskId(taskId: string): string {
  const parts = taskId.slice(0, 200).split('.');
  if (parts.length !== 4) return EXAMPLE_ID;
  const [split = '', family = '', level = '', index = ''] = parts;
  const near = [closest(split, SPLITS), closest(family, FAMILIES), closest(level, LEVELS.map(String))];
  const candidate = [...near, /^\d{1,9}$/.test(index) ? String(Number(index)) : '0'].join('.');
  if (getTask(candidate)) return candidate;
  const filter = { split: SPLITS.find((name) => name === near[0]), limit: 1, offset: 0 };
  const inFamily = listTasks({ ...filter, family: FAMILIES.find((name) => name === near[1]) });
  return (inFamily.tasks[0] ?? listTasks(filter).tasks[0])?.task_id ?? EXAMPLE_ID;
}

/** A task of the suite. @throws ApiError unknown_task, naming the nearest one. */
export function findTask(taskId: string, place: Place): Task {
  const task = getTask(taskId);
  if (task) return task;
  const near = nearestTaskId(taskId);
  throw new ApiError(
    'unknown_task',
    `no task ${JSON.stringify(taskId.slice(0, 80))}; ids are <split>.<family>.<level>.<index>, the nearest is ${near}`,
    { place },
  );
}

/** The drawing area that the task of a state gives; undefined where it leaves that open. */
export function canvasSizeOf({ task_id, task }: State, place: Place): CanvasSize | undefined {
  return task_id === undefined ? task?.canvas : findTask(task_id, place).canvas;
}

export function toResolved(task: Task): ResolvedTask {
  const { task_id, split, family, level, seed } = task;
  return { scored: task, facts: { task_id, split, family, level, seed }, inline: undefined };
}

/** Refuses an expectation whose edges name no node, or whose nodes share an id. */
function assertExpectation({ expect }: InlineTask, place: Place): void {
  const ids = new Set<string>();
  for (const [i, { id }] of (expect?.nodes ?? []).entries()) {
    if (ids.has(id)) throw invalidAt([...place, 'expect', 'nodes', i, 'id'], 'two nodes have this id; ids are unique');
    ids.add(id);
  }
  for (const [i, edge] of (expect?.edges ?? []).entries()) {
    const end = (['from', 'to'] as const).find((key) => !ids.has(edge[key]));
    if (end) throw invalidAt([...place, 'expect', 'edges', i, end], 'no node has this id');
  }
}

/** Refuses labels that would take seconds to compare, however few they are. */
function assertLabelText({ expect, allowed_extras = [] }: InlineTask, place: Place): void {
  const labels = [
    ...(expect?.nodes ?? []).flatMap(({ label, aliases = [] }) => [label, ...aliases]),
    ...allowed_extras,
  ];
  const length = labels.reduce((sum, label) => sum + label.length, 0);
  if (length <= MAX_LABEL_TEXT) return;
  const message = `labels, aliases and allowed_extras hold at most ${MAX_LABEL_TEXT} characters together, these ${length}`;
  throw invalidAt([...place, 'expect', 'nodes'], message);
}

export function resolveInline(inline: InlineTask, place: Place): ResolvedTask {
  assertExpectation(inline, place);
  assertLabelText(inline, place);
  const { prompt, expect, canvas = DEFAULT_CANVAS_SIZE, direction, allowed_extras } = inline;
  return { scored: { prompt, canvas, expect, direction, allowed_extras }, facts: null, inline };
}

/** The one task a request names; undefined when it names none. @throws ApiError when it names two. */
export function resolveTask(choice: TaskChoice): ResolvedTask | undefined {
  const named = (['task_id', 'task', 'prompt'] as const).filter((key) => choice[key] !== undefined);
  if (named.length > 1) {
    throw new ApiError('invalid_request', `give one of task_id, task and prompt, not ${named.join(' and ')}`, {
      place: ['body', named[1]!],
    });
  }
  if (choice.task_id !== undefined) return toResolved(findTask(choice.task_id, ['body', 'task_id']));
  if (choice.task !== undefined) return resolveInline(choice.task, ['body', 'task']);
  return choice.prompt === undefined ? undefined : resolveInline({ prompt: choice.prompt }, ['body', 'prompt']);
}
