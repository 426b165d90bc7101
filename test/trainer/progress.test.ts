/** Progress lines on a terminal and elsewhere, with a clock of the test's own. */
import { expect, test } from 'vitest';
import { createProgress, toDuration } from '../../trainer/progress.ts';

function createScreen(isTTY: boolean) {
  const written: string[] = [];
  const clock = { now_ms: 0 };
  const stream = { isTTY, columns: 100, write: (text: string) => written.push(text) };
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
    '2/3 sft  50/100 steps  10 steps/s  5 s left  loss/sft 0.0200\n',
    '2/3 sft  100/100 steps  10 steps/s  0 s left  loss/sft 0.0100\n',
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
  expect(written[5]).toBe('\r\u001b[Ksft  [##########..........]  500/1000 steps  1000 steps/s  1 s left');
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
  expect(written[1]).toBe('sft  100000/1000000 tokens  16667 tokens/s  54 s left  loss/sft 0.0123  reward/mean 1\n');
});

test('a stage that is taken up counts only its own speed, and the next one ends it', () => {
  const { written, clock, progress } = createScreen(false);
  progress.start('sft', 1000, 'steps', 900);
  clock.now_ms = 5000;
  progress.update(950);
  progress.start('reinforce', 10, 'steps');
  expect(written).toEqual([
    'sft  900/1000 steps\n',
    'sft  950/1000 steps  10 steps/s  5 s left\n',
    'sft  950 steps in 5 s\n',
    'reinforce  0/10 steps\n',
  ]);
});
