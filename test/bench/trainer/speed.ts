/**
 * Training, sampling and GEMM peak: `train_wasm`, `train_tfjs_node`, `gemm_share`, `sample_b1`, `sample_b16`, `sample_b64`, and
 * the peak memory of each. PyTorch computes the same model on the same batches with the same optimizer, which is checked:
 * the losses of the first steps must agree, or there is no ratio.
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { createBackend, type BackendName } from '../../../trainer/backend.ts';
import { ROOT } from '../../rules/files.ts';
import { say, type BenchOptions } from '../command.ts';
import { median, row, type Row } from '../rows.ts';
import { openSide, type Side } from './side.ts';
import { NO_TORCH, openTorch } from './torch.ts';
import { BENCH_CONFIG, createWorkload, tokensOf, trainingFlops, writeWorkload } from './workload.ts';

/** Both sides get all cores. */
const THREADS = availableParallelism();
const FOLDER = join(ROOT, '.cache/bench/speed');
const GOALS = { train_wasm: '>= .65', train_tfjs_node: '>= .8', sample_b64: '>= 2.5' } as const;

const LOSSES = { losses: z.record(z.string(), z.array(z.number())) };
const RATE = { per_s: z.number().positive(), way: z.string() };
const CHECKED_STEPS = 4;
/** How far the losses of one step may differ, nats. */
const TOLERANCE = 1e-3;

async function files(): Promise<{ workload: string; checkpoint: string }> {
  return writeWorkload(FOLDER, await createBackend('wasm'));
}

function openOurs(backend: BackendName, { checkpoint, workload }: { checkpoint: string; workload: string }): Side {
  const script = join(import.meta.dirname, 'ours.ts');
  return openSide(process.execPath, ['--import', 'tsx', script, checkpoint, workload, backend, String(THREADS)]);
}

interface Rate {
  per_s: number;
  way: string;
  peak_rss_mb: number;
}

/** What one side did in each round. */
interface Measured {
  rates: Rate[];
}

const perSecond = ({ rates }: Measured): number => median(rates.map(({ per_s }) => per_s));
const peak = ({ rates }: Measured): number => Math.max(...rates.map(({ peak_rss_mb }) => peak_rss_mb));
const wayOf = ({ rates }: Measured): string => rates.at(-1)!.way;

/** Asks the sides in turn, `rounds` times each. */
async function alternate(
  sides: readonly (Side | undefined)[],
  request: Record<string, unknown>,
  { rounds, seconds }: BenchOptions,
): Promise<(Measured | undefined)[]> {
  const measured = sides.map((side) => side && { rates: [] as Rate[] });
  for (let round = 0; round < rounds; round++) {
    for (const [i, side] of sides.entries()) {
      if (side) measured[i]!.rates.push(await side.ask({ ...request, seconds }, RATE));
    }
  }
  return measured;
}

/** @throws Error where two sides do not train alike */
export function assertSameLosses(losses: Readonly<Record<string, readonly number[]>>): void {
  const [[first, expected] = ['', []], ...others] = Object.entries(losses);
  for (const [name, got] of others) {
    const step = expected.findIndex((loss, i) => !(Math.abs(loss - got[i]!) <= TOLERANCE));
    if (step !== -1) {
      throw new Error(
        `step ${step + 1}: ${name} has loss ${got[step]}, ${first} ${expected[step]}; they do not compare`,
      );
    }
  }
}

/** Training on one backend, against PyTorch in the same rounds; and on wasm the share of the machine's GEMM peak. */
async function train(
  name: 'train_wasm' | 'train_tfjs_node',
  backend: BackendName,
  options: BenchOptions,
): Promise<Row[]> {
  const places = await files();
  const ours = openOurs(backend, places);
  const torch = openTorch('worker.py', [places.checkpoint, places.workload, '--threads', String(THREADS)]);
  try {
    const request = { do: 'losses', steps: CHECKED_STEPS };
    const [mine, theirs] = [await ours.ask(request, LOSSES), await torch?.ask(request, LOSSES)];
    assertSameLosses({ ...mine.losses, ...theirs?.losses });
    const [a, b] = (await alternate([ours, torch], { do: 'train' }, options)) as [Measured, Measured | undefined];
    const note = `${wayOf(a)}; ${b ? `${wayOf(b)}, losses agree to ${TOLERANCE}` : NO_TORCH}`;
    const rows = [
      row(name, perSecond(a), 'tokens/s', b ? perSecond(b) : null, note, GOALS[name]),
      row(`${name}_rss`, peak(a), 'MiB', b ? peak(b) : null, 'peak memory of the process, training'),
    ];
    if (name === 'train_wasm' && torch && b) rows.push(await gemmShare(torch, perSecond(a), perSecond(b), options));
    return rows;
  } finally {
    await Promise.all([ours.close(), torch?.close()]);
  }
}

/** Operations a second that training needs, over those of the machine's best matrix product. */
async function gemmShare(torch: Side, ours: number, theirs: number, options: BenchOptions): Promise<Row> {
  const [gemm] = (await alternate([torch], { do: 'gemm' }, options)) as [Measured];
  const peakFlops = perSecond(gemm) * 1e9;
  const batch = createWorkload().batches[0]!;
  const perToken = trainingFlops(BENCH_CONFIG, batch) / tokensOf(batch);
  const share = (tokensPerSecond: number): number => (tokensPerSecond * perToken) / peakFlops;
  const note = `of ${perSecond(gemm).toFixed(0)} GFLOPS (${wayOf(gemm)}), ${(perToken / 1e6).toFixed(2)} MFLOP a token`;
  return row('gemm_share', share(ours), 'of peak', share(theirs), note);
}

export const trainWasm = (options: BenchOptions): Promise<Row[]> => train('train_wasm', 'wasm', options);

export async function trainTfjsNode(options: BenchOptions): Promise<Row[]> {
  const backend = 'tfjs-node';
  const missing = await unavailable(backend);
  if (missing === undefined) return train('train_tfjs_node', backend, options);
  say(`train_tfjs_node skipped: ${missing}`);
  return [];
}

/** Why a backend does not run here; undefined where it does. */
async function unavailable(backend: BackendName): Promise<string | undefined> {
  try {
    await createBackend(backend);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const BATCHES = [1, 16, 64] as const;

/** Sampling at one batch size after another, against transformers.generate. */
export async function sample(options: BenchOptions): Promise<Row[]> {
  const places = await files();
  const ours = openOurs('wasm', places);
  const torch = openTorch('worker.py', [places.checkpoint, places.workload, '--threads', String(THREADS)]);
  try {
    const rows: Row[] = [];
    for (const batch of BATCHES) {
      say(`  batch ${batch} ...`);
      const request = { do: 'sample', batch };
      const [a, b] = (await alternate([ours, torch], request, options)) as [Measured, Measured | undefined];
      const note = `${wayOf(a)}; ${b ? `transformers.generate, ${wayOf(b)}` : NO_TORCH}`;
      const goal = batch === 64 ? GOALS.sample_b64 : undefined;
      rows.push(row(`sample_b${batch}`, perSecond(a), 'tokens/s', b ? perSecond(b) : null, note, goal));
      if (batch === 64) {
        rows.push(row('sample_rss', peak(a), 'MiB', b ? peak(b) : null, 'peak memory of the process, sampling'));
      }
    }
    return rows;
  } finally {
    await Promise.all([ours.close(), torch?.close()]);
  }
}
