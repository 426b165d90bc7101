/** Longer than anything takes that works, on a machine that is busy with other things: for what would hang, or take minutes. */
export const NOT_SLOW_MS = 20_000;
