/**
 * The report of a run: one HTML file that opens offline, without scripts, in light, dark and on paper.
 *
 *   writeFileSync('report.html', renderReport(await loadReport(store, client, { db, runs }, run_id)));
 *
 * Pure: the same data give the same bytes.
 */
import type { ReportData } from './report/data.ts';
import { componentsSection } from './report/components.ts';
import { curvesSection } from './report/curves.ts';
import { examplesSection, stripSection } from './report/drawings.ts';
import { evaluationSection } from './report/evaluation.ts';
import { html } from './report/html.ts';
import { header, settingsSection, teacherSection } from './report/sections.ts';
import { STYLE } from './report/style.ts';
import { timesSection } from './report/times.ts';

/** Nothing may be loaded or run, whatever a label or a log holds. */
const POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'";

/** What the tasks that all policies drew are; the teacher draws with deliberate faults, so its part is said. */
function comparedLead({ comparisons }: ReportData): string {
  const hasTeacher = comparisons.some(({ drawings }) => drawings.some(({ policy }) => policy === 'teacher'));
  const choice = hasTeacher ? ', where possible one whose drawing by the teacher would have been kept for SFT' : '';
  return `Unseen tasks, one of each family${choice}. The number is the reward under graded.`;
}

const BEST = 'The unseen tasks on which the last policy earned most, drawn by each trained policy.';
const WORST =
  'The unseen tasks on which the last policy earned least, drawn by each trained policy, and what points were lost for.';

export function renderReport(data: ReportData): string {
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta http-equiv="Content-Security-Policy" content="${POLICY}" />
        <title>${data.run.run_id} · canvas-gym</title>
        <style>
          ${{ markup: STYLE }}
        </style>
      </head>
      <body>
        ${header(data)} ${evaluationSection(data.evaluation)} ${stripSection(data.strip)}
        ${examplesSection('The same tasks, drawn by each policy', comparedLead(data), data.comparisons)}
        ${teacherSection(data.teacher)} ${curvesSection(data.curves, data.alarms)} ${componentsSection(data.curves)}
        ${examplesSection('Best episodes', BEST, data.best)} ${examplesSection('Worst episodes', WORST, data.worst)}
        ${timesSection(data.stages, data.curves)} ${settingsSection(data)}
      </body>
    </html> `;
  return page.markup;
}
