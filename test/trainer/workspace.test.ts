/** What a command leaves behind of its settings. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { openStore } from '../../clients/store/index.ts';
import { createApp } from '../../server/app.ts';
import { createProgress } from '../../trainer/progress.ts';
import { nextCommand } from '../../trainer/shell.ts';
import { withWorkspace, WORKSPACE_SETTINGS } from '../../trainer/workspace.ts';
import { temporaryFolder } from '../tools/temporary-folder.ts';

const SECRET = 'correct-horse-battery';
const Settings = z.strictObject({
  ...WORKSPACE_SETTINGS,
  level: z.number(),
  api_key: z.string().optional().meta({ description: 'Key of a service', secret: true }),
});

async function startEnvironment(): Promise<string> {
  const app = createApp({});
  return new Promise((resolve) => {
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => {
      onTestFinished(() => void server.close());
      resolve(`http://127.0.0.1:${port}`);
    });
  });
}

test('a secret is used, and neither the run folder nor the log holds it', async () => {
  const folder = temporaryFolder();
  const places = { db: join(folder, 'log.db'), runs: join(folder, 'runs') };
  const settings = Settings.parse({ ...places, url: await startEnvironment(), level: 3, api_key: SECRET });
  const context = {
    ...{ out: () => undefined, progress: createProgress({ write: () => true }), signal: new AbortController().signal },
    startServer: () => Promise.reject(new Error('there is one')),
  };
  await withWorkspace({ name: 'test', schema: Settings }, settings, context, ({ run }) => {
    expect(settings.api_key).toBe(SECRET);
    expect(JSON.parse(readFileSync(run.file('config.json'), 'utf8'))).toMatchObject({
      settings: { level: 3, api_key: '***' },
    });
    return Promise.resolve({ done: true });
  });
  const store = openStore(places.db, { readonly: true });
  expect(store.getRun().config).toEqual({ level: 3, seed: 1, api_key: '***' });
  store.close();
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files.length).toBeGreaterThan(2);
  for (const { parentPath, name } of files) {
    expect(readFileSync(join(parentPath, name)).includes(SECRET), name).toBe(false);
  }
});

test.each([
  ['the usual places', { db: 'runs/canvas-gym.db', runs: 'runs' }, 'sft --dataset a/b'],
  ['a log of its own', { db: 'my log.db', runs: 'runs' }, `sft --dataset a/b --db 'my log.db'`],
  ['folders of its own', { db: 'runs/canvas-gym.db', runs: 'out' }, 'sft --dataset a/b --runs out'],
  ['a command without places', {}, 'sft --dataset a/b'],
])('the next command for %s', (_, places, words) => {
  expect(nextCommand(places, 'sft', '--dataset', 'a/b')).toMatch(/^(npm run canvas-gym --|npx canvas-gym) /);
  expect(nextCommand(places, 'sft', '--dataset', 'a/b').endsWith(` ${words}`)).toBe(true);
});
