/** What the figures say in one sentence, and what should worry the reader. */
import type { Preset } from '../../schemas/reward.ts';
import { toAlarmLine } from '../alarms.ts';
import type { Comparison, EvaluationSummary } from '../summary.ts';
import type { ReportData } from './data.ts';
import { fixed, policyName, signed } from './html.ts';

/** The preset that decides. */
const DECIDING: Preset = 'graded';
/** A difference counts from two standard errors on. */
const CLEAR = 2;

export interface Verdict {
  kind: 'better' | 'worse' | 'unclear' | 'incomplete';
  headline: string;
  alarms: readonly string[];
}

export function toVerdict(data: ReportData): Verdict {
  const comparison = decidingComparison(data.evaluation);
  const alarms = toAlarms(data);
  if (!comparison) return { kind: 'incomplete', headline: 'No comparison of policies has been made yet.', alarms };
  const [from, to] = [policyName(comparison.above), policyName(comparison.policy)];
  const { mean: gain, standard_error, z } = comparison.rewards[DECIDING];
  const figures = `${signed(gain)} ± ${fixed(standard_error)} ${DECIDING} on the same unseen tasks`;
  if (z >= CLEAR) return { kind: 'better', headline: `${to} draws better than ${from}: ${figures}.`, alarms };
  if (z <= -CLEAR) return { kind: 'worse', headline: `${to} draws worse than ${from}: ${figures}.`, alarms };
  return { kind: 'unclear', headline: `No clear difference between ${to} and ${from}: ${figures}.`, alarms };
}

/** The last trained policy against the first, over all splits. */
function decidingComparison(evaluation: EvaluationSummary | undefined): Comparison | undefined {
  const group = evaluation?.overall ?? evaluation?.splits[0];
  const isSampled = (policy: string): boolean => policy !== 'teacher' && !policy.endsWith(' greedy');
  const trained = (group?.policies ?? []).map(({ policy }) => policy).filter(isSampled);
  const [first, last] = [trained[0], trained.at(-1)];
  return group?.comparisons.find(({ policy, above }) => policy === last && above === first);
}

function toAlarms(data: ReportData): string[] {
  const alarms = data.alarms.map((alarm) => `Reward hacking? ${toAlarmLine(alarm)}.`);
  if (data.run.status === 'failed') alarms.push('The run failed; what is shown ends where it stopped.');
  const policies = (data.evaluation?.overall ?? data.evaluation?.splits[0])?.policies ?? [];
  const low = policies.filter(({ valid_json }) => valid_json < 0.9).map(({ policy }) => policyName(policy));
  if (low.length > 0) alarms.push(`Less than 90 % of the completions are valid: ${low.join(', ')}.`);
  return alarms;
}
