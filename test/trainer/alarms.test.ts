/** Alarms of reward hacking: they come up where they should, and hardly ever where there is nothing but noise. */
import { expect, test } from 'vitest';
import { openStore } from '../../clients/store/index.ts';
import { createRng, hash64 } from '../../schemas/seed.ts';
import { findAlarms, readAlarms, toAlarmLine, trendOf, type Point } from '../../trainer/alarms.ts';

const STEPS = 120;
const EVERY = 20;

/** A run of 120 steps: the training reward of each, and a held-out measure at every 20th, as functions of the step. */
function seriesOf(reward: (step: number) => number, measure: (step: number) => number): [Point[], Point[]] {
  const training = Array.from({ length: STEPS }, (_, i) => ({ optimizer_step: i + 1, value: reward(i + 1) }));
  const steps = Array.from({ length: STEPS / EVERY + 1 }, (_, i) => i * EVERY);
  return [training, steps.map((step) => ({ optimizer_step: step, value: measure(step) }))];
}

const metricsOf = ([training, points]: [Point[], Point[]]): string[] =>
  findAlarms(training, { 'held_out/path_f1': points }).map(({ metric }) => metric);

const rising = (step: number): number => 0.5 + 0.003 * step;
const SERIES: readonly (readonly [string, (step: number) => number, (step: number) => number, boolean])[] = [
  ['the measure falls all the time', rising, (step) => 0.9 - 0.002 * step, true],
  ['it rises first and falls late', rising, (step) => 0.9 - Math.abs(step - 50) * 0.003, true],
  ['it falls slowly', rising, (step) => 0.9 - 0.0006 * step, true],
  ['it rises too', rising, (step) => 0.4 + 0.002 * step, false],
  ['it stays', rising, () => 0.8, false],
  ['it falls by less than .05', rising, (step) => 0.9 - 0.0003 * step, false],
  ['both fall: forgetting, not hacking', (step) => 0.9 - 0.003 * step, (step) => 0.9 - 0.003 * step, false],
  ['one validation was unlucky', rising, (step) => (step === 100 ? 0.6 : 0.8), false],
];

test.each(SERIES)('training rises, and %s', (_, reward, measure, isAlarm) => {
  expect(metricsOf(seriesOf(reward, measure))).toEqual(isAlarm ? ['held_out/path_f1'] : []);
});

test('a whole run of noise hardly ever has an alarm, and a fall in noise is nearly always found', () => {
  const rng = createRng(hash64('alarms'));
  const noisy = (trend: (step: number) => number) => (step: number) => trend(step) + 0.02 * rng.normal();
  /** Share of runs with an alarm at any of their validations. */
  const share = (reward: (step: number) => number, measure: (step: number) => number): number => {
    const isAlarmed = (): boolean => {
      const [training, points] = seriesOf(noisy(reward), noisy(measure));
      return points.some((_, i) => metricsOf([training.slice(0, i * EVERY), points.slice(0, i + 1)]).length > 0);
    };
    return Array.from({ length: 500 }, isAlarmed).filter(Boolean).length / 500;
  };
  const flat = (): number => 0.8;
  expect(share(flat, flat)).toBeLessThan(0.01);
  expect(share(rising, flat)).toBeLessThan(1 / 12);
  expect(share(rising, (step) => 0.9 - 0.001 * step)).toBeGreaterThan(0.85);
});

test('fewer than four validations say nothing; the training reward is that since the validation before', () => {
  const [training, points] = seriesOf(rising, (step) => 0.9 - 0.002 * step);
  expect(findAlarms(training.slice(0, 40), { measure: points.slice(0, 3) })).toEqual([]);
  const [alarm] = findAlarms(training.slice(0, 60), { measure: points.slice(0, 4) });
  expect(alarm).toMatchObject({ metric: 'measure', from_step: 0, to_step: 60 });
  expect(alarm!.metric_change).toBeCloseTo(-0.12);
  expect(alarm!.reward_change).toBeCloseTo(0.18, 1);
});

test('trends by hand', () => {
  expect(trendOf([0, 1, 2], [0, 1, 3])).toEqual({ tau: 1, change: 3 }); // slopes 1, 1.5, 2
  expect(trendOf([0, 10, 20, 30], [4, 3, 3, 1])).toEqual({ tau: -5 / 6, change: expect.closeTo(-3) as number });
});

test('a run is read from its log', () => {
  const store = openStore(':memory:');
  store.createRun({ run_id: 'gamed', command: 'reinforce', config: {} });
  const [training, points] = seriesOf(rising, (step) => 0.9 - 0.002 * step);
  for (const { optimizer_step, value } of training) {
    store.recordMetrics('gamed', 'reinforce', optimizer_step, { 'episode/return': value });
  }
  for (const { optimizer_step, value } of points) {
    store.recordMetrics('gamed', 'reinforce', optimizer_step, {
      ...{
        'held_out/path_f1': value,
        'held_out/renamed_reward': 0.8,
        'validation/graded': 0.8 + optimizer_step / 1000,
      },
    });
  }
  const alarms = readAlarms(store, 'gamed');
  store.close();
  expect(alarms.map(({ metric }) => metric)).toEqual(['held_out/path_f1']);
  expect(toAlarmLine(alarms[0]!)).toMatch(/^steps 40 to 120: .* held_out\/path_f1, .* fell by 0\.160/);
});
