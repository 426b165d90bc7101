/** `canvas-gym tasks`: lists tasks of the suite. */
import { z } from 'zod';
import { createClient } from '../ts/index.ts';
import { defineCommand, SHARED_SETTINGS } from '../../schemas/settings.ts';
import { JSON_SETTING, TASK_SETTINGS } from './options.ts';
import { withServer } from './server-process.ts';
import { toTable } from './table.ts';

const Settings = z.strictObject({
  url: SHARED_SETTINGS.url,
  ...TASK_SETTINGS,
  limit: z.number().int().min(1).max(1000).default(20).meta({ description: 'Show at most', unit: 'tasks' }),
  offset: z.number().int().min(0).default(0).meta({ description: 'Skip the first', unit: 'tasks' }),
  json: JSON_SETTING,
});

export const command = defineCommand({
  name: 'tasks',
  summary: 'list tasks of the suite',
  settings: Settings,
  async run({ url, json, ...query }, { out, startServer, signal }) {
    const { tasks, total } = await withServer(url, startServer, (address) =>
      createClient({ url: address }).tasks(query, { signal }),
    );
    if (json) {
      for (const task of tasks) out(JSON.stringify(task));
      return;
    }
    const rows = tasks.map(({ task_id, prompt }) => [task_id, prompt.replace(/\s+/g, ' ')]);
    toTable(['task', 'prompt'], rows).forEach(out);
    out(`${tasks.length} of ${total} tasks`);
  },
});
