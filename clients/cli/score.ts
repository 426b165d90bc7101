/**
 * `canvas-gym score FILE`: scores a file of completions. Each line is a JSON object with `completion` and one of
 * `task_id`, `task` (inline) and `prompt`; other keys are handed through. Each answer line repeats it without the
 * completion and adds `line`, `reward`, `components` and `errors`; a summary goes to standard error.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { createClient, type Client } from '../ts/index.ts';
import { CompletionSchema, PromptSchema } from '../../schemas/completion.ts';
import { DEFAULT_PRESET, Preset } from '../../schemas/reward.ts';
import { defineCommand, SHARED_SETTINGS, type CommandContext } from '../../schemas/settings.ts';
import { InlineTask } from '../../schemas/task.ts';
import { withServer } from './server-process.ts';

const Settings = z.strictObject({
  file: z
    .string()
    .min(1)
    .meta({ description: 'Completions, one JSON object a line; - is standard input', positional: true }),
  url: SHARED_SETTINGS.url,
  reward: Preset.default(DEFAULT_PRESET).describe('Reward preset'),
  batch: z
    .number()
    .int()
    .min(1)
    .max(4096)
    .default(64)
    .meta({ description: 'Scored by one request', unit: 'completions' }),
});

const Line = z
  .looseObject({
    completion: CompletionSchema,
    task_id: z.string().optional(),
    task: InlineTask.optional(),
    prompt: PromptSchema.optional(),
  })
  .refine(({ task_id, task, prompt }) => task_id !== undefined || task !== undefined || prompt !== undefined, {
    error: 'has no task_id, task or prompt',
  });
type Line = z.infer<typeof Line> & { line: number };

/** @throws Error naming the line and what is wrong with it. */
function parseLine(text: string, line: number): Line {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`line ${line} is not JSON`, { cause: error });
  }
  const result = Line.safeParse(value);
  if (result.success) return { ...result.data, line };
  const [issue] = result.error.issues;
  throw new Error(`line ${line}: ${[...(issue?.path ?? []), issue?.message].map(String).join(' ')}`);
}

async function* readBatches(input: Readable, size: number): AsyncGenerator<Line[]> {
  let batch: Line[] = [];
  let number = 0;
  for await (const text of createInterface({ input, crlfDelay: Infinity })) {
    number += 1;
    if (text.trim() === '') continue;
    batch.push(parseLine(text.replace(/^\ufeff/, ''), number));
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function scoreBatch(client: Client, lines: readonly Line[], reward: Preset, signal: AbortSignal) {
  const body = {
    completions: lines.map(({ completion }) => completion),
    prompts: lines.map(({ prompt }) => prompt ?? ''),
    context: { task_id: lines.map(({ task_id }) => task_id ?? null), task: lines.map(({ task }) => task ?? null) },
    reward,
  };
  const { rewards, components, errors } = await client.score(body, { signal });
  return lines.map((line, i) => ({
    ...Object.fromEntries(Object.entries(line).filter(([key]) => key !== 'completion')),
    reward: rewards[i] ?? null,
    components: components[i],
    errors: errors[i],
  }));
}

/** Rewards of the whole file in a line of words. */
function summarise(rewards: readonly (number | null)[], preset: Preset): string {
  const scored = rewards.filter((reward) => reward !== null);
  const mean = scored.reduce((sum, reward) => sum + reward, 0) / Math.max(1, scored.length);
  const zeros = scored.filter((reward) => reward === 0).length;
  const failed = rewards.length - scored.length;
  const parts = [`${scored.length} scored with ${preset}`, `mean ${mean.toFixed(4)}`, `${zeros} with reward 0`];
  return [...parts, ...(failed > 0 ? [`${failed} not scored: the server failed`] : [])].join(', ');
}

async function scoreFile(
  settings: z.infer<typeof Settings>,
  url: string,
  { out, signal }: CommandContext,
): Promise<void> {
  const { file, batch, reward } = settings;
  const client = createClient({ url });
  const rewards: (number | null)[] = [];
  const input = file === '-' ? process.stdin : createReadStream(file);
  for await (const lines of readBatches(input, batch)) {
    for (const row of await scoreBatch(client, lines, reward, signal)) {
      rewards.push(row.reward);
      out(JSON.stringify(row));
    }
  }
  process.stderr.write(`${summarise(rewards, reward)}\n`);
}

export const command = defineCommand({
  name: 'score',
  summary: 'score a file of completions (JSONL)',
  settings: Settings,
  run: (settings, context) => withServer(settings.url, context.startServer, (url) => scoreFile(settings, url, context)),
});
