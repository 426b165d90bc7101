/**
 * `canvas-gym score FILE`: scores a file of completions. Each line is a JSON object with `completion` and one of
 * `task_id`, `task` (inline) and `prompt`; other keys are handed through. Each answer line repeats it without the
 * completion and adds `line`, `reward`, `components` and `errors`; a summary goes to standard error. What cannot be scored
 * is named there by its line, the rest is scored all the same, and the exit code is then 1.
 */
import { createReadStream, openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { createClient, ResponseError, type Client } from '../ts/index.ts';
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
  .looseObject(
    {
      completion: CompletionSchema,
      task_id: z.string({ error: 'must be a text' }).optional(),
      task: InlineTask.optional(),
      prompt: PromptSchema.optional(),
    },
    { error: 'must be a JSON object with a completion' },
  )
  .refine(({ task_id, task, prompt }) => task_id !== undefined || task !== undefined || prompt !== undefined, {
    error: 'has no task_id, task or prompt',
  });
type Line = z.infer<typeof Line> & { line: number };

/** A line that cannot be scored, and why. */
interface BadLine {
  line: number;
  problem: string;
}

const isBad = (line: Line | BadLine): line is BadLine => 'problem' in line;

function toProblem(value: unknown, { path, message }: z.core.$ZodIssue): string {
  const isMissing = path[0] === 'completion' && typeof value === 'object' && !Object.hasOwn(value ?? {}, 'completion');
  return isMissing ? 'has no completion' : [...path.map(String), message].join(' ');
}

function parseLine(text: string, line: number): Line | BadLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { line, problem: `is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  const result = Line.safeParse(value);
  return result.success ? { ...result.data, line } : { line, problem: toProblem(value, result.error.issues[0]!) };
}

/** Lines in groups of `size`; ends early where the user asks to stop. */
async function* readBatches(input: Readable, size: number, signal: AbortSignal): AsyncGenerator<(Line | BadLine)[]> {
  let batch: (Line | BadLine)[] = [];
  let number = 0;
  for await (const text of createInterface({ input, crlfDelay: Infinity, signal })) {
    number += 1;
    if (text.trim() === '') continue;
    batch.push(parseLine(text.replace(/^\ufeff/, ''), number));
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0 && !signal.aborted) yield batch;
}

/** A line that was scored; `row` is what is printed. */
interface Scored {
  line: number;
  reward: number | null;
  row: Record<string, unknown>;
}

async function scoreBatch(
  client: Client,
  lines: readonly Line[],
  reward: Preset,
  signal: AbortSignal,
): Promise<Scored[]> {
  const body = {
    completions: lines.map(({ completion }) => completion),
    prompts: lines.map(({ prompt }) => prompt ?? ''),
    context: { task_id: lines.map(({ task_id }) => task_id ?? null), task: lines.map(({ task }) => task ?? null) },
    reward,
  };
  const { rewards, components, errors } = await client.score(body, { signal });
  return lines.map((line, i) => {
    const answer = { reward: rewards[i] ?? null, components: components[i], errors: errors[i] };
    const rest = Object.entries(line).filter(([key]) => key !== 'completion');
    return { line: line.line, reward: answer.reward, row: { ...Object.fromEntries(rest), ...answer } };
  });
}

/** Scores what the server takes. A batch that it refuses is halved until the lines that it refuses are alone. */
async function scoreLines(
  client: Client,
  lines: readonly Line[],
  reward: Preset,
  signal: AbortSignal,
): Promise<(Scored | BadLine)[]> {
  if (lines.length === 0) return [];
  try {
    return await scoreBatch(client, lines, reward, signal);
  } catch (error) {
    if (!(error instanceof ResponseError) || error.code === 'unknown' || error.status >= 500) throw error;
    if (lines.length === 1) return [{ line: lines[0]!.line, problem: error.message }];
    const half = lines.length >> 1;
    const first = await scoreLines(client, lines.slice(0, half), reward, signal);
    return [...first, ...(await scoreLines(client, lines.slice(half), reward, signal))];
  }
}

interface Totals {
  rewards: number[];
  /** Lines whose reward the server could not compute. */
  failed: number;
  /** Lines that cannot be scored. */
  bad: number;
}

/** Rewards of the whole file in a line of words. */
function summarise({ rewards, failed, bad }: Totals, preset: Preset): string {
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
  const zeros = rewards.filter((reward) => reward === 0).length;
  const figures = rewards.length > 0 ? [`mean ${mean.toFixed(4)}`, `${zeros} with reward 0`] : [];
  return [
    `${rewards.length} scored with ${preset}`,
    ...figures,
    ...(bad > 0 ? [`${bad} bad ${bad === 1 ? 'line' : 'lines'}`] : []),
    ...(failed > 0 ? [`${failed} not scored: the server failed`] : []),
  ].join(', ');
}

/** Opens the file at once, so that a wrong name is said before anything is started. */
function openInput(file: string): Readable {
  return file === '-' ? process.stdin : createReadStream(file, { fd: openSync(file, 'r') });
}

async function scoreInput(
  input: Readable,
  { batch, reward }: z.infer<typeof Settings>,
  url: string,
  { out, signal }: CommandContext,
): Promise<void> {
  const note = (line: string): void => void process.stderr.write(`${line}\n`);
  const client = createClient({ url });
  const totals: Totals = { rewards: [], failed: 0, bad: 0 };
  try {
    for await (const lines of readBatches(input, batch, signal)) {
      const good = lines.filter((line): line is Line => !isBad(line));
      const answers = [...lines.filter(isBad), ...(await scoreLines(client, good, reward, signal))];
      for (const answer of answers.sort((a, b) => a.line - b.line)) {
        if ('problem' in answer) {
          totals.bad += 1;
          note(`line ${answer.line}: ${answer.problem}`);
        } else {
          if (answer.reward === null) totals.failed += 1;
          else totals.rewards.push(answer.reward);
          out(JSON.stringify(answer.row));
        }
      }
    }
    signal.throwIfAborted();
  } finally {
    input.destroy();
    note(summarise(totals, reward));
  }
  const left = totals.bad + totals.failed;
  if (left > 0) throw new Error(`${left} of ${left + totals.rewards.length} lines were not scored`);
}

export const command = defineCommand({
  name: 'score',
  summary: 'score a file of completions (JSONL)',
  settings: Settings,
  run: async (settings, context) => {
    const input = openInput(settings.file);
    await withServer(settings.url, context.startServer, (url) => scoreInput(input, settings, url, context));
  },
});
