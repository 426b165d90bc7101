/**
 * Examples: a task, and side by side what each policy drew, what it earned, why it lost points, and what it said. A
 * picture is an image with its SVG inside, so that nothing in it can run or reach out.
 */
import type { Drawing, Example, Strip } from './data.ts';
import { fixed, html, policyName, signed, type Html } from './html.ts';

/** Reasons shown of a drawing, the largest losses first; one that would read −0.00 is none. */
const MOST_REASONS = 4;
const LEAST_LOST = 0.005;
const LONGEST_PROMPT = 420;
/** Characters shown of what a policy said. */
const LONGEST_SAID = 6000;

export function examplesSection(title: string, lead: string, examples: readonly Example[]): Html {
  if (examples.length === 0) return html``;
  return html`<section>
    <h2>${title}</h2>
    <p class="lead">${lead}</p>
    ${examples.map(exampleCard)}
  </section>`;
}

function exampleCard({ task_id, prompt, drawings }: Example): Html {
  return html`<article class="task">
    <p class="prompt"><code>${task_id}</code> ${shortened(prompt)}</p>
    <div class="strip">${drawings.map(drawingFigure)}</div>
  </article>`;
}

/** Examples of a single policy, side by side. */
export function gallery(examples: readonly Example[]): Html {
  if (examples.length === 0) return html``;
  const cards = examples.map(
    ({ task_id, prompt, drawings }) =>
      html`<article class="task">
        <p class="prompt"><code>${task_id}</code> ${shortened(prompt)}</p>
        ${drawings.map(drawingFigure)}
      </article>`,
  );
  return html`<div class="strip">${cards}</div>`;
}

/** The same task at successive versions, left to right: pictures and rewards alone, since the reasons stand elsewhere. */
export function stripSection(strips: readonly Strip[]): Html {
  if (strips.length === 0) return html``;
  return html`<section>
    <h2>The same task at successive policy versions</h2>
    <p class="lead">
      Validation tasks, which no policy is trained on, drawn with the likeliest tokens as REINFORCE goes on: those of
      different families that gained most from the first version to the last, and the one that lost most where one did.
      RL-0 is the policy it began with. Under each picture stands its reward under graded.
    </p>
    ${strips.map(stripCard)}
  </section>`;
}

function stripCard({ task_id, prompt, change, drawings }: Strip): Html {
  const frames = drawings.map(({ policy, svg, reward }) => {
    return html`<li>
      ${picture(svg, `drawn by ${policyName(policy)}, reward ${fixed(reward, 2)}`)}
      <span>${policyName(policy)} <b class="${gradeOf(reward)}">${fixed(reward, 2)}</b></span>
    </li>`;
  });
  return html`<article class="task">
    <p class="prompt">
      <code>${task_id}</code> ${shortened(prompt)}
      <small>changed by <b class="${change < 0 ? 'low' : 'high'}">${signed(change, 2)}</b></small>
    </p>
    <ol class="film" tabindex="0" aria-label="${task_id} at ${drawings.length} policy versions">
      ${frames}
    </ol>
  </article>`;
}

function drawingFigure(drawing: Drawing): Html {
  const { policy, svg, reward } = drawing;
  return html`<figure class="drawing">
    ${picture(svg, `drawn by ${policyName(policy)}`)}
    <figcaption>${policyName(policy)} <b class="${gradeOf(reward)}">${fixed(reward, 2)}</b></figcaption>
    ${lossList(drawing)} ${saidBlock(drawing)}
  </figure>`;
}

/** Why points were lost; then the errors that no reason speaks of. */
function lossList({ reasons, errors }: Drawing): Html {
  const large = reasons.filter(({ lost }) => lost >= LEAST_LOST);
  const shown = large.sort((a, b) => b.lost - a.lost).slice(0, MOST_REASONS);
  const unsaid = errors.filter(({ message }) => !reasons.some((reason) => reason.message.includes(message)));
  const rows = [
    ...shown.map((reason) => html`<li><b>${reason.component} −${fixed(reason.lost, 2)}</b> ${reason.message}</li>`),
    ...unsaid.slice(0, 2).map(({ code, message }) => html`<li><b>${code}</b> ${message}</li>`),
  ];
  if (rows.length === 0) return html``;
  return html`<ul>
    ${rows}
  </ul>`;
}

function saidBlock({ said, is_cut }: Drawing): Html {
  const note = is_cut ? ', cut at the longest length' : '';
  const shown = said.length <= LONGEST_SAID ? said : `${said.slice(0, LONGEST_SAID)} …`;
  return html`<details class="said">
    <summary>what it said: ${said.length} characters${note}</summary>
    <pre>${shown}</pre>
  </details>`;
}

function picture(svg: string | undefined, alt: string): Html {
  if (svg === undefined) return html`<div class="nothing">nothing was drawn</div>`;
  const data = Buffer.from(svg, 'utf8').toString('base64');
  return html`<img alt="${alt}" src="data:image/svg+xml;base64,${data}" />`;
}

function gradeOf(reward: number | null): string {
  if (reward === null) return 'none';
  return reward >= 0.8 ? 'high' : reward >= 0.5 ? 'middle' : 'low';
}

function shortened(prompt: string): string {
  return prompt.length <= LONGEST_PROMPT ? prompt : `${prompt.slice(0, LONGEST_PROMPT).trimEnd()} …`;
}
