/**
 * The task suite: ten families of diagrams, five levels, nine splits. A task is named by `<split>.<family>.<level>.<index>`
 * and made from that name alone; nothing is stored. What an agent may see goes through `toPublicTask`.
 */
import { createRng, hash64 } from '../../schemas/seed.ts';
import {
  FAMILIES,
  LEVELS,
  SPLITS,
  type Family,
  type Level,
  type PublicTask,
  type Split,
  type Task,
} from '../../schemas/task.ts';
import { generateTask, SUITE_VERSION } from './generate.ts';
import { realDiagrams, realTask } from './real.ts';
import { familiesOf, levelsOf, sizeOf } from './splits.ts';

export { SUITE_VERSION };

export interface TaskAddress {
  split: Split;
  family: Family;
  level: Level;
  index: number;
}

/** There is no such task; `reason` says which part of the address is at fault and what would do. */
export class TaskNotFound extends RangeError {
  readonly code = 'task_not_found';
  readonly reason: string;
  constructor(reason: string) {
    super(reason);
    this.name = 'TaskNotFound';
    this.reason = reason;
  }
}

/** The tasks of a split that share a family and a level. */
export interface Cell {
  split: Split;
  family: Family;
  level: Level;
  size: number;
}

function cellsOf(split: Split): Cell[] {
  if (split === 'test_real') {
    return FAMILIES.flatMap((family) =>
      LEVELS.map((level) => ({ split, family, level, size: realDiagrams(family, level).length })),
    ).filter((cell) => cell.size > 0);
  }
  const size = sizeOf(split);
  return familiesOf(split).flatMap((family) => levelsOf(split).map((level) => ({ split, family, level, size })));
}

/** Every (split, family, level) that holds tasks, in listing order. */
const CELLS: readonly Cell[] = SPLITS.flatMap(cellsOf);

type CellFilter = { [K in 'split' | 'family' | 'level']?: Cell[K] | undefined };

/** Those that hold tasks, in listing order. */
export function cellsMatching(filter: CellFilter): readonly Cell[] {
  return CELLS.filter(
    (cell) =>
      (filter.split === undefined || cell.split === filter.split) &&
      (filter.family === undefined || cell.family === filter.family) &&
      (filter.level === undefined || cell.level === filter.level),
  );
}

function noCellReason({ split, family, level }: CellFilter): string {
  const inSplit = cellsMatching({ split });
  const families = [...new Set(inSplit.map((cell) => cell.family))];
  if (family !== undefined && !families.includes(family)) {
    return `split ${String(split)} has no family ${family}; it has ${families.join(', ')}`;
  }
  const levels = [...new Set(cellsMatching({ split, family }).map((cell) => cell.level))];
  return `${[split, family].filter(Boolean).join(' ')} has no level ${String(level)}; it has ${levels.join(', ')}`;
}

/**
 * The task at an address. Throws TaskNotFound when the split does not hold the family or the level, or the index is not
 * an integer in 0..size-1 (2^31 for `train`).
 */
export function taskAt({ split, family, level, index }: TaskAddress): Task {
  const cell = cellsMatching({ split, family, level })[0];
  if (!cell) throw new TaskNotFound(noCellReason({ split, family, level }));
  if (!Number.isInteger(index) || index < 0 || index >= cell.size) {
    throw new TaskNotFound(
      `index ${index} is not an integer from 0 to ${cell.size - 1}, which ${split}.${family}.${level} has`,
    );
  }
  return taskIn(cell, index);
}

/** Tasks made last, oldest first: an episode asks for its task at every step. */
const CACHE_LIMIT = 4096;
const cache = new Map<string, Task>();

function makeTask({ split, family, level }: Cell, index: number): Task {
  if (split !== 'test_real') return generateTask({ split, family, level }, index);
  const task = realTask(SUITE_VERSION, family, level, index);
  if (!task) throw new TaskNotFound(`test_real has no ${family}.${level}.${index}`);
  return task;
}

/** `index` has been checked against the cell's size. */
function taskIn(cell: Cell, index: number): Task {
  const key = `${cell.split}.${cell.family}.${cell.level}.${index}`;
  const known = cache.get(key);
  if (known) return known;
  const task = makeTask(cell, index);
  if (cache.size >= CACHE_LIMIT) cache.delete(cache.keys().next().value!);
  cache.set(key, task);
  return task;
}

const TASK_ID = /^([a-z_]+)\.([a-z_]+)\.([1-5])\.(0|[1-9]\d{0,9})$/;

/** The task with this id; undefined when there is none. */
export function getTask(taskId: string): Task | undefined {
  const match = TASK_ID.exec(taskId);
  const split = SPLITS.find((name) => name === match?.[1]);
  const family = FAMILIES.find((name) => name === match?.[2]);
  const level = LEVELS.find((value) => String(value) === match?.[3]);
  const index = Number(match?.[4]);
  const cell = split && family && level && cellsMatching({ split, family, level })[0];
  return cell && index < cell.size ? taskIn(cell, index) : undefined;
}

export interface SampleOptions {
  /** Any string; equal seeds give equal tasks. */
  seed: string;
  split?: Split | undefined;
  family?: Family | undefined;
  level?: Level | undefined;
  index?: number | undefined;
}

/** A task drawn by seed: what is not given is drawn, each family and level alike; the split is `train` unless given. */
export function sampleTask({ seed, split = 'train', family, level, index }: SampleOptions): Task {
  const cells = cellsMatching({ split, family, level });
  if (cells.length === 0) throw new TaskNotFound(noCellReason({ split, family, level }));
  const rng = createRng(hash64(SUITE_VERSION, 'sample', seed));
  const cell = rng.pick(cells);
  return taskAt({ ...cell, index: index ?? rng.int(0, cell.size - 1) });
}

export interface ListOptions {
  split?: Split | undefined;
  family?: Family | undefined;
  level?: Level | undefined;
  /** Tasks to return at most. */
  limit: number;
  /** Tasks to skip. */
  offset: number;
}

/** A page of tasks in the order of splits, families, levels and indices, and how many there are in all. */
export function listTasks({ limit, offset, ...filter }: ListOptions): { tasks: PublicTask[]; total: number } {
  const tasks: PublicTask[] = [];
  let total = 0;
  for (const cell of cellsMatching(filter)) {
    const first = Math.max(0, offset - total);
    const count = Math.min(cell.size - first, limit - tasks.length);
    for (let i = 0; i < count; i++) tasks.push(toPublicTask(taskIn(cell, first + i)));
    total += cell.size;
  }
  return { tasks, total };
}

/** What an agent may see of a task. A list of what goes out, so that a new field stays in until it is named here. */
export function toPublicTask(task: Task): PublicTask {
  const { task_id, suite_version, split, family, level, seed, prompt, canvas, direction, provenance } = task;
  return {
    ...{ task_id, suite_version, split, family, level, seed, prompt, canvas },
    ...(direction === undefined ? {} : { direction }),
    ...(provenance === undefined ? {} : { provenance }),
  };
}
