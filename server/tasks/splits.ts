/**
 * Which tasks exist, and which split owns which graph.
 *
 * No labelled graph is in two splits. That is so by construction, without a list of what was already given out: the
 * Weisfeiler-Lehman hash of a graph, modulo the number of slots, names the one split that may own it, and the generator
 * re-draws until its graph belongs to the split it works for. At level 1 of a split of fixed size the labels alone decide
 * one step further: the sum of their hashes, modulo the size, is the item's index, so that no two items hold the same set of
 * labels (families that use the same words share out the residues; all others differ by their words anyway). Both are
 * functions of the graph, so that any item is made without making another one.
 * Left out of ownership: `test_real`, whose graphs are given (a test holds that none of them is generated).
 */
import { FAMILIES, LEVELS, type Family, type Level, type Split } from '../../schemas/task.ts';

export const HELD_OUT_FAMILIES: readonly Family[] = ['timeline', 'comparison'];
const TRAINED_FAMILIES = FAMILIES.filter((family) => !HELD_OUT_FAMILIES.includes(family));
const TRAINED_LEVELS: readonly Level[] = [1, 2, 3, 4];

/** Items per family and level of every generated split but `train`. */
export const FIXED_SIZE = 50;
export const TRAIN_SIZE = 2 ** 31;

export type GeneratedSplit = Exclude<Split, 'test_real'>;

/** Where a generated task stands, but for its index. */
export interface Cell {
  split: GeneratedSplit;
  family: Family;
  level: Level;
}

/** Slots of the graph hash, `train` three times so that it re-draws less often. */
const SLOTS: readonly GeneratedSplit[] = [
  'train',
  'val',
  'test_iid',
  'test_vocab',
  'train',
  'test_template',
  'test_family',
  'test_level',
  'train',
  'test_adversarial',
];

export function ownerOf(graphHash: number): GeneratedSplit {
  return SLOTS[graphHash % SLOTS.length]!;
}

export function familiesOf(split: GeneratedSplit): readonly Family[] {
  return split === 'test_family' ? HELD_OUT_FAMILIES : TRAINED_FAMILIES;
}

export function levelsOf(split: GeneratedSplit): readonly Level[] {
  return split === 'test_level' ? LEVELS.filter((level) => level === 5) : TRAINED_LEVELS;
}

export function sizeOf(split: GeneratedSplit): number {
  return split === 'train' ? TRAIN_SIZE : FIXED_SIZE;
}

/** Families whose boxes are called by the same words, and whose small graphs can be the same chain. */
const STEP_FAMILIES: readonly Family[] = ['flowchart', 'pipeline', 'cycle'];

/**
 * Whether labels whose hashes sum up to `labelHash` may be those of this item. All may in `train`, which may repeat
 * itself, and from level 2 on, where two items of a split never have the same labels (a test looks at all of them). The
 * generator draws again until they fit, so that an item is drawn like any other, only from fewer.
 */
export function fitsIndex({ split, family, level }: Cell, index: number, labelHash: number): boolean {
  if (split === 'train' || level > 1) return true;
  const place = STEP_FAMILIES.indexOf(family);
  const share = place < 0 ? 1 : STEP_FAMILIES.length;
  return labelHash % (share * sizeOf(split)) === share * index + Math.max(0, place);
}
