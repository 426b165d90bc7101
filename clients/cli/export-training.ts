/**
 * Rows of a run in the shapes that trainers read: TRL's conversational datasets and verl's.
 *
 * `prompt_completion` and `messages` hold what the teacher wrote and was kept, `unpaired` all of it with whether it was
 * kept, `preference` the best and the worst answer to a task, by the teacher or in an episode of one turn. `prompts` and
 * `verl` hold the tasks alone. The keys of a dataset's rows never differ, and nested tasks are JSON text, since Arrow
 * wants one schema. A system message also tells the size of the task's canvas, as canvas_gym.datasets does. Left out:
 * episodes of several turns, which none of these shapes can hold.
 */
import { getTask } from '../../server/tasks/suite.ts';
import type { Store, TeacherSample } from '../store/index.ts';

type Row = Record<string, unknown>;
interface Message {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

/** The reward's name in verl's `data_source`. */
const DATA_SOURCE = 'text_to_diagram';
/** The name of the interaction that canvas_gym.verl registers. */
const INTERACTION = 'diagram';

/** All rows, read page by page. */
export function* pages<T>(read: (after: number) => T[], idOf: (row: T) => number): Generator<T> {
  for (let page = read(0); page.length > 0; page = read(idOf(page.at(-1)!))) yield* page;
}

/** The system message with the size of the task's canvas; '' stays as it is, and so does that of a task the suite has not. */
function toSystem(system: string, task_id: string): string {
  const canvas = system === '' ? undefined : getTask(task_id)?.canvas;
  return canvas === undefined ? system : `${system}\nThe canvas is ${canvas.w} x ${canvas.h} pixels.`;
}

const toPrompt = ({ task_id, prompt }: { task_id: string; prompt: string }, system: string): Message[] => [
  ...(system === '' ? [] : [{ role: 'system' as const, content: toSystem(system, task_id) }]),
  { role: 'user', content: prompt },
];
const toAnswer = (content: string): Message[] => [{ role: 'assistant', content }];

function samples(store: Store, run_id: string, accepted?: boolean): Generator<TeacherSample> {
  const query = { run_id, ...(accepted === undefined ? {} : { accepted }) };
  return pages(
    (after) => store.teacherSamples({ ...query, after }),
    (row) => row.sample_id,
  );
}

function* promptCompletion(store: Store, run_id: string, system: string): Generator<Row> {
  for (const sample of samples(store, run_id, true))
    yield { prompt: toPrompt(sample, system), completion: toAnswer(sample.completion) };
}

function* messages(store: Store, run_id: string, system: string): Generator<Row> {
  for (const sample of samples(store, run_id, true))
    yield { messages: [...toPrompt(sample, system), ...toAnswer(sample.completion)] };
}

function* unpaired(store: Store, run_id: string, system: string): Generator<Row> {
  for (const sample of samples(store, run_id))
    yield { prompt: toPrompt(sample, system), completion: toAnswer(sample.completion), label: sample.accepted };
}

interface Attempt {
  task_id: string;
  prompt: string;
  preset: string;
  completion: string;
  reward: number;
}

/** Answers in one turn that have a reward. */
function* attempts(store: Store, run_id: string): Generator<Attempt> {
  for (const { task_id, prompt, reward_preset: preset, completion, reward } of samples(store, run_id))
    if (reward !== null) yield { task_id, prompt, preset, completion, reward };
  const read = (after: number) => store.episodes({ run_id, after });
  for (const episode of pages(read, (row) => row.episode_id)) {
    const { task_id, prompt, reward_preset: preset, episode_return: reward } = episode;
    if (task_id === null || reward === null || episode.episode_length !== 1) continue;
    const [step] = store.steps(episode.episode_id);
    if (step) yield { task_id, prompt, preset, completion: step.action, reward };
  }
}

function* preference(store: Store, run_id: string, system: string): Generator<Row> {
  const pairs = new Map<string, { best: Attempt; worst: Attempt }>();
  for (const attempt of attempts(store, run_id)) {
    const key = JSON.stringify([attempt.task_id, attempt.preset]); // rewards of two presets do not compare
    const { best, worst } = pairs.get(key) ?? { best: attempt, worst: attempt };
    pairs.set(key, {
      best: attempt.reward > best.reward ? attempt : best,
      worst: attempt.reward < worst.reward ? attempt : worst,
    });
  }
  for (const { best, worst } of pairs.values()) {
    if (best.reward === worst.reward) continue;
    const prompt = toPrompt(best, system);
    yield { prompt, chosen: toAnswer(best.completion), rejected: toAnswer(worst.completion) };
  }
}

interface Task {
  task_id: string;
  prompt: string;
  split: string;
}

/** Each task that the teacher or an episode answered, once. */
function* tasks(store: Store, run_id: string): Generator<Task> {
  const seen = new Set<string>();
  const isNew = (task_id: string | null): task_id is string => {
    if (task_id === null || seen.has(task_id)) return false;
    return Boolean(seen.add(task_id));
  };
  const toTask = (task_id: string, prompt: string): Task => ({ task_id, prompt, split: task_id.split('.')[0]! });
  for (const { task_id, prompt } of samples(store, run_id)) if (isNew(task_id)) yield toTask(task_id, prompt);
  const read = (after: number) => store.episodes({ run_id, after });
  for (const { task_id, prompt } of pages(read, (row) => row.episode_id))
    if (isNew(task_id)) yield toTask(task_id, prompt);
}

function* prompts(store: Store, run_id: string, system: string): Generator<Row> {
  for (const task of tasks(store, run_id))
    yield { prompt: toPrompt(task, system), task_id: task.task_id, split: task.split };
}

function* verl(store: Store, run_id: string, system: string): Generator<Row> {
  let index = 0;
  for (const task of tasks(store, run_id)) {
    const { task_id, split } = task;
    yield {
      data_source: DATA_SOURCE,
      prompt: toPrompt(task, system),
      ability: 'diagram',
      reward_model: { style: 'rule', ground_truth: JSON.stringify({ task_id }) },
      extra_info: { split, index: index++, task_id, interaction_kwargs: { name: INTERACTION, task_id } },
    };
  }
}

/** Rows of a dataset from a run's log; `system` is the system message, '' for none. */
export const TRAINING_DATASETS = {
  prompt_completion: promptCompletion,
  messages,
  unpaired,
  preference,
  prompts,
  verl,
} as const satisfies Record<string, (store: Store, run_id: string, system: string) => Generator<Row>>;

export type TrainingDataset = keyof typeof TRAINING_DATASETS;
export const TRAINING_DATASET_NAMES = Object.keys(TRAINING_DATASETS) as TrainingDataset[];

export const isTrainingDataset = (name: string): name is TrainingDataset => Object.hasOwn(TRAINING_DATASETS, name);
