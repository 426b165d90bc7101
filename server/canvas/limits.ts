/**
 * Limits of what a model may send and of what a canvas holds. They are there so that no answer, however long or odd,
 * can stall the server or overflow a number; the larger ones are far outside what an honest drawing needs.
 */
import type { Preset } from '../../schemas/reward.ts';

/** Most actions in one completion, by preset: the tasks of `graded` are larger. */
export const MAX_ACTIONS: Readonly<Record<Preset, number>> = { weak: 40, article: 40, stronger: 40, graded: 200 };

/** Longest completion that is read at all, UTF-16 code units (256 Ki). */
export const MAX_COMPLETION_LENGTH = 262_144;

/** Most characters of all ids and labels on a canvas, UTF-16 code units; one turn cannot reach it. */
export const MAX_CANVAS_TEXT = MAX_COMPLETION_LENGTH;
/** Deepest nesting of objects and arrays in a completion; a well-formed one needs 3. */
export const MAX_DEPTH = 32;

/** Widest and tallest shape, canvas pixels. */
export const MAX_SIDE = 1000;

/** Largest absolute coordinate, canvas pixels. Style `article` has no such limit. */
export const MAX_COORDINATE = 100_000;

export { MAX_CANVAS_ITEMS } from '../../schemas/canvas.ts';

/** Longest id or value that a message repeats, code units. Style `article` repeats it whole. */
export const MAX_QUOTED_LENGTH = 60;
