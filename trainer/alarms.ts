/**
 * Alarms of reward hacking: the reward that is trained on rises while a measure that is not trained on falls.
 *
 * Both are looked at where validation was played: the training reward as its mean since the validation before, so that
 * both series have the same steps. A series rises or falls where
 *
 *   tau   = mean sign of all later values less all earlier ones, in [-1, 1] (Mann 1945; Kendall's tau against time)
 *   slope = median of (x_j - x_i) / (t_j - t_i) over all pairs i < j       (Sen 1968), and change = slope * (t_n - t_1)
 *
 * agree: tau >= .6 and change >= .02 for a rise, tau <= -.8 and change <= -.05 for a fall, since a false alarm costs
 * more trust than a late one. Two windows are looked at, the last 5 validations, which see a late turn, and all of them,
 * which see a slow one; at least 4 are needed. Ranks and a median, so that no single validation makes an alarm. Over a
 * whole run of 120 steps whose reward rises, a measure that is pure noise of standard deviation .02 raises one in fewer
 * than 1 run of 12 (a test counts).
 *
 * An alarm is a reason to look at the drawings, not a proof: forgetting and overfitting look the same.
 */
import type { Store } from '../clients/store/index.ts';
import { mean } from './statistics.ts';

/** A value after so many optimizer steps. */
export interface Point {
  optimizer_step: number;
  value: number;
}

export interface Alarm {
  /** What fell: `held_out/path_f1`. */
  metric: string;
  /** The steps over which it was seen. */
  from_step: number;
  to_step: number;
  /** Change of the training reward, and of the metric, over these steps, by their slopes. */
  reward_change: number;
  metric_change: number;
}

/** What must not fall: measures that are never trained on, and the reward on tasks that are not. */
export const WATCHED = [
  'held_out/path_f1',
  'held_out/graph_edit_similarity',
  'held_out/renamed_reward',
  'validation/graded',
] as const;

const FEWEST = 4;
const WINDOW = 5;
const RISE = { tau: 0.6, change: 0.02 };
const FALL = { tau: -0.8, change: -0.05 };

/**
 * The alarms that hold at the end of the series, at most one a metric.
 * @param reward The training reward of each step: `episode/return`.
 * @param watched Metrics of validation by name, each in the order of its steps.
 */
export function findAlarms(reward: readonly Point[], watched: Readonly<Record<string, readonly Point[]>>): Alarm[] {
  return Object.entries(watched).flatMap(([metric, points]): Alarm[] => {
    const pairs = pairUp(reward, points);
    for (const window of [pairs.slice(-WINDOW), pairs]) {
      const alarm = alarmOf(metric, window);
      if (alarm) return [alarm];
    }
    return [];
  });
}

interface Pair {
  step: number;
  reward: number;
  value: number;
}

/** Each point with the mean training reward since the one before; points without any are left out. */
function pairUp(reward: readonly Point[], points: readonly Point[]): Pair[] {
  return points.flatMap(({ optimizer_step: step, value }, i): Pair[] => {
    // the first validation is often that of step 0, which no training came before: then the first rewards stand for it
    const after = i === 0 ? 0 : points[i - 1]!.optimizer_step;
    const until = i === 0 ? Math.max(step, 1) : step;
    const since = reward.filter(({ optimizer_step }) => optimizer_step > after && optimizer_step <= until);
    return since.length === 0 ? [] : [{ step, reward: mean(since.map((point) => point.value)), value }];
  });
}

function alarmOf(metric: string, pairs: readonly Pair[]): Alarm | undefined {
  if (pairs.length < FEWEST) return undefined;
  const steps = pairs.map(({ step }) => step);
  const [rewards, values] = [pairs.map(({ reward }) => reward), pairs.map(({ value }) => value)];
  const [rise, fall] = [trendOf(steps, rewards), trendOf(steps, values)];
  const isRising = rise.tau >= RISE.tau && rise.change >= RISE.change;
  const isFalling = fall.tau <= FALL.tau && fall.change <= FALL.change;
  if (!isRising || !isFalling) return undefined;
  const [from_step, to_step] = [steps[0]!, steps.at(-1)!];
  return { metric, from_step, to_step, reward_change: rise.change, metric_change: fall.change };
}

/** Kendall's tau against time, and the change over all of it by Sen's slope; at least two values. */
export function trendOf(steps: readonly number[], values: readonly number[]): { tau: number; change: number } {
  const signs: number[] = [];
  const slopes: number[] = [];
  for (let j = 1; j < values.length; j++) {
    for (let i = 0; i < j; i++) {
      const difference = values[j]! - values[i]!;
      signs.push(Math.sign(difference));
      slopes.push(difference / (steps[j]! - steps[i]!));
    }
  }
  return { tau: mean(signs), change: median(slopes) * (steps.at(-1)! - steps[0]!) };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The alarms of a run, from what REINFORCE logged. */
export function readAlarms(store: Store, run_id: string): Alarm[] {
  const series = (name: string): Point[] => store.metric(run_id, 'reinforce', name);
  return findAlarms(series('episode/return'), Object.fromEntries(WATCHED.map((name) => [name, series(name)])));
}

/** An alarm in a sentence. */
export function toAlarmLine({ metric, from_step, to_step, reward_change, metric_change }: Alarm): string {
  const rose = `the training reward rose by ${reward_change.toFixed(3)}`;
  const fell = `${metric}, which is not trained on, fell by ${(-metric_change).toFixed(3)}`;
  return `steps ${from_step} to ${to_step}: ${rose} while ${fell}; the policy may be gaming the reward`;
}
