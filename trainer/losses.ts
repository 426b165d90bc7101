/**
 * The losses by name. A loss is a function, which cannot be sent to another thread; its name and its constants can.
 */
import { weightedLoss, type LossFunction } from './model/loss.ts';
import { createObjective, type ObjectiveOptions } from './objective.ts';

export type LossSpec =
  /** SFT's cross entropy, divided by `normaliser`. */
  | { readonly name: 'weighted'; readonly normaliser: number }
  /** What an update of the policy minimises. */
  | { readonly name: 'policy'; readonly options: ObjectiveOptions };

export function createLoss(spec: LossSpec): LossFunction {
  return spec.name === 'weighted' ? weightedLoss(spec.normaliser) : createObjective(spec.options);
}
