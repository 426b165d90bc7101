/** How the learning rate goes down after its warm-up, by name. Each takes what is left to train, from 1 down to 0. */

/** @param left Share of the tokens that is left. @param share Last share of them, in which the rate falls. */
export type Schedule = (left: number, share: number) => number;

export const SCHEDULES = {
  constant: () => 1,
  linear: (left, share) => (share === 0 ? 1 : Math.min(1, left / share)),
  /** Half a cosine (Loshchilov, Hutter 2017, "SGDR", without restarts). */
  cosine: (left, share) => (share === 0 ? 1 : (1 - Math.cos(Math.PI * Math.min(1, left / share))) / 2),
} as const satisfies Record<string, Schedule>;

export type ScheduleName = keyof typeof SCHEDULES;
export const SCHEDULE_NAMES = Object.keys(SCHEDULES) as [ScheduleName, ...ScheduleName[]];
