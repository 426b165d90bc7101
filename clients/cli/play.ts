/**
 * `canvas-gym play [TASK_ID]`: one task, by hand. Shows the prompt, reads actions, shows the canvas and what lost points;
 * what else there is to see (every component of the reward, the prompt, the commands) is behind words of its own.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { createClient, type Client } from '../ts/index.ts';
import { ActionSet } from '../../schemas/action.ts';
import type { Observation, State } from '../../schemas/episode.ts';
import { DEFAULT_PRESET, Preset } from '../../schemas/reward.ts';
import type { Info } from '../../schemas/responses.ts';
import { defineCommand, SHARED_SETTINGS, UsageError, type CommandContext } from '../../schemas/settings.ts';
import { toAscii } from './ascii.ts';
import { TASK_SETTINGS } from './options.ts';
import { withServer } from './server-process.ts';
import { parseShorthand, SHORTHAND_HELP } from './shorthand.ts';
import { toWrapped } from './table.ts';

const Settings = z.strictObject({
  task_id: z
    .string()
    .optional()
    .meta({ description: 'The task; without it, one is drawn by the seed', positional: true }),
  url: SHARED_SETTINGS.url,
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
/** Rows of what lost points after a turn. */
const MOST_REASONS = 5;

const HELP = [
  ...SHORTHAND_HELP,
  'parts   every component of the reward       prompt   what is asked for',
  'help    these lines                         quit     leaves without ending the episode',
];

/** The episode so far. */
interface Game {
  observation: Observation;
  state: State;
  /** What the last step said of its reward; absent before the first. */
  info?: Info;
}

function columns(): number {
  return Math.min(MAX_COLUMNS, process.stdout.isTTY ? process.stdout.columns - 1 : MAX_COLUMNS);
}

function showTask({ prompt, task_id, canvas_size, max_turns }: Observation): string[] {
  return [
    `task    ${task_id ?? 'inline'}, canvas ${canvas_size.w} x ${canvas_size.h}, ${max_turns} turns`,
    `prompt  ${prompt}`,
  ];
}

/** What lost points, largest loss first; then what was refused, where no reason says so. */
function showLosses({ errors }: Observation, { reasons }: Info): string[] {
  const shown = reasons.slice(0, MOST_REASONS);
  const rows = shown.map(({ lost, component, message }) => [`-${lost.toFixed(3)}`, component, message]);
  const unsaid = errors.filter(({ message }) => !shown.some((reason) => reason.message.includes(message)));
  const more = reasons.length - shown.length;
  return [
    ...(rows.length > 0 ? toWrapped(['lost', 'component', 'what to change'], rows, columns()) : []),
    ...(more > 0 ? [`and ${more} more: parts`] : []),
    ...unsaid.map(({ message }) => `error   ${message}`),
  ];
}

function showTurn({ observation, info }: Game, reward: number): string[] {
  const { canvas, canvas_size, total_reward } = observation;
  return [
    ...toAscii(canvas, canvas_size, columns()),
    `reward  ${reward.toFixed(3)}, ${total_reward.toFixed(3)} in all`,
    ...(info ? showLosses(observation, info) : []),
  ];
}

/** Every component of the reward, with all that was lost to it. */
function showParts({ observation, info }: Game): string[] {
  if (!info) return ['there is no reward before the first action'];
  const rows = Object.entries(observation.reward_components).map(([name, value]) => {
    const own = info.reasons.filter(({ component }) => component === name);
    const lost = own.reduce((sum, reason) => sum + reason.lost, 0);
    const messages = own.map(({ message }) => message).join('; ');
    return [name, value.toFixed(3), own.length > 0 ? `-${lost.toFixed(3)}` : '', messages];
  });
  return toWrapped(['component', 'value', 'lost', 'what to change'], rows, columns());
}

/** Lines for a word that asks to see something. */
const VIEWS: ReadonlyMap<string, (game: Game) => readonly string[]> = new Map<
  string,
  (game: Game) => readonly string[]
>([
  ['help', () => HELP],
  ['parts', showParts],
  ['prompt', ({ observation }) => showTask(observation)],
]);

function begin(client: Client, settings: Settings, signal: AbortSignal) {
  const { task_id, split, family, level, seed, reward, action_set, max_turns } = settings;
  const task = task_id === undefined ? { seed, split, family, level } : { task_id };
  return client.reset({ ...task, reward, action_set, max_turns }, { signal });
}

async function savePicture(client: Client, state: State, file: string | undefined): Promise<void> {
  if (file === undefined) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, await (await client.render({ state, format: 'svg' })).text());
}

/** Answers one line; whether the episode is over. */
async function answerLine(client: Client, game: Game, line: string, settings: Settings, context: CommandContext) {
  const { out, signal } = context;
  const view = VIEWS.get(line);
  const reading = view || line === '' ? undefined : parseShorthand(line, [...VIEWS.keys(), 'quit']);
  view?.(game).forEach(out);
  if (reading && 'problem' in reading) out(`${reading.problem} (help lists the commands)`);
  if (!reading || 'problem' in reading) return false;
  const { observation, state, info, reward, done } = await client.step(
    { state: game.state, action: reading.action },
    { signal },
  );
  Object.assign(game, { observation, state, info });
  showTurn(game, reward).forEach(out);
  await savePicture(client, state, settings.svg);
  return done;
}

async function play(settings: Settings, url: string, context: CommandContext): Promise<void> {
  const { out, signal } = context;
  const client = createClient({ url });
  const game: Game = await begin(client, settings, signal);
  [...showTask(game.observation), ...HELP].forEach(out);
  const input = createInterface({
    input: process.stdin,
    prompt: '> ',
    signal,
    ...(process.stdin.isTTY && { output: process.stdout }),
  });
  input.prompt();
  for await (const line of input) {
    if (line.trim() === 'quit' || (await answerLine(client, game, line.trim(), settings, context))) break;
    input.prompt();
  }
  input.close();
  signal.throwIfAborted();
  const { total_reward, turn } = game.observation;
  out(`return  ${total_reward.toFixed(3)} after ${turn} ${turn === 1 ? 'turn' : 'turns'}`);
}

/** A named task is one task: what would choose among many has no say. */
function assertOneChoice({ task_id, split, family, level }: Settings): void {
  const given = Object.entries({ split, family, level }).filter(([, value]) => value !== undefined);
  if (task_id === undefined || given.length === 0) return;
  throw new UsageError(given.map(([name]) => `--${name} chooses a task, and TASK_ID names one: give one of them`));
}

export const command = defineCommand({
  name: 'play',
  summary: 'try a task by hand in the terminal',
  settings: Settings,
  run: async (settings, context) => {
    assertOneChoice(settings);
    await withServer(settings.url, context.startServer, (url) => play(settings, url, context));
  },
});
