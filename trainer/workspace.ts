/**
 * What every stage works in: a run folder, the log, a client of the environment, and a way to show progress. Opening one
 * takes up an unfinished run of the same command and settings; closing it says in the log how the run ended.
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { openStore, StoreError, type Store } from '../clients/store/index.ts';
import { ConnectionError, createClient, type Client } from '../clients/ts/index.ts';
import {
  SHARED_SETTINGS,
  toPrintable,
  type CommandContext,
  type Progress,
  type SettingsSchema,
} from '../schemas/settings.ts';
import { BACKEND_NAMES, createBackend, type BackendName } from './backend.ts';
import { explainMemory } from './backends/memory.ts';
import { Diverged } from './divergence.ts';
import { createCompute, defaultThreads, type Compute } from './pool/compute.ts';
import { openRun, type RunFolder } from './run.ts';

/** Settings that every stage has. */
export const WORKSPACE_SETTINGS = {
  ...SHARED_SETTINGS,
  run_id: z
    .string()
    .min(1)
    .optional()
    .describe('Name of the run; without it an unfinished one is taken up or one is made'),
  seed: z.number().int().min(0).default(1).describe('Seed of everything random'),
};

/** The settings of every stage that computes. */
export const BACKEND_SETTING = {
  backend: z.enum(BACKEND_NAMES).default('auto').describe('Where the numbers are computed'),
  threads: z.number().int().min(1).default(defaultThreads()).meta({
    description: 'Threads that share the work; one number of them always gives the same bytes',
    unit: 'threads',
  }),
};

export interface Workspace {
  url: string;
  client: Client;
  store: Store;
  run: RunFolder;
  progress: Progress;
  out: (line: string) => void;
  /** Whether the user asked to stop: keep what is done, then `throw new Interrupted(...)`. */
  shouldStop: () => boolean;
  /** Has something closed when the work is over, however it ends. */
  defer: (close: () => Promise<void>) => void;
}

/** Repetitions of a request while a run is under way: about a minute and a half, for a server that is started anew. */
const PATIENT_RETRIES = 20;

interface WorkspaceSettings {
  url?: string | undefined;
  db: string;
  runs: string;
  run_id?: string | undefined;
  seed: number;
}

/** The user asked to stop, and what was done is kept. */
export class Interrupted extends Error {
  readonly code = 'interrupted';
  constructor(where: string) {
    super(`interrupted at ${where}; the same command goes on from there`);
  }
}

/** A command by its name, and what its settings mean: which of them are secret. */
interface Named {
  name: string;
  schema: SettingsSchema;
}

/**
 * Runs a command's work in a workspace and leaves nothing open, however it ends. Run folder and log hold the settings
 * without secrets.
 * @param work Returns the summary that closes the run.
 */
export async function withWorkspace(
  { name: command, schema }: Named,
  settings: WorkspaceSettings & Record<string, unknown>,
  context: CommandContext,
  work: (workspace: Workspace) => Promise<Record<string, unknown>>,
): Promise<void> {
  const { url, db, runs, run_id, ...rest } = settings;
  const config = toPrintable(schema, rest);
  const run = openRun({ root: runs, command, settings: config, run_id });
  mkdirSync(dirname(db), { recursive: true });
  try {
    const store = openStore(db);
    try {
      const { git_commit } = run;
      store.createRun({ run_id: run.run_id, command, config, seed: String(settings.seed), git_commit });
      await inRun(run, store, url, context, work);
    } finally {
      store.close();
    }
  } finally {
    run.release();
  }
}

async function inRun(
  run: RunFolder,
  store: Store,
  url: string | undefined,
  context: CommandContext,
  work: (workspace: Workspace) => Promise<Record<string, unknown>>,
): Promise<void> {
  try {
    run.assertNotDiverged();
    const server = url === undefined ? await context.startServer() : { url, close: () => Promise.resolve() };
    const closing = [() => server.close()];
    try {
      await createClient({ url: server.url }).health(); // a wrong address fails at once
      const client = createClient({ url: server.url, retries: PATIENT_RETRIES });
      const { progress, out } = context;
      const shouldStop = (): boolean => context.signal.aborted;
      const defer = (close: () => Promise<void>): void => void closing.push(close);
      const summary = await work({ url: server.url, client, store, run, progress, out, shouldStop, defer });
      store.finishRun(run.run_id, 'done', summary); // first: a run that has its summary.json is never taken up again
      run.writeSummary(summary);
    } finally {
      for (const close of closing.reverse()) await close();
    }
  } catch (error) {
    if (error instanceof Diverged) run.writeDivergence(error);
    noteEnd(store, run, context.signal.aborted ? 'interrupted' : 'failed', error);
    throw withAdvice(explainMemory(error));
  }
}

/** Says in the log how a run ended, if the log can be written: it may be what failed. */
function noteEnd(store: Store, run: RunFolder, status: 'interrupted' | 'failed', error: unknown): void {
  try {
    store.finishRun(run.run_id, status, { error: error instanceof Error ? error.message : String(error) });
  } catch (failure) {
    if (!(failure instanceof StoreError)) throw failure; // the first error says more than that the log is out of reach
  }
}

/** Where only the world outside failed, the run can go on: say so. */
function withAdvice(error: unknown): unknown {
  const isOutside =
    error instanceof ConnectionError ||
    (error instanceof StoreError && ['busy', 'disk_full', 'no_access'].includes(error.code));
  if (!isOutside) return error;
  return new Error(`${error.message}; the same command goes on from the last checkpoint`, { cause: error });
}

/**
 * Loads the backend, starts its threads and says what computes.
 * @throws BackendUnavailable with what to install
 */
export async function openCompute(
  { out, defer }: Workspace,
  settings: { backend: BackendName; threads: number },
): Promise<Compute> {
  const backend = await createBackend(settings.backend);
  const compute = await createCompute(backend, settings.threads);
  defer(() => compute.close());
  out(`${backend.device}; ${settings.threads} ${settings.threads === 1 ? 'thread' : 'threads'}`);
  return compute;
}

/** Says which run this is, and whether it goes on where an earlier process stopped. */
export function announceRun({ run, url, out }: Workspace): void {
  out(`run ${run.run_id}${run.resumed ? ' (taken up again)' : ''}, environment ${url}`);
}
