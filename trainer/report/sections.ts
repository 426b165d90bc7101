/** The parts of the report that are tables and facts: verdict, teacher, settings, how to repeat it. */
import { toDuration } from '../progress.ts';
import type { ReportData, TeacherFacts } from './data.ts';
import { gallery } from './drawings.ts';
import { fixed, html, time, type Html } from './html.ts';
import { totalOf } from './times.ts';
import { toVerdict } from './verdict.ts';

export function header(data: ReportData): Html {
  const { run } = data;
  const { kind, headline, alarms } = toVerdict(data);
  const facts = [
    ['command', run.command],
    ...(run.status === 'running' ? [] : [['status', run.status] as const]),
    ['started', time(run.started_at)],
    ['took', data.stages.length === 0 ? '–' : toDuration(totalOf(data.stages))],
    ['seed', run.seed ?? '–'],
    ['commit', run.git_commit ? run.git_commit.replace(/^([0-9a-f]{10})[0-9a-f]+/, '$1') : '–'],
  ] as const;
  return html`<header>
    <p class="brand">canvas-gym · run report</p>
    <h1>${run.run_id}</h1>
    <p class="verdict ${kind}">${headline}</p>
    ${alarms.map((alarm) => html`<p class="verdict alarm">${alarm}</p>`)}
    <dl class="facts">
      ${facts.map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>
  </header>`;
}

export function teacherSection(teacher: TeacherFacts | undefined): Html {
  if (!teacher) return html``;
  const { proposed, kept, mean_reward, kept_reward, rejected, examples } = teacher;
  const reasons = Object.entries(rejected).sort(([, a], [, b]) => b - a);
  const why = reasons.map(([reason, count]) => `${count} ${reason.replaceAll('_', ' ')}`).join(', ');
  return html`<section>
    <h2>Teacher</h2>
    <dl class="tiles">
      ${tile(String(proposed), 'completions proposed')} ${tile(String(kept), 'kept for SFT')}
      ${tile(fixed(mean_reward), 'mean reward of all')} ${tile(fixed(kept_reward), 'mean reward of those kept')}
    </dl>
    ${why === '' ? html`` : html`<p class="lead">Not kept: ${why}.</p>`}
    ${examples.length === 0 ? html`` : html`<p class="lead">The best of what was kept, which SFT learns from:</p>`}
    ${gallery(examples)}
  </section>`;
}

function tile(value: string, label: string): Html {
  return html`<div>
    <dt>${label}</dt>
    <dd>${value}</dd>
  </div>`;
}

export function settingsSection({ settings, repeat }: ReportData): Html {
  const rows = Object.entries(settings).map(([key, value]) => {
    const shown = typeof value === 'string' ? value : JSON.stringify(value);
    return html`<div>
      <dt><code>${key}</code></dt>
      <dd><code>${shown}</code></dd>
    </div>`;
  });
  return html`<section>
    <h2>Settings</h2>
    <dl class="settings">${rows}</dl>
    <h2>Do it again</h2>
    <p class="lead">The same commands with the same seed on the same backend give the same numbers.</p>
    <pre>${repeat.join('\n')}</pre>
  </section>`;
}
