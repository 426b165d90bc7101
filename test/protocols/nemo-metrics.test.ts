/** Statistics over answers of /verify: those of NeMo Gym's own servers, by hand for a few rollouts of two tasks. */
import { expect, test } from 'vitest';
import { aggregateMetrics } from '../../server/protocols/nemo-gym/metrics.ts';
import { overTransports } from '../http/support.ts';

const ROLLOUTS = [
  {
    _ng_task_index: 1,
    _ng_rollout_index: 0,
    reward: 0.5,
    passed: true,
    note: 'x',
    response: { usage: { output_tokens: 10 } },
  },
  { _ng_task_index: 1, _ng_rollout_index: 1, reward: 1, passed: false, response: { usage: null } },
  { _ng_task_index: 0, _ng_rollout_index: 0, reward: 0, passed: false, nothing: null, list: [1] },
];

overTransports('NeMo Gym’s aggregate metrics', (api) => {
  test('mean, max, min, median and std of numbers and flags, over all and for each task', async () => {
    const { status, json } = await api().post('/aggregate_metrics', { verify_responses: ROLLOUTS });
    expect(status).toBe(200);
    const { group_level_metrics, agent_metrics, key_metrics } = json as Record<string, never>;
    expect(agent_metrics).toEqual({
      'mean/reward': 0.5,
      'mean/passed': 1 / 3,
      'mean/output_tokens': 10,
      'max/reward': 1,
      'max/passed': 1,
      'max/output_tokens': 10,
      'min/reward': 0,
      'min/passed': 0,
      'min/output_tokens': 10,
      'median/reward': 0.5,
      'median/passed': 0,
      'median/output_tokens': 10,
      'std/reward': 0.5,
      'std/passed': expect.closeTo(Math.sqrt(1 / 3), 12) as number,
    });
    expect(key_metrics).toEqual({ 'mean/reward': 0.5, 'mean/passed': 1 / 3, 'mean/output_tokens': 10 });
    expect(group_level_metrics).toMatchObject([
      { _ng_task_index: 0, 'mean/reward': 0, 'std/reward': 0 },
      {
        _ng_task_index: 1,
        'mean/reward': 0.75,
        'median/reward': 0.75,
        'std/reward': expect.closeTo(Math.sqrt(0.125), 12) as number,
      },
    ]);
  });

  test('none at all', async () => {
    const empty = { group_level_metrics: [], agent_metrics: {}, key_metrics: {} };
    expect((await api().post('/aggregate_metrics', { verify_responses: [] })).json).toEqual(empty);
  });

  test('40,000 tasks of one answer each are grouped in one pass', async () => {
    const rowsOf = (count: number) =>
      Array.from({ length: count }, (_, i) => ({ _ng_task_index: count - 1 - i, reward: i }));
    const verify_responses = rowsOf(40_000);
    const { json } = await api().post('/aggregate_metrics', { verify_responses });
    const groups = (json as { group_level_metrics: Record<string, number>[] }).group_level_metrics;
    expect(groups.map((group) => group['_ng_task_index'])).toEqual(verify_responses.map((_, i) => i));
    expect(groups[0]).toMatchObject({ 'mean/reward': 39_999 });
  });

  test('four times as many answers take about four times as long, not sixteen', async () => {
    const timeOf = async (count: number): Promise<number> => {
      const rows = Array.from({ length: count }, (_, i) => ({ _ng_task_index: i, reward: i / count }));
      const times: number[] = [];
      for (let i = 0; i < 3; i++) {
        const start = performance.now();
        await aggregateMetrics({ verify_responses: rows });
        times.push(performance.now() - start);
      }
      return Math.min(...times);
    };
    await timeOf(10_000); // compiled, from here on
    expect(await timeOf(40_000)).toBeLessThan(9 * (await timeOf(10_000)));
  });

  test('other requests are answered while many are aggregated', async () => {
    const rows = Array.from({ length: 100_000 }, (_, i) => ({ _ng_task_index: i % 20_000, reward: i }));
    let turns = 0;
    let longest = 0;
    const start = performance.now();
    let before = start;
    const timer = setInterval(() => {
      turns++;
      longest = Math.max(longest, performance.now() - before);
      before = performance.now();
    }, 1);
    await aggregateMetrics({ verify_responses: rows });
    clearInterval(timer);
    expect(turns).toBeGreaterThan(5);
    expect(longest).toBeLessThan((performance.now() - start) / 2);
  });
});
