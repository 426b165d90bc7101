/** The table of rewards: one row a policy, one column a preset, mean and standard error. */
import { PRESETS } from '../schemas/reward.ts';
import type { EvaluationRow } from './evaluate.ts';

/** Lines of plain text, columns aligned. */
export function toRewardTable(rows: readonly EvaluationRow[]): string[] {
  const head = ['policy', 'tasks', ...PRESETS, 'valid JSON', 'no errors'];
  const body = rows.map((row) => [
    row.policy,
    String(row.tasks),
    ...PRESETS.map((preset) => `${row.mean[preset].toFixed(3)} ±${row.standard_error[preset].toFixed(3)}`),
    `${(100 * row.valid_json).toFixed(1)} %`,
    `${(100 * row.no_errors).toFixed(1)} %`,
  ]);
  const lines = [head, ...body];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  return lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
}
