/**
 * How much a tool call may bring. A call beyond the limit is told to the model and changes nothing. What a submission brings
 * is bounded as every completion is, and what the calls draw as every canvas is.
 */
import { SUBMIT_TOOL } from '../../../schemas/tools.ts';
import { isLongerThan } from '../../canvas/measure.ts';

/** Most characters of the arguments of a call that does not submit; one label has far less. */
export const MAX_ARGUMENTS_LENGTH = 10_000;

/** Why a call is not taken, for the model; undefined where it is. */
export function excessOf(name: string, input: unknown): string | undefined {
  if (name === SUBMIT_TOOL || !isLongerThan(input, MAX_ARGUMENTS_LENGTH)) return undefined;
  return `Not taken: arguments of ${name} must be at most ${MAX_ARGUMENTS_LENGTH} characters long.`;
}
