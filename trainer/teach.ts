/**
 * The teacher's stage: propose several completions for each training task, let the environment score them, and keep the
 * best of what survives. Everything proposed goes to the log, kept or not; what is kept becomes the SFT dataset.
 *
 * The teacher sees what any agent sees, prompt and canvas size. Rejection sampling against the reward is what makes a
 * dataset of it (Zelikman et al. 2022, STaR; Dong et al. 2023, RAFT).
 */
import type { Client } from '../clients/ts/index.ts';
import type { Store, TeacherSampleRecord } from '../clients/store/index.ts';
import type { Preset } from '../schemas/reward.ts';
import { createRng, hash64 } from '../schemas/seed.ts';
import { FAMILIES, type Family, type Level, type PublicTask } from '../schemas/task.ts';
import type { Example } from './dataset.ts';
import { toFirstPrompt } from './prompt.ts';
import { scoreCompletions } from './score.ts';
import { createScriptedTeacher } from './teacher/scripted.ts';

export interface TeachOptions {
  run_id: string;
  seed: number;
  levels: readonly Level[];
  /** Training tasks, spread evenly over levels and families; where they do not divide, the first ones get one more. */
  tasks: number;
  /** Completions proposed for each task. */
  samples: number;
  /** Share of proposals with a deliberate fault. */
  flaw_rate: number;
  reward: Preset;
  /** Least reward of a completion that is kept. */
  min_reward: number;
  /** Most completions kept of a task. */
  keep: number;
}

/** Least reward of a completion that is kept, where nothing else is said. */
export const DEFAULT_MIN_REWARD = 0.85;

/** Tasks listed in one request. */
const PAGE = 250;

/**
 * @returns what was kept, in the order of the tasks
 * @throws Error where nothing survives, since SFT would have nothing to learn from
 */
export async function teach(
  client: Client,
  store: Store,
  options: TeachOptions,
  onProgress: (done: number, metrics: Record<string, number>) => void,
): Promise<Example[]> {
  const totals = { proposed: 0, reward: 0, kept: 0 };
  const examples: Example[] = [];
  const families = await trainingFamilies(client);
  const queues = options.levels.flatMap((level) => families.map((family) => ({ level, family })));
  const shares = evenShares(options.tasks, queues.length);
  let done = 0;
  for (const [i, { level, family }] of queues.entries()) {
    const share = shares[i]!;
    for (let offset = 0; offset < share; offset += PAGE) {
      const limit = Math.min(PAGE, share - offset);
      const { tasks } = await client.tasks({ split: 'train', level, family, limit, offset });
      const samples = await proposeAndScore(client, tasks, options);
      store.recordTeacherSamples(options.run_id, samples);
      examples.push(...toExamples(tasks, samples));
      addTotals(totals, samples);
      done += tasks.length;
      onProgress(done, {
        reward: totals.reward / totals.proposed,
        kept: totals.kept / totals.proposed,
      });
    }
  }
  if (examples.length === 0) {
    throw new Error(`no proposal reached a reward of ${options.min_reward}: lower --min-reward or raise --samples`);
  }
  return examples;
}

/** `total` in `parts` whole numbers that differ by at most one, the larger ones first. */
function evenShares(total: number, parts: number): number[] {
  return Array.from({ length: parts }, (_, i) => Math.floor(total / parts) + Number(i < total % parts));
}

/** The families that training tasks exist for. */
export async function trainingFamilies(client: Client): Promise<Family[]> {
  const pages = await Promise.all(FAMILIES.map((family) => client.tasks({ split: 'train', family, limit: 1 })));
  return FAMILIES.filter((_, i) => pages[i]!.total > 0);
}

async function proposeAndScore(
  client: Client,
  tasks: readonly PublicTask[],
  options: TeachOptions,
): Promise<TeacherSampleRecord[]> {
  const proposals = tasks.flatMap((task) => {
    const teacher = createScriptedTeacher(createRng(hash64('teacher', options.seed, task.task_id)), {
      flaw_rate: options.flaw_rate,
    });
    const completions = teacher.propose({ prompt: task.prompt, canvas_size: task.canvas }, options.samples);
    return completions.map((completion, sample) => ({ task, teacher, completion, sample }));
  });
  const items = proposals.map(({ task, completion }) => ({ task_id: task.task_id, completion }));
  const scored = await scoreCompletions(client, items, options.reward);
  const samples = proposals.map(({ task, teacher, completion, sample }, i) => ({
    task_id: task.task_id,
    prompt: task.prompt,
    provider: 'scripted',
    model: teacher.name,
    sample,
    completion,
    reward_preset: options.reward,
    ...scored[i]!,
    accepted: false,
  }));
  return selectSurvivors(samples, options);
}

/** Marks the best `keep` distinct completions of each task that reach `min_reward`, earlier ones first among equals. */
export function selectSurvivors(
  samples: readonly Omit<TeacherSampleRecord, 'reject_reason'>[],
  { keep, min_reward }: Pick<TeachOptions, 'keep' | 'min_reward'>,
): TeacherSampleRecord[] {
  const kept = new Map<string, Set<string>>();
  const decided = new Map<(typeof samples)[number], string | undefined>();
  for (const sample of [...samples].sort((a, b) => (b.reward ?? -1) - (a.reward ?? -1))) {
    const of = kept.get(sample.task_id) ?? new Set<string>();
    kept.set(sample.task_id, of);
    const reason = rejectReason(sample, of, { keep, min_reward });
    if (reason === undefined) of.add(sample.completion);
    decided.set(sample, reason);
  }
  return samples.map((sample) => {
    const reason = decided.get(sample);
    return reason === undefined ? { ...sample, accepted: true } : { ...sample, accepted: false, reject_reason: reason };
  });
}

function rejectReason(
  { reward, completion }: Pick<TeacherSampleRecord, 'reward' | 'completion'>,
  kept: ReadonlySet<string>,
  { keep, min_reward }: Pick<TeachOptions, 'keep' | 'min_reward'>,
): string | undefined {
  if (reward === null) return 'not_scored';
  if (reward < min_reward) return 'low_reward';
  if (kept.has(completion)) return 'duplicate';
  return kept.size >= keep ? 'not_among_best' : undefined;
}

function toExamples(tasks: readonly PublicTask[], samples: readonly TeacherSampleRecord[]): Example[] {
  const byId = new Map(tasks.map((task) => [task.task_id, task]));
  return samples.flatMap(({ accepted, task_id, completion, reward }) => {
    const task = byId.get(task_id);
    return accepted && task ? [{ task_id, prompt: toFirstPrompt(task), completion, reward: reward ?? 0 }] : [];
  });
}

function addTotals(
  totals: { proposed: number; reward: number; kept: number },
  samples: readonly TeacherSampleRecord[],
): void {
  for (const { reward, accepted } of samples) {
    if (reward === null) continue; // not scored: neither good nor bad
    totals.proposed += 1;
    totals.reward += reward;
    if (accepted) totals.kept += 1;
  }
}
