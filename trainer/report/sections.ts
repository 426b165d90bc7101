/** The parts of the report that are tables and facts: verdict, rewards, teacher, settings, how to repeat it. */
import { PRESETS, type Preset } from '../../schemas/reward.ts';
import type { EvaluationRow } from '../evaluate.ts';
import { toDuration } from '../progress.ts';
import type { EvaluationFacts, ReportData, TeacherFacts } from './data.ts';
import { gallery } from './drawings.ts';
import { fixed, html, percent, policyName, signed, time, type Html } from './html.ts';
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

export function rewardsSection(evaluation: EvaluationFacts | undefined): Html {
  if (!evaluation) return html``;
  const { tasks, rows, difference } = evaluation;
  return html`<section>
    <h2>Rewards</h2>
    <p class="lead">
      Mean reward ± one standard error on ${tasks}, which none of the policies was trained on. Each completion is scored
      under every preset; <b>graded</b> is the one trained on and the one to judge by.
    </p>
    <div class="scroll" tabindex="0" role="region" aria-label="Rewards by policy">
      <table class="rewards">
        <thead>
          <tr>
            <th scope="col">policy</th>
            ${PRESETS.map((preset) => html`<th scope="col">${preset}</th>`)}
            <th scope="col">valid JSON</th>
            <th scope="col">no errors</th>
          </tr>
        </thead>
        <tbody>
          ${rows.map(rewardRow)} ${difference ? differenceRow(difference) : html``}
        </tbody>
      </table>
    </div>
  </section>`;
}

function rewardRow({ policy, mean, standard_error, valid_json, no_errors }: EvaluationRow): Html {
  const cells = PRESETS.map((preset) => {
    const share = Math.round(100 * Math.min(1, Math.max(0, mean[preset])));
    return html`<td class="bar" style="--share:${share}%">
      <b>${fixed(mean[preset])}</b> <small>± ${fixed(standard_error[preset])}</small>
    </td>`;
  });
  return html`<tr>
    <th scope="row">${policyName(policy)}</th>
    ${cells}
    <td>${percent(valid_json)}</td>
    <td>${percent(no_errors)}</td>
  </tr>`;
}

function differenceRow({ from, to, by_preset }: NonNullable<EvaluationFacts['difference']>): Html {
  const cells = PRESETS.map((preset: Preset) => {
    const { mean, standard_error, z } = by_preset[preset];
    const kind = z >= 2 ? 'up' : z <= -2 ? 'down' : 'same';
    return html`<td class="${kind}"><b>${signed(mean)}</b> <small>± ${fixed(standard_error)}</small></td>`;
  });
  return html`<tr class="difference">
    <th scope="row">${policyName(to)} − ${policyName(from)}<small>paired by task</small></th>
    ${cells}
    <td></td>
  </tr>`;
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
