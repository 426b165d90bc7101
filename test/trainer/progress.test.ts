/** Progress lines on a terminal and elsewhere, with a clock of the test's own. */
import { expect, test } from 'vitest';
import { createProgress, toDuration } from '../../trainer/progress.ts';

function createScreen(isTTY: boolean, columns = 100) {
  const written: string[] = [];
  const clock = { now_ms: 0 };
  const stream = { isTTY, columns, write: (text: string) => written.push(text) };
  return { written, clock, progress: createProgress(stream, () => clock.now_ms) };
}

test.each([
  [0, '0 s'],
  [59.4, '59 s'],
  [200, '3 min 20 s'],
  [3599.7, '1 h 00 min'],
  [7500, '2 h 05 min'],
])('%s seconds read %s', (seconds, words) => {
  expect(toDuration(seconds)).toBe(words);
});

test('elsewhere: a line at the start, every five seconds and at the end, with stage, rate, time left and metric', () => {
  const { written, clock, progress } = createScreen(false);
  progress.plan(['teach', 'sft', 'reinforce']);
  progress.start('sft', 100, 'steps');
  for (let step = 1; step <= 100; step++) {
    clock.now_ms += 100;
    progress.update(step, { 'loss/sft': 1 / step });
  }
  progress.finish();
  expect(written).toEqual([
    '2/3 sft  0/100 steps\n',
    '2/3 sft  50/100 steps  5 s left  loss/sft 0.0200  10 steps/s\n',
    '2/3 sft  100/100 steps  0 s left  loss/sft 0.0100  10 steps/s\n',
    '2/3 sft  100 steps in 10 s  loss/sft 0.0100\n',
  ]);
});

test('on a terminal: one line drawn over itself, at most ten times a second, that makes way for others', () => {
  const { written, clock, progress } = createScreen(true);
  progress.start('sft', 1000, 'steps');
  for (let step = 1; step <= 1000; step++) {
    clock.now_ms += 1;
    progress.update(step);
  }
  expect(written).toHaveLength(11);
  expect(written[5]).toBe('\r\u001b[Ksft  [##########..........]  500/1000 steps  1 s left  1000 steps/s');
  progress.clear();
  progress.clear();
  progress.finish('all learnt');
  expect(written.slice(11)).toEqual(['\r\u001b[K', 'sft  1000 steps in 1 s  all learnt\n']);
});

test('a bar never wraps', () => {
  const { written, progress } = createScreen(true);
  progress.start('s'.repeat(200), 10, 'steps');
  expect(written[0]!.replace('\r\u001b[K', '')).toHaveLength(99);
});

test('large rates are whole numbers', () => {
  const { written, clock, progress } = createScreen(false);
  progress.start('sft', 1_000_000, 'tokens');
  clock.now_ms = 6000;
  progress.update(100_000, { 'loss/sft': 0.01234, 'reward/mean': 1 });
  expect(written[1]).toBe('sft  100000/1000000 tokens  54 s left  loss/sft 0.0123  reward/mean 1  16667 tokens/s\n');
});

test('a stage that is taken up counts only its own speed, and the next one ends it', () => {
  const { written, clock, progress } = createScreen(false);
  progress.start('sft', 1000, 'steps', 900);
  clock.now_ms = 5000;
  progress.update(950);
  progress.start('reinforce', 10, 'steps');
  expect(written).toEqual([
    'sft  900/1000 steps\n',
    'sft  950/1000 steps  5 s left  10 steps/s\n',
    'sft  950 steps in 5 s\n',
    'reinforce  0/10 steps\n',
  ]);
});

test.each([
  [100, '3/4 reinforce  [#####...............]  30/120 steps  22 min 30 s left  reward 0.813  0.0667 steps/s'],
  [80, '3/4 reinforce  30/120 steps  22 min 30 s left  reward 0.813  0.0667 steps/s'],
  [60, '3/4 reinforce  30/120 steps  22 min 30 s left  reward 0.813'],
])('a terminal of %s columns keeps the time left and the reward', (columns, line) => {
  const { written, clock, progress } = createScreen(true, columns);
  progress.plan(['teach', 'sft', 'reinforce', 'evaluate']);
  progress.start('reinforce', 120, 'steps');
  for (let step = 1; step <= 30; step++) {
    clock.now_ms += 15_000;
    progress.update(step, { reward: 0.8134 });
  }
  expect(written.at(-1)!.startsWith(`\r\u001b[K${line}`)).toBe(true);
});

test('the time left follows a change of speed, and stays steady while steps take turns at fast and slow', () => {
  const { clock, written, progress } = createScreen(true);
  const left = () => {
    const [, minutes, seconds] = /(?: (\d+) min)? (\d+) s left/.exec(written.at(-1)!)!;
    return 60 * Number(minutes ?? 0) + Number(seconds);
  };
  progress.start('reinforce', 1000, 'steps');
  for (let step = 1; step <= 100; step++) {
    clock.now_ms += step % 2 === 0 ? 50 : 150;
    progress.update(step);
    if (step > 20) expect(Math.abs(left() - (1000 - step) / 10)).toBeLessThanOrEqual(4);
  }
  for (let step = 101; step <= 500; step++) {
    clock.now_ms += 400; // a quarter of the speed
    progress.update(step);
  }
  expect(left()).toBe(200); // the mean over the stage so far would say 170 s
});

test('a log of an hour is short', () => {
  const { written, clock, progress } = createScreen(false);
  progress.start('sft', 36_000, 'steps');
  for (let step = 1; step <= 36_000; step++) {
    clock.now_ms += 100;
    progress.update(step);
  }
  progress.finish();
  expect(written.length).toBeGreaterThan(100);
  expect(written.length).toBeLessThan(140);
});
