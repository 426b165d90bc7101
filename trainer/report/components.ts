/** The reward in its components: where each began, where it ended, and its way between. */
import { sparkline } from './chart.ts';
import type { Curve } from './data.ts';
import { fixed, html, type Html } from './html.ts';

/** Components of `graded` by what they are about; those of other presets follow without a title of their own. */
const GROUPS: readonly (readonly [title: string, names: readonly string[]])[] = [
  ['Form', ['format', 'parse', 'schema', 'render']],
  ['Content', ['structure', 'node', 'edge', 'edge_label', 'shape_kind']],
  [
    'Layout',
    [
      ...['layout', 'overlap', 'text_fit', 'edge_through_node', 'crossings', 'align', 'spacing', 'flow', 'aspect'],
      'occupancy',
    ],
  ],
  ['Tricks (1 is none)', ['hack_factor', 'stuffing', 'extra_shapes', 'extra_arrows', 'action_budget']],
];
const PREFIX = 'reward/';

export function componentsSection(curves: readonly Curve[]): Html {
  const components = curves.filter(
    ({ stage, name, points }) => stage === 'reinforce' && name.startsWith(PREFIX) && points.length > 1,
  );
  if (components.length === 0) return html``;
  return html`<section>
    <h2>Reward components in training</h2>
    <p class="lead">
      Mean of the first tenth of the steps, the way between on a scale of 0 to 1, mean of the last tenth. 1 is best in
      every row.
    </p>
    <div class="components">${toGroups(components).map(groupList)}</div>
  </section>`;
}

/** Curves in the order of the groups; a group without curves is none. */
function toGroups(components: readonly Curve[]): { title: string; curves: Curve[] }[] {
  const known = new Set(GROUPS.flatMap(([, names]) => names));
  const find = (name: string): Curve[] => components.filter((curve) => curve.name === PREFIX + name);
  const others = components.filter(({ name }) => !known.has(name.slice(PREFIX.length)));
  const groups = GROUPS.map(([title, names]) => ({ title, curves: names.flatMap(find) }));
  return [...groups, { title: 'Other', curves: others }].filter((group) => group.curves.length > 0);
}

function groupList({ title, curves }: { title: string; curves: readonly Curve[] }): Html {
  return html`<div>
    <h3>${title}</h3>
    <ul>
      ${curves.map(componentRow)}
    </ul>
  </div>`;
}

function componentRow({ name, points }: Curve): Html {
  const [start, end] = ends(points.map(({ value }) => value));
  return html`<li>
    <code>${name.slice(PREFIX.length)}</code> <span>${fixed(start, 2)}</span> ${sparkline(points)}
    <b>${fixed(end, 2)}</b>
  </li>`;
}

function ends(values: readonly number[]): [number, number] {
  const size = Math.max(1, Math.round(values.length / 10));
  const average = (part: readonly number[]): number => part.reduce((sum, value) => sum + value, 0) / part.length;
  return [average(values.slice(0, size)), average(values.slice(-size))];
}
