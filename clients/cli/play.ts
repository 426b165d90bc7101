/** `canvas-gym play`: one task, by hand. Shows the prompt, reads actions, shows the canvas and what the reward says. */
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { createClient, type Client } from '../ts/index.ts';
import { ActionSet } from '../../schemas/action.ts';
import type { Observation, State } from '../../schemas/episode.ts';
import { DEFAULT_PRESET, Preset } from '../../schemas/reward.ts';
import type { Info } from '../../schemas/responses.ts';
import { defineCommand, SHARED_SETTINGS, type CommandContext } from '../../schemas/settings.ts';
import { toAscii } from './ascii.ts';
import { TASK_SETTINGS } from './options.ts';
import { withServer } from './server-process.ts';
import { parseShorthand, SHORTHAND_HELP } from './shorthand.ts';

const Settings = z.strictObject({
  url: SHARED_SETTINGS.url,
  task_id: z.string().optional().describe('The task; without it, one is drawn by the seed'),
  ...TASK_SETTINGS,
  seed: z.string().regex(/^\d+$/, { error: 'is not a whole number' }).default('0').describe('Which task is drawn'),
  reward: Preset.default(DEFAULT_PRESET).describe('Reward preset'),
  action_set: ActionSet.default('editor').describe('Actions that are allowed'),
  max_turns: z
    .number()
    .int()
    .min(1)
    .max(1000)
    .default(20)
    .meta({ description: 'Turns until the episode is cut', unit: 'turns' }),
  svg: z.string().min(1).optional().describe('File that the picture is written to after each turn'),
});
type Settings = z.infer<typeof Settings>;

const MAX_COLUMNS = 100;
const REASONS = 5;

function columns(): number {
  return Math.min(MAX_COLUMNS, process.stdout.isTTY ? process.stdout.columns - 1 : MAX_COLUMNS);
}

function showTask({ prompt, task_id, canvas_size, max_turns }: Observation, { out }: CommandContext): void {
  out(`task    ${task_id ?? 'inline'}, canvas ${canvas_size.w} x ${canvas_size.h}, ${max_turns} turns`);
  out(`prompt  ${prompt}`);
  SHORTHAND_HELP.forEach(out);
}

function showTurn(observation: Observation, reward: number, info: Info, { out }: CommandContext): void {
  const { canvas, canvas_size, errors, reward_components, total_reward } = observation;
  toAscii(canvas, canvas_size, columns()).forEach(out);
  out(`reward  ${reward.toFixed(3)}, ${total_reward.toFixed(3)} in all`);
  const parts = Object.entries(reward_components).map(([name, value]) => `${name} ${value.toFixed(2)}`);
  out(`        ${parts.join(', ')}`);
  for (const { message } of errors) out(`error   ${message}`);
  for (const { lost, message } of info.reasons.slice(0, REASONS)) out(`-${lost.toFixed(3)}  ${message}`);
}

function begin(client: Client, settings: Settings, signal: AbortSignal) {
  const { task_id, split, family, level, seed, reward, action_set, max_turns } = settings;
  const task = task_id === undefined ? { seed, split, family, level } : { task_id };
  return client.reset({ ...task, reward, action_set, max_turns }, { signal });
}

async function savePicture(client: Client, state: State, file: string | undefined): Promise<void> {
  if (file !== undefined) writeFileSync(file, await (await client.render({ state, format: 'svg' })).text());
}

async function play(settings: Settings, url: string, context: CommandContext): Promise<void> {
  const { out, signal } = context;
  const client = createClient({ url });
  let { observation, state } = await begin(client, settings, signal);
  showTask(observation, context);
  const input = createInterface({
    input: process.stdin,
    prompt: '> ',
    signal,
    ...(process.stdin.isTTY && { output: process.stdout }),
  });
  input.prompt();
  for await (const line of input) {
    if (line.trim() === 'quit') break;
    const action = parseShorthand(line);
    if (action === undefined) SHORTHAND_HELP.forEach(out);
    else {
      const answer = await client.step({ state, action }, { signal });
      ({ observation, state } = answer);
      showTurn(observation, answer.reward, answer.info, context);
      await savePicture(client, state, settings.svg);
      if (answer.done) break;
    }
    input.prompt();
  }
  input.close();
  signal.throwIfAborted();
  out(`return  ${observation.total_reward.toFixed(3)} after ${observation.turn} turns`);
}

export const command = defineCommand({
  name: 'play',
  summary: 'try a task by hand in the terminal',
  settings: Settings,
  run: (settings, context) => withServer(settings.url, context.startServer, (url) => play(settings, url, context)),
});
