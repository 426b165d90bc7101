/**
 * Pictures: the same tasks drawn by every policy, and the best and worst episodes with the reasons of their rewards. A
 * picture is an image with its SVG inside, so that nothing in it can run or reach out.
 */
import type { Comparison, Drawing, EpisodeFacts } from './data.ts';
import { fixed, html, policyName, type Html } from './html.ts';

/** Reasons shown of an episode, the largest losses first. */
const MOST_REASONS = 4;
const LONGEST_PROMPT = 420;

export function comparisonsSection(comparisons: readonly Comparison[]): Html {
  if (comparisons.length === 0) return html``;
  const rows = comparisons.map(
    ({ task_id, prompt, drawings }) =>
      html`<article class="task">
        <p class="prompt"><code>${task_id}</code> ${shortened(prompt)}</p>
        <div class="strip">${drawings.map(drawingFigure)}</div>
      </article>`,
  );
  return html`<section>
    <h2>The same tasks, drawn by each policy</h2>
    <p class="lead">Unseen tasks; the number is the reward under graded.</p>
    ${rows}
  </section>`;
}

function drawingFigure({ policy, svg, reward }: Drawing): Html {
  return html`<figure class="drawing">
    ${picture(svg, `drawn by ${policyName(policy)}`)}
    <figcaption>${policyName(policy)} <b class="${gradeOf(reward)}">${fixed(reward, 2)}</b></figcaption>
  </figure>`;
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

export function episodesSection(title: string, lead: string, episodes: readonly EpisodeFacts[]): Html {
  if (episodes.length === 0) return html``;
  return html`<section>
    <h2>${title}</h2>
    <p class="lead">${lead}</p>
    <div class="episodes">${episodes.map(episodeCard)}</div>
  </section>`;
}

function episodeCard(episode: EpisodeFacts): Html {
  const { policy, reward, task_id, prompt, reasons, errors } = episode;
  const lost = [...reasons].sort((a, b) => b.lost - a.lost).slice(0, MOST_REASONS);
  const list = [
    ...lost.map((reason) => html`<li><b>${reason.component} −${fixed(reason.lost, 2)}</b> ${reason.message}</li>`),
    ...errors.slice(0, 2).map(({ code, message }) => html`<li><b>${code}</b> ${message}</li>`),
  ];
  return html`<article class="episode">
    ${picture(episode.svg, `drawn by ${policyName(policy)}`)}
    <p class="prompt">
      <b class="${gradeOf(reward)}">${fixed(reward, 2)}</b> ${policyName(policy)}
      ${task_id === null ? html`` : html`<code>${task_id}</code>`} ${shortened(prompt)}
    </p>
    ${
      list.length > 0
        ? html`<ul>
            ${list}
          </ul>`
        : html`<p class="lead">No point was lost.</p>`
    }
  </article>`;
}
