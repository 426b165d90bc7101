import { describe, expect, test } from 'vitest';
import { hash64 } from '../../schemas/seed.ts';
import { PublicTask, SPLITS, Task } from '../../schemas/task.ts';
import {
  getTask,
  listTasks,
  sampleTask,
  SUITE_VERSION,
  taskAt,
  TaskNotFound,
  toPublicTask,
} from '../../server/tasks/suite.ts';

describe('addresses', () => {
  test('an id names the same task as its address', () => {
    const task = taskAt({ split: 'train', family: 'pipeline', level: 1, index: 42 });
    expect(task.task_id).toBe('train.pipeline.1.42');
    expect(getTask('train.pipeline.1.42')).toEqual(task);
  });

  test.each([
    'train.pipeline.1.-1',
    'train.pipeline.1.01',
    'train.pipeline.1.2147483648',
    'train.pipeline.5.0',
    'train.timeline.1.0',
    'val.pipeline.1.50',
    'nowhere.pipeline.1.0',
    'train.pipeline.1',
    '__proto__',
    '',
  ])('no task is called %j', (id) => {
    expect(getTask(id)).toBeUndefined();
  });

  test.each([
    ['a held-out family', { split: 'train', family: 'timeline', level: 1, index: 0 }],
    ['a held-out level', { split: 'train', family: 'er', level: 5, index: 0 }],
    ['an index past the end', { split: 'val', family: 'er', level: 1, index: 50 }],
    ['a fraction', { split: 'val', family: 'er', level: 1, index: 0.5 }],
    ['not a number', { split: 'val', family: 'er', level: 1, index: NaN }],
  ] as const)('%s is refused with a reason', (_name, address) => {
    expect(() => taskAt(address)).toThrow(TaskNotFound);
  });
});

describe('sampling', () => {
  test('equal seeds give equal tasks, other seeds other tasks', () => {
    const ids = Array.from({ length: 200 }, (_, i) => sampleTask({ seed: String(i) }).task_id);
    expect(sampleTask({ seed: '7' }).task_id).toBe(ids[7]);
    expect(new Set(ids).size).toBe(200);
  });

  test('what is given is kept', () => {
    const task = sampleTask({ seed: '1', split: 'val', family: 'er', level: 2, index: 3 });
    expect(task.task_id).toBe('val.er.2.3');
  });
});

describe('listing', () => {
  test('pages follow each other without gap or overlap, over cell borders', () => {
    const whole = listTasks({ split: 'val', limit: 450, offset: 0 });
    const pages = [0, 150, 300].map((offset) => listTasks({ split: 'val', limit: 150, offset }));
    expect(pages.flatMap((page) => page.tasks)).toEqual(whole.tasks);
    expect(new Set(whole.tasks.map((task) => task.task_id)).size).toBe(450);
    expect(whole.total).toBe(8 * 4 * 50);
  });

  test('beyond the end is an empty page', () => {
    expect(listTasks({ split: 'val', family: 'er', level: 1, limit: 5, offset: 50 })).toEqual({
      tasks: [],
      total: 50,
    });
  });
});

test('tasks of this suite version are pinned; whatever changes them raises SUITE_VERSION and this value', () => {
  const tasks = SPLITS.flatMap((split) => [0, 1, 2, 3].map((i) => sampleTask({ seed: `pin-${i}`, split })));
  expect(hash64(SUITE_VERSION, JSON.stringify(tasks)).toString(16)).toBe('7a4e7ad5cfe4c935');
});

test('a public task holds nothing of the answer', () => {
  for (const split of SPLITS) {
    for (const task of listTasks({ split, limit: 3, offset: 0 }).tasks) {
      expect(PublicTask.safeParse(task).success).toBe(true);
      expect(Task.safeParse(getTask(task.task_id)).success).toBe(true);
      expect(task).toEqual(toPublicTask(getTask(task.task_id)!));
    }
  }
});
