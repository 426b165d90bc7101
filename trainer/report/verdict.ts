/** What the figures say in one sentence, and what should worry the reader. */
import type { Preset } from '../../schemas/reward.ts';
import { mean, standardError } from '../statistics.ts';
import type { Curve, ReportData } from './data.ts';
import { fixed, policyName, signed } from './html.ts';

/** The preset that decides; it is the one the trainer trains on. */
const DECIDING: Preset = 'graded';
/** A difference counts from two standard errors on. */
const CLEAR = 2;

export interface Verdict {
  kind: 'better' | 'worse' | 'unclear' | 'incomplete';
  headline: string;
  alarms: readonly string[];
}

export function toVerdict(data: ReportData): Verdict {
  const difference = data.evaluation?.difference;
  const alarms = toAlarms(data);
  if (!difference) return { kind: 'incomplete', headline: 'No comparison of policies has been made yet.', alarms };
  const { by_preset } = difference;
  const [from, to] = [policyName(difference.from), policyName(difference.to)];
  const { mean: gain, standard_error, z } = by_preset[DECIDING];
  const figures = `${signed(gain)} ± ${fixed(standard_error)} ${DECIDING} on the same unseen tasks`;
  if (z >= CLEAR) return { kind: 'better', headline: `${to} draws better than ${from}: ${figures}.`, alarms };
  if (z <= -CLEAR) return { kind: 'worse', headline: `${to} draws worse than ${from}: ${figures}.`, alarms };
  return { kind: 'unclear', headline: `No clear difference between ${to} and ${from}: ${figures}.`, alarms };
}

function toAlarms(data: ReportData): string[] {
  const alarms: string[] = [];
  const rise = changeOf(data.curves.find(({ stage, name }) => stage === 'reinforce' && name === 'episode/return'));
  const held = data.evaluation?.difference?.by_preset[DECIDING];
  if (rise !== undefined && rise > 0 && held && held.z <= -CLEAR) {
    alarms.push('The training reward rose while the reward on unseen tasks fell: the policy may be gaming the reward.');
  }
  if (data.run.status === 'failed') alarms.push('The run failed; what is shown ends where it stopped.');
  const low =
    data.evaluation?.rows.filter(({ valid_json }) => valid_json < 0.9).map(({ policy }) => policyName(policy)) ?? [];
  if (low.length > 0) alarms.push(`Less than 90 % of the completions are valid: ${low.join(', ')}.`);
  return alarms;
}

/** Last quarter of a curve less its first quarter, where that is at least two standard errors; else 0. */
function changeOf(curve: Curve | undefined): number | undefined {
  if (!curve || curve.points.length < 8) return undefined;
  const values = curve.points.map(({ value }) => value);
  const quarter = Math.floor(values.length / 4);
  const [early, late] = [values.slice(0, quarter), values.slice(-quarter)];
  const change = mean(late) - mean(early);
  return Math.abs(change) >= CLEAR * Math.hypot(standardError(early), standardError(late)) ? change : 0;
}
