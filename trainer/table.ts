/** The table of rewards: one row a policy, one column a preset, mean and standard error. */
import { PRESETS } from '../schemas/reward.ts';
import type { EvaluationRow } from './evaluate.ts';

/** Lines of plain text, the header first: columns as wide as their widest cell. */
export function toLines(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** The lines of the table, in the order of the rows. */
export function toRewardTable(rows: readonly EvaluationRow[]): string[] {
  const head = ['policy', 'tasks', ...PRESETS, 'valid JSON', 'no errors'];
  const body = rows.map((row) => [
    row.policy,
    String(row.tasks),
    ...PRESETS.map((preset) => `${row.mean[preset].toFixed(3)} ±${row.standard_error[preset].toFixed(3)}`),
    `${(100 * row.valid_json).toFixed(1)} %`,
    `${(100 * row.no_errors).toFixed(1)} %`,
  ]);
  return toLines(head, body);
}
