import { describe, expect, test } from 'vitest';
import { wlHash, type LabelledGraph } from '../../server/tasks/wl-hash.ts';

const graph = (labels: string[], pairs: string[], directed = true): LabelledGraph => ({
  labels,
  edges: pairs.map((pair) => {
    const [from, to, label] = pair.split('-');
    return { from: Number(from), to: Number(to), label, directed };
  }),
});
const BASE = graph(['A', 'B', 'C'], ['0-1', '1-2']);

describe('equal graphs', () => {
  test.each([
    ['nodes in another order', graph(['C', 'A', 'B'], ['1-2', '2-0'])],
    ['edges in another order', graph(['A', 'B', 'C'], ['1-2', '0-1'])],
    ['other case, spaces and width', graph(['a', ' B ', 'Ｃ'], ['0-1', '1-2'])],
  ])('%s', (_name, other) => {
    expect(wlHash(other)).toBe(wlHash(BASE));
  });

  test('a line is the same from both ends', () => {
    expect(wlHash(graph(['A', 'B'], ['0-1'], false))).toBe(wlHash(graph(['A', 'B'], ['1-0'], false)));
  });
});

describe('different graphs', () => {
  test.each([
    ['a reversed arrow', graph(['A', 'B', 'C'], ['1-0', '1-2'])],
    ['a missing arrow', graph(['A', 'B', 'C'], ['0-1'])],
    ['an arrow twice', graph(['A', 'B', 'C'], ['0-1', '1-2', '1-2'])],
    ['another label', graph(['A', 'B', 'D'], ['0-1', '1-2'])],
    ['swapped labels', graph(['B', 'A', 'C'], ['0-1', '1-2'])],
    ['a labelled arrow', graph(['A', 'B', 'C'], ['0-1-yes', '1-2'])],
    ['lines for arrows', graph(['A', 'B', 'C'], ['0-1', '1-2'], false)],
    ['one more node', graph(['A', 'B', 'C', 'D'], ['0-1', '1-2'])],
  ])('%s', (_name, other) => {
    expect(wlHash(other)).not.toBe(wlHash(BASE));
  });

  test('equal labels are told apart by what they are linked to', () => {
    const chain = graph(['X', 'X', 'X', 'A'], ['0-1', '1-2', '2-3']);
    const fork = graph(['X', 'X', 'X', 'A'], ['0-1', '0-2', '2-3']);
    expect(wlHash(chain)).not.toBe(wlHash(fork));
  });
});
