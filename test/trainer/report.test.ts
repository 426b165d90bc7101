/** The report: whole, closed to the outside, safe against what a model or a log says, and honest in its verdict. */
import { DOMParser, type Document, type Element } from '@xmldom/xmldom';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Preset } from '../../schemas/reward.ts';
import { renderReport } from '../../trainer/report.ts';
import { lineChart, niceTicks } from '../../trainer/report/chart.ts';
import { stack, toBuckets } from '../../trainer/report/series.ts';
import { toTimeSplit } from '../../trainer/report/times.ts';
import type { ReportData } from '../../trainer/report/data.ts';
import { toVerdict } from '../../trainer/report/verdict.ts';
import type { PairedDifference } from '../../trainer/statistics.ts';
import { reportData } from './report-data.ts';

const DATA = reportData();

const BARE: ReportData = {
  run: { ...DATA.run, status: 'running', finished_at: null, seed: null, git_commit: null },
  ...{ stages: [], curves: [], alarms: [], strip: [], comparisons: [], best: [], worst: [], settings: {}, repeat: [] },
};

/** The page as XML: a stricter reader than a browser, so that a tag left open is an error. */
function parsePage(page: string): Document {
  const onError = (level: string, message: string): never => {
    throw new Error(`${level}: ${message}`);
  };
  return new DOMParser({ onError }).parseFromString(page.replace(/^<!doctype html>/i, ''), 'application/xhtml+xml');
}

function elements(document: Document, name: string): Element[] {
  return Array.from(document.getElementsByTagName(name));
}

function texts(document: Document, name: string): string[] {
  return elements(document, name).map((element) => (element.textContent ?? '').trim().replace(/\s+/g, ' '));
}

function withDifference(differences: Partial<Record<Preset, PairedDifference>>): ReportData {
  const none = { mean: 0, standard_error: 0.01, z: 0 };
  const rewards = { weak: none, article: none, stronger: none, graded: none, ...differences };
  const { splits, ...rest } = DATA.evaluation!;
  const comparison = { policy: 'rl-150', above: 'sft', rewards };
  return { ...BARE, evaluation: { ...rest, overall: { ...splits[0]!, comparisons: [comparison] }, splits } };
}

test('a full report has every part, and the same bytes each time', () => {
  const page = renderReport(DATA);
  const document = parsePage(page);
  expect(texts(document, 'h2')).toEqual([
    'Rewards',
    'The same task at successive policy versions',
    'The same tasks, drawn by each policy',
    'Teacher',
    'Training',
    'Reward components in training',
    'Best episodes',
    'Worst episodes',
    'Time',
    'Settings',
    'Do it again',
  ]);
  expect(page).not.toMatch(/NaN|undefined|Infinity|\[object/);
  expect(renderReport(DATA)).toBe(page);
});

test('nothing in it runs or comes from elsewhere', () => {
  const document = parsePage(renderReport(DATA));
  for (const name of ['script', 'link', 'iframe', 'object', 'embed', 'form'])
    expect(elements(document, name)).toEqual([]);
  const sources = elements(document, '*').flatMap((element) =>
    ['src', 'href', 'srcset'].flatMap((name) => element.getAttribute(name) ?? []),
  );
  expect(sources.length).toBeGreaterThan(10);
  expect(sources.filter((source) => !source.startsWith('data:image/svg+xml;base64,'))).toEqual([]);
  expect(texts(document, 'style').join('')).not.toMatch(/url\(|@import/);
});

test('pictures are the SVG documents that were given', () => {
  const [image] = elements(parsePage(renderReport(DATA)), 'img');
  const data = image!.getAttribute('src')!.split(',')[1]!;
  expect(Buffer.from(data, 'base64').toString('utf8')).toBe(DATA.strip[0]!.drawings[0]!.svg);
});

test('what a model or a log says stays text', () => {
  const attack = `</p><script>alert(1)</script><img src=x onerror=alert(1)> "&'`;
  const reasons = [{ component: attack, code: attack, message: attack, lost: 1 }];
  const answer = { ...DATA.worst[1]!.drawings[1]!, policy: attack, said: attack, reasons };
  const hostile: ReportData = {
    ...DATA,
    run: { ...DATA.run, run_id: attack, command: attack, git_commit: attack },
    settings: { [attack]: attack },
    repeat: [attack],
    stages: [{ stage: attack, seconds: 1 }],
    curves: [attack, `reward/${attack}`].map((name) => ({ stage: 'reinforce', name, points: DATA.curves[0]!.points })),
    worst: [{ prompt: attack, task_id: attack, drawings: [answer] }],
    strip: [{ prompt: attack, task_id: attack, drawings: [answer, { ...answer, policy: attack }], change: 0.1 }],
  };
  const document = parsePage(renderReport(hostile));
  expect(elements(document, 'script')).toEqual([]);
  expect(elements(document, 'img').filter((image) => image.hasAttribute('onerror'))).toEqual([]);
  expect(texts(document, 'h1')).toEqual([attack]);
  expect(texts(document, 'pre').slice(-2)).toEqual([attack, attack]);
});

test('each answer stands with its picture, reward, reasons once, and what was said, to unfold', () => {
  const all = [...DATA.comparisons, ...DATA.teacher!.examples, ...DATA.best, ...DATA.worst].flatMap(
    ({ drawings }) => drawings,
  );
  const figures = elements(parsePage(renderReport(DATA)), 'figure').filter(
    (each) => each.getAttribute('class') === 'drawing',
  );
  expect(figures).toHaveLength(all.length);
  figures.forEach((figure, i) => {
    const { said, reward, reasons, errors } = all[i]!;
    const [block] = Array.from(figure.getElementsByTagName('details'));
    expect(block!.hasAttribute('open')).toBe(false);
    expect(block!.getElementsByTagName('pre')[0]!.textContent).toBe(said);
    const caption = figure.getElementsByTagName('figcaption')[0]!;
    expect(caption.getElementsByTagName('b')[0]!.textContent).toBe(reward!.toFixed(2));
    const large = reasons.filter(({ lost }) => lost.toFixed(2) !== '0.00');
    for (const { message } of [...large, ...errors]) expect(figure.textContent!.split(message)).toHaveLength(2);
  });
});

test('a loss that would read 0.00 is no reason', () => {
  const reason = { component: 'aspect', code: 'too_elongated', message: 'thin' };
  const reasons = [
    { ...reason, lost: 0.0049 },
    { ...reason, message: 'thick', lost: 0.0051 },
  ];
  const answer = { ...DATA.worst[1]!.drawings[1]!, reasons, errors: [] };
  const page = renderReport({ ...BARE, worst: [{ task_id: 'x', prompt: 'x', drawings: [answer] }] });
  expect(texts(parsePage(page), 'li')).toEqual(['aspect −0.01 thick']);
});

test('an error that a reason speaks of is said once; another one is said too', () => {
  const [spoken, other] = ['id is empty', 'no such shape'].map((message) => ({ code: 'bad', message }));
  const reasons = [
    { component: 'schema', code: 'refused_actions', message: `1 of 2 actions: ${spoken!.message}`, lost: 0.5 },
  ];
  const answer = { ...DATA.worst[1]!.drawings[1]!, reasons, errors: [spoken!, other!] };
  const page = renderReport({ ...BARE, worst: [{ task_id: 'x', prompt: 'x', drawings: [answer] }] });
  expect(texts(parsePage(page), 'li')).toEqual([
    `schema −0.50 1 of 2 actions: ${spoken!.message}`,
    `bad ${other!.message}`,
  ]);
});

test.each([
  ['control characters', 'a\u0000b\u001bc', 'a\\u0000b\\u001bc'],
  ['halves of a pair', 'x\ud800y', 'x\\ud800y'],
  ['other scripts and line ends', 'é 数据\n🙂', 'é 数据\n🙂'],
])('what was said may hold %s', (_, said, shown) => {
  const answer = { ...DATA.worst[1]!.drawings[1]!, said };
  const document = parsePage(renderReport({ ...BARE, worst: [{ task_id: 'x', prompt: 'x', drawings: [answer] }] }));
  expect(elements(document, 'pre')[0]!.textContent).toBe(shown);
});

test('a long answer is shown by its beginning, with its length', () => {
  const answer = { ...DATA.worst[1]!.drawings[1]!, said: 'x'.repeat(50_000) };
  const page = renderReport({ ...BARE, worst: [{ task_id: 'x', prompt: 'x', drawings: [answer] }] });
  expect(page).toContain('50000 characters');
  expect(page.length).toBeLessThan(40_000);
});

test('a run that has only begun gives a report without figures', () => {
  const document = parsePage(renderReport(BARE));
  expect(texts(document, 'h2')).toEqual(['Settings', 'Do it again']);
  expect(texts(document, 'dt')).not.toContain('status');
  expect(renderReport(BARE)).not.toMatch(/NaN|undefined|null/);
});

test('a table of each split gives mean, interval, pass@k and what is held out, and the paired difference', () => {
  const document = parsePage(renderReport(DATA));
  const tables = elements(document, 'table').filter((table) => table.getAttribute('class') === 'rewards');
  expect(tables).toHaveLength(3);
  tables.forEach((table, t) => {
    const rows = Array.from(table.getElementsByTagName('tr')).map((row) =>
      Array.from(row.childNodes).flatMap((cell) =>
        cell.nodeType === 1 ? [cell.textContent!.trim().replace(/\s+/g, ' ')] : [],
      ),
    );
    const { policies, comparisons } = DATA.evaluation!.splits[t]!;
    expect(rows[0]!.slice(0, 7)).toEqual([...['policy', 'graded', 'pass@1', 'pass@4', 'paths', 'edits', 'renamed']]);
    policies.forEach(({ rewards, held_out, pass_at }, i) => {
      const { mean, low, high } = rewards.graded;
      expect(rows[i + 1]!.slice(1, 5)).toEqual([
        `${mean.toFixed(3)} ${low.toFixed(3)} – ${high.toFixed(3)}`,
        ...[pass_at['1'], pass_at['4'], held_out!.path_f1.mean].map((value) => value!.toFixed(3)),
      ]);
    });
    expect(rows).toHaveLength(5); // RL above SFT; neither is compared with the teacher, who is no policy of the run
    const { rewards } = comparisons.find(({ policy, above }) => policy === 'rl-150' && above === 'sft')!;
    expect(rows[4]!.slice(0, 2)).toEqual([
      'RL-150 − SFT',
      `+${rewards.graded.mean.toFixed(3)} ± ${rewards.graded.standard_error.toFixed(3)}`,
    ]);
  });
});

test('charts of intervals: by split where there are several, by family and by level', () => {
  const titlesOf = (data: ReportData) =>
    texts(parsePage(renderReport({ ...BARE, evaluation: data.evaluation })), 'figcaption');
  const note = 'Graded reward: mean and 95 % interval.';
  expect(titlesOf(DATA)).toEqual(['By family', 'By split', 'By level'].map((title) => `${title} ${note}`));
  const [first] = DATA.evaluation!.splits;
  const single = { ...DATA, evaluation: { pass_at_reward: 0.9, splits: [first!] } };
  expect(titlesOf(single)).toEqual(['By family', 'By level'].map((title) => `${title} ${note}`));
  const page = renderReport({ ...BARE, evaluation: single.evaluation });
  for (const family of Object.keys(first!.policies[0]!.families))
    expect(page).toContain(`>${family.replace('_', ' ')}<`);
});

test.each([
  ['better', { mean: 0.08, standard_error: 0.02, z: 4 }],
  ['better', { mean: 0.04, standard_error: 0.02, z: 2 }],
  ['unclear', { mean: 0.03, standard_error: 0.02, z: 1.5 }],
  ['unclear', { mean: -0.03, standard_error: 0.02, z: -1.5 }],
  ['worse', { mean: -0.08, standard_error: 0.02, z: -4 }],
] as const)('verdict %s for %o', (kind, graded) => {
  expect(toVerdict(withDifference({ graded })).kind).toBe(kind);
});

test('the verdict is about graded, whatever the other presets say', () => {
  const up = { mean: 0.2, standard_error: 0.01, z: 20 };
  expect(toVerdict(withDifference({ weak: up, article: up, stronger: up })).kind).toBe('unclear');
  expect(toVerdict(BARE)).toMatchObject({ kind: 'incomplete', alarms: [] });
});

test('an alarm stands at the top in words and is shaded in the curves; without one there is neither', () => {
  const [alarm] = DATA.alarms;
  expect(toVerdict(DATA).alarms).toHaveLength(1);
  const document = parsePage(renderReport(DATA));
  const [said] = elements(document, 'p').filter((each) => each.getAttribute('class') === 'verdict alarm');
  expect(said!.textContent).toContain('held_out/path_f1');
  expect(said!.textContent).toContain(`steps ${alarm!.from_step} to ${alarm!.to_step}`);
  expect(renderReport(DATA).match(/class="shade"/g)).toHaveLength(1);
  const calm = renderReport({ ...DATA, alarms: [] });
  expect(calm).not.toMatch(/class="shade"|verdict alarm"/);
});

test('every metric is drawn: in a chart of its own, with others, as a component, or folded away', () => {
  const document = parsePage(renderReport(DATA));
  const labels = [...texts(document, 'span'), ...texts(document, 'code')].join('\n');
  const shown = texts(document, 'figcaption').length;
  expect(shown).toBeGreaterThan(9);
  for (const { name } of DATA.curves.filter((curve) => curve.name.startsWith('reward/'))) {
    expect(labels).toContain(name.slice('reward/'.length));
  }
  expect(labels).toContain('optim/lr_factor');
  expect(labels).toContain('optim/lr');
});

test.each([
  ['one point', [5]],
  ['a flat line', new Array<number>(50).fill(0)],
  ['huge and tiny values', [1e-9, 1e12, -1e12]],
  ['a hundred thousand points', Array.from({ length: 100_000 }, (_, i) => Math.sin(i / 1000))],
])('a chart of %s stays inside its frame and is small', (_, values) => {
  const points = values.map((value, i) => ({ optimizer_step: i + 1, value }));
  const { markup } = lineChart({ title: 't', note: 'n', series: [{ label: 'l', points }] });
  expect(markup.length).toBeLessThan(20_000);
  const [drawn] = markup.split('class="legend"');
  const paths = [...drawn!.matchAll(/class="(?:line|raw) [^"]*" d="([^"]*)"/g)].map(([, d]) => d!);
  const pairs = paths.flatMap((d) => d.split(/[ML]/).slice(1)).map((pair) => pair.split(' ').map(Number));
  if (values.length > 1) expect(pairs.length).toBeGreaterThan(1);
  for (const [x, y] of pairs) {
    expect(x! >= 52 && x! <= 468).toBe(true);
    expect(y! >= 10 && y! <= 196).toBe(true);
  }
});

test('a spike of one step in a hundred thousand reaches its height, and the mean of the rest stays where it is', () => {
  const points = Array.from({ length: 100_000 }, (_, i) => ({ optimizer_step: i + 1, value: i === 54_321 ? 9 : 1 }));
  const buckets = toBuckets(points, 200);
  expect(buckets).toHaveLength(200);
  expect(Math.max(...buckets.map(({ most }) => most))).toBe(9);
  expect(buckets.filter(({ most }) => most > 1)).toEqual([
    { optimizer_step: 54_500, mean: 1 + 8 / 500, least: 1, most: 9 },
  ]);
  const { markup } = lineChart({ title: 't', note: 'n', series: [{ label: 'l', points }], include: [0] });
  const [, band] = /class="band series-1" d="M([^"]*)Z"/.exec(markup)!;
  const heights = band!.split('L').map((pair) => Number(pair.split(' ')[1]));
  expect(Math.min(...heights)).toBeLessThan(40);
});

test('stacked areas lie one on the other, over the steps that all of them have', () => {
  const points = (...values: number[]) => values.map((value, i) => ({ optimizer_step: i + 1, value }));
  expect(stack([points(1, 2, 3), points(10, 20)])).toEqual([points(1, 2), points(11, 22)]);
  expect(stack([])).toEqual([]);
  const split = toTimeSplit([
    { stage: 'reinforce', name: 'time/rollout_s', points: points(3, 3) },
    { stage: 'reinforce', name: 'time/sample_s', points: points(2, 3.5) },
    { stage: 'reinforce', name: 'time/train_s', points: points(4, 5) },
  ]);
  expect(split).toEqual([
    { label: 'sampling', points: points(2, 3.5) },
    { label: 'environment', points: points(1, 0) },
    { label: 'training', points: points(4, 5) },
  ]);
});

test('the stage REINFORCE is split into what its steps do, validation and the rest', () => {
  const once = (name: string, value: number) => ({ stage: 'reinforce', name, points: [{ optimizer_step: 1, value }] });
  const curves = [
    once('time/rollout_s', 3),
    once('time/sample_s', 2),
    once('time/train_s', 4),
    once('time/validation_s', 0.5),
  ];
  const page = renderReport({ ...BARE, stages: [{ stage: 'reinforce', seconds: 10 }], curves });
  const rows = elements(parsePage(page), 'tr').map((row) => row.textContent!.trim().split(/\s{2,}/));
  expect(rows).toEqual([
    ['reinforce', '10.0 s', '100 %'],
    ['sampling', '2.0 s', '20 %'],
    ['environment', '1.0 s', '10 %'],
    ['training', '4.0 s', '40 %'],
    ['validation', '0.5 s', '5 %'],
    ['the rest', '2.5 s', '25 %'],
    ['together', '10 s'],
  ]);
});

test('every chart, picture and strip says in words what it shows', () => {
  const document = parsePage(renderReport(DATA));
  for (const svg of elements(document, 'svg')) {
    const hidden = svg.getAttribute('aria-hidden') === 'true';
    expect(hidden || /\w/.test(svg.getAttribute('aria-label') ?? '')).toBe(true);
  }
  for (const image of elements(document, 'img')) expect(image.getAttribute('alt')).toMatch(/^drawn by \w/);
  const scrolled = elements(document, '*').filter((each) => /^(scroll|film)$/.test(each.getAttribute('class') ?? ''));
  expect(scrolled).toHaveLength(5);
  for (const each of scrolled)
    expect([each.getAttribute('tabindex'), each.hasAttribute('aria-label')]).toEqual(['0', true]);
});

test('axis ticks are few, evenly spaced and cover the range', () => {
  const number = fc.double({ min: -1e6, max: 1e6, noNaN: true });
  fc.assert(
    fc.property(number, number, (a, b) => {
      const range = { low: Math.min(a, b), high: Math.max(a, b) };
      fc.pre(range.high - range.low > 1e-6 || range.high === range.low);
      const ticks = niceTicks(range, 5);
      const slack = 1e-6 * Math.max(1, Math.abs(range.low), Math.abs(range.high));
      expect(ticks.length).toBeGreaterThan(1);
      expect(ticks.length).toBeLessThan(9);
      expect(ticks[0]! <= range.low + slack && ticks.at(-1)! >= range.high - slack).toBe(true);
    }),
    { seed: 6 },
  );
});
