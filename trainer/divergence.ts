/**
 * Training that went astray: what counts as such, and the error that says what to change. It is thrown before anything of
 * the bad state is saved, so the last checkpoint is good. Since a run is the same each time, the same command would end
 * the same way: see workspace.ts, which keeps the message in the run folder.
 */

/** Training cannot go on: weights, loss or KL left all reason. */
export class Diverged extends Error {
  readonly code = 'diverged';
}

/** Updates in a row without finite gradients after which a run stops. */
const MAX_SKIPPED = 3;

/** @throws Diverged where updates stay non-finite; a run that is taken up from there has not become better by it */
export function assertUpdated(stage: string, step: number, skippedInARow: number): void {
  if (skippedInARow < MAX_SKIPPED) return;
  throw new Diverged(
    `${stage}, step ${step}: ${skippedInARow} updates in a row had gradients that are not finite: lower the learning rates`,
  );
}

/** @param kl Mean KL to the reference policy, nats a token. @throws Diverged where it is over `limit`, or no number */
export function assertKl(stage: string, step: number, kl: number, limit: number): void {
  if (kl <= limit) return;
  const size = Number.isFinite(kl) ? kl.toPrecision(3) : String(kl);
  throw new Diverged(
    `${stage}, step ${step}: the policy is ${size} nats a token from the one it started from, over --max-kl ${limit}: ` +
      'lower --rl-muon-lr and --rl-adamw-lr, or raise --kl-beta',
  );
}

/** @throws Diverged where a weight is not finite */
export function assertFiniteValues(what: string, values: Float32Array): void {
  const at = values.findIndex((value) => !Number.isFinite(value));
  if (at >= 0) throw new Diverged(`${what} is not finite (${values[at]}): lower the learning rates`);
}
