/**
 * Items of the remote reward protocols: which task a trainer's label or prompt names, and the rewards of them all. Rests on
 * the environment's `score`, which looks the tasks up. An item that the server could not score fails the request, since these trainers take nothing
 * but numbers: they ask again after a 503, and a number would be trained on.
 */
import { isPrompt, MAX_PROMPT_LENGTH, toPromptText, type Completion } from '../../../schemas/completion.ts';
import { LabelTask } from '../../../schemas/protocols/remote-reward.ts';
import type { Preset } from '../../../schemas/reward.ts';
import { InlineTask } from '../../../schemas/task.ts';
import { ApiError, invalidAt, toPath, type Place } from '../../errors.ts';
import type { Context } from '../../context.ts';
import { validate } from '../../validate.ts';
import { toUserText } from './chat-text.ts';

/** What an item is scored against, not looked up yet: exactly one of task_id, task and prompt is there. */
export interface ItemTask {
  task_id?: string | undefined;
  task?: InlineTask | undefined;
  prompt?: string | undefined;
  /** Where the request has it. */
  place: Place;
}

export interface Item extends ItemTask {
  completion: Completion;
}

function parseLabel(label: unknown, place: Place): unknown {
  if (typeof label !== 'string' || !label.trimStart().startsWith('{')) return label;
  try {
    return JSON.parse(label);
  } catch {
    throw invalidAt(
      place,
      'begins with { but is not JSON; give a task id, or {"task_id": ...} or {"task": ...} as JSON',
    );
  }
}

function taskOfObject(label: unknown, place: Place): ItemTask {
  const { task_id, task, prompt } = validate(LabelTask, label, toPath(place));
  if (task_id != null) return { task_id, place: [...place, 'task_id'] };
  if (task != null) return { task, place: [...place, 'task'] };
  if (prompt === undefined) {
    throw invalidAt(place, 'names no task; give it task_id or task, or leave the label null to use the prompt');
  }
  return { task: validate(InlineTask, label, toPath(place)), place };
}

/** The task a trainer's label names; undefined where it is null or empty. */
export function taskOfLabel(label: unknown, place: Place): ItemTask | undefined {
  if (label === undefined || label === null || label === '') return undefined;
  const value = parseLabel(label, place);
  if (typeof value === 'string') return { task_id: value.trim(), place };
  if (typeof value === 'object' && !Array.isArray(value)) return taskOfObject(value, place);
  throw invalidAt(place, 'must be a task id, an object with task_id or task, or null');
}

/** A bare prompt as a task: a text, or chat messages of which the last of the user counts. */
export function taskOfPrompt(prompt: unknown, place: Place): ItemTask {
  if (!isPrompt(prompt)) {
    throw invalidAt(
      place,
      'must be a text, or a list of chat messages with one of the role "user", where no label names a task',
    );
  }
  const text = typeof prompt === 'string' ? toUserText(prompt) : toPromptText(prompt);
  if (text.length > MAX_PROMPT_LENGTH) throw invalidAt(place, `must be at most ${MAX_PROMPT_LENGTH} characters long`);
  return { prompt: text, place };
}

export interface Scored {
  rewards: number[];
  /** For each item, every component of the preset. */
  components: Readonly<Record<string, number>>[];
}

/**
 * Scores items, in order.
 * @throws ApiError unknown_task, invalid_request; internal, with Retry-After, where the server failed on any of them.
 */
export async function scoreItems(
  items: readonly Item[],
  reward: Preset | undefined,
  { environment, metrics, report }: Context,
): Promise<Scored> {
  const request = {
    completions: items.map(({ completion }) => completion),
    prompts: items.map(({ prompt }) => prompt ?? ''),
    context: {
      task_id: items.map(({ task_id }) => task_id ?? null),
      task: items.map(({ task }) => task ?? null),
    },
    reward,
  };
  const { rewards, components, preset } = await environment.score(request, report, (_, i) => items[i]!.place);
  metrics.countCompletions(preset.name, rewards.length);
  const numbers = rewards.filter((value) => value !== null);
  if (numbers.length === rewards.length) return { rewards: numbers, components };
  const failed = rewards.length - numbers.length;
  throw new ApiError(
    'internal',
    `the server could not score ${failed} of ${rewards.length}; the request may be repeated`,
    {
      headers: { 'retry-after': '1' },
    },
  );
}
