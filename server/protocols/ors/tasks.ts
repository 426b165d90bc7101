/**
 * The task suite as ORS counts it: one list of tasks for each split, by index. It goes through all families at level 1, then at
 * level 2, and so on, and begins again with the next task of each, so that the first tasks of a split are a mixture.
 */
import { setImmediate } from 'node:timers/promises';
import type { OrsSplit, OrsTask } from '../../../schemas/protocols/ors.ts';
import { LEVELS, SPLITS, type Split, type Task } from '../../../schemas/task.ts';
import { ApiError, suggest, type Place } from '../../errors.ts';
import { cellsMatching, taskAt, type Cell } from '../../tasks/suite.ts';

export interface OrsTasks {
  splits: () => OrsSplit[];
  /** @throws ApiError unknown_split, as all that take a split. */
  count(split: string): number;
  /** @throws ApiError unknown_index. */
  at(split: string, index: number, place: Place): OrsTask;
  /** Tasks from start up to stop, as Python slices: below 0 counts from the end, too much is cut. */
  range(split: string, start?: number | null, stop?: number | null): Promise<OrsTask[]>;
}

function typeOf(split: Split): OrsSplit['type'] {
  if (split === 'train') return 'train';
  return split === 'val' ? 'validation' : 'test';
}

/** The task at an index that is less than the sum of the cells' sizes. */
function taskOfIndex(split: Split, cells: readonly Cell[], index: number): Task {
  const rounds = Math.min(...cells.map(({ size }) => size));
  if (index < rounds * cells.length) {
    const { family, level } = cells[index % cells.length]!;
    return taskAt({ split, family, level, index: Math.floor(index / cells.length) });
  }
  let left = index - rounds * cells.length;
  for (let round = rounds; ; round++) {
    const longer = cells.filter(({ size }) => size > round);
    const cell = longer[left];
    if (cell) return taskAt({ split, family: cell.family, level: cell.level, index: round });
    left -= longer.length;
  }
}

function toOrsTask(task: Task): OrsTask {
  const { task_id, suite_version, split, family, level, seed, prompt, canvas, direction, provenance } = task;
  return {
    ...{ task_id, suite_version, split, family, level, seed },
    request: prompt,
    canvas_w: canvas.w,
    canvas_h: canvas.h,
    direction: direction ?? null,
    provenance: provenance ?? null,
  };
}

function parseSplit(split: string): Split {
  const known = SPLITS.find((name) => name === split);
  if (known) return known;
  const hint = suggest(split, SPLITS) || `; splits are ${SPLITS.join(', ')}`;
  throw new ApiError('unknown_split', `no split ${JSON.stringify(split.slice(0, 60))}${hint}`, {
    place: ['body', 'split'],
  });
}

/** Tasks that are made between two looks at other requests. */
const TASKS_AT_A_TIME = 8;

/** @param trainTasks How many tasks of `train` there are; the suite has billions, and clients list them all. */
export function createOrsTasks(trainTasks: number): OrsTasks {
  const known = new Map<Split, { cells: Cell[]; count: number }>();
  const lookUp = (name: string): { split: Split; cells: Cell[]; count: number } => {
    const split = parseSplit(name);
    const cells = known.get(split)?.cells ?? LEVELS.flatMap((level) => cellsMatching({ split, level }));
    const all = cells.reduce((sum, { size }) => sum + size, 0);
    const entry = { cells, count: split === 'train' ? Math.min(trainTasks, all) : all };
    known.set(split, entry);
    return { split, ...entry };
  };
  return {
    splits: () => SPLITS.map((name) => ({ name, type: typeOf(name) })),
    count: (split) => lookUp(split).count,
    at(name, index, place) {
      const { split, cells, count } = lookUp(name);
      if (index >= 0 && index < count) return toOrsTask(taskOfIndex(split, cells, index));
      throw new ApiError('unknown_index', `split ${split} has the indices 0 to ${count - 1}, not ${index}`, { place });
    },
    async range(name, start, stop) {
      const { split, cells, count } = lookUp(name);
      const [from, to] = [start ?? 0, stop ?? count].map((i) =>
        Math.min(count, Math.max(0, i < 0 ? count + i : i)),
      ) as [number, number];
      const tasks: OrsTask[] = [];
      for (let i = from; i < to; i++) {
        tasks.push(toOrsTask(taskOfIndex(split, cells, i)));
        if (tasks.length % TASKS_AT_A_TIME === 0) await setImmediate();
      }
      return tasks;
    },
  };
}
