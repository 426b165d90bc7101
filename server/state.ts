/**
 * The state that travels with the caller: issued, signed and checked here. The signature is an HMAC-SHA256 over all other
 * fields as JSON with sorted keys, so a client may parse and re-serialise the state, but not change it.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Canvas } from '../schemas/canvas.ts';
import { STATE_VERSION, type State } from '../schemas/episode.ts';
import { PRESET_VERSIONS, PRESETS } from '../schemas/reward.ts';
import { MAX_CANVAS_ITEMS, MAX_SIDE } from './canvas/limits.ts';
import { ApiError, invalidAt } from './errors.ts';
import { SUITE_VERSION } from './tasks/suite.ts';

/** JSON with the keys of every object in code unit order, without spaces. Recursive: the depth is checked before. */
export function toCanonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${toCanonicalJson(item)}`).join(',')}}`;
}

/** Signs states on their way out and checks them on their way in. Without a secret it does neither. */
export interface Signer {
  readonly isSigning: boolean;
  sign(state: State): State;
  /** @throws ApiError state_changed. */
  assertUnchanged(state: State): void;
}

function computeSignature(secret: string, state: State): string {
  const signed = toCanonicalJson({ ...state, sig: undefined });
  return createHmac('sha256', secret).update(signed).digest('hex');
}

function isSignature(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}

export function createSigner(secret: string | undefined): Signer {
  if (secret === undefined || secret === '') {
    return { isSigning: false, sign: (state) => state, assertUnchanged: () => undefined };
  }
  return {
    isSigning: true,
    sign: (state) => ({ ...state, sig: computeSignature(secret, state) }),
    assertUnchanged: (state) => {
      if (state.sig !== undefined && isSignature(computeSignature(secret, state), state.sig)) return;
      const fault = state.sig === undefined ? 'has no signature' : 'was changed';
      throw new ApiError(
        'state_changed',
        `state ${fault}; hand it back as it was answered, or begin anew with /reset`,
        {
          place: ['body', 'state'],
        },
      );
    },
  };
}

/** For states that do not leave the server. */
export const UNSIGNED = createSigner(undefined);

function versionFault(name: string, given: unknown, ours: number): ApiError {
  return new ApiError(
    'state_version',
    `state.${name} is ${JSON.stringify(given).slice(0, 60)}, this server has ${ours}; begin anew with /reset`,
    { place: ['body', 'state', name] },
  );
}

/**
 * Refuses a state of another version before its fields are looked at, which may be others there.
 * @param body A request body that was not validated yet.
 */
export function assertStateVersion(body: Readonly<Record<string, unknown>>): void {
  const state = body['state'];
  if (typeof state !== 'object' || state === null || Array.isArray(state)) return;
  const { version, suite_version, reward } = state as Record<string, unknown>;
  if (version !== undefined && version !== STATE_VERSION) throw versionFault('version', version, STATE_VERSION);
  if (suite_version !== undefined && suite_version !== SUITE_VERSION) {
    throw versionFault('suite_version', suite_version, SUITE_VERSION);
  }
  const preset = PRESETS.find((name) => name === reward);
  const given = (state as Record<string, unknown>)['reward_version'];
  if (preset === undefined || given === undefined || given === PRESET_VERSIONS[preset]) return;
  throw versionFault('reward_version', given, PRESET_VERSIONS[preset]);
}

/** Longest label of a canvas to draw, code units; no picture can show so much. */
const MAX_DRAWN_LABEL = 10_000;

/** Refuses a canvas whose labels are too long to draw. Not asked of a state: a model may have written them. */
export function assertDrawable({ shapes, arrows }: Canvas, place: readonly string[]): void {
  for (const [key, items] of Object.entries({ shapes, arrows })) {
    const at = items.findIndex(({ text }) => text.length > MAX_DRAWN_LABEL);
    if (at >= 0) throw invalidAt([...place, key, at, 'text'], `must be at most ${MAX_DRAWN_LABEL} characters long`);
  }
}

/**
 * Refuses a canvas no episode could have led to: ids that occur twice, arrows without ends, more or larger things than
 * the rules allow.
 * @param maxCoordinate Canvas pixels; Infinity for the preset `article`, which sets no limit.
 */
export function assertCanvas(canvas: Canvas, place: readonly string[], maxCoordinate = Infinity): void {
  const fail = (message: string, ...rest: (string | number)[]): never => {
    throw invalidAt([...place, ...rest], message);
  };
  const { shapes, arrows } = canvas;
  const count = shapes.length + arrows.length;
  if (count > MAX_CANVAS_ITEMS) fail(`a canvas holds at most ${MAX_CANVAS_ITEMS} shapes and arrows, this has ${count}`);
  const ids = new Set<string>();
  for (const [i, { id, x, y, w, h }] of shapes.entries()) {
    if (ids.has(id)) fail('two shapes have this id; ids are unique', 'shapes', i, 'id');
    if (Math.max(w, h) > MAX_SIDE) fail(`sides are at most ${MAX_SIDE}`, 'shapes', i);
    if (Math.max(Math.abs(x), Math.abs(y)) > maxCoordinate)
      fail(`coordinates are at most ${maxCoordinate}`, 'shapes', i);
    ids.add(id);
  }
  for (const [i, { from, to }] of arrows.entries()) {
    if (!ids.has(from)) fail('no shape has this id', 'arrows', i, 'from');
    if (!ids.has(to)) fail('no shape has this id', 'arrows', i, 'to');
  }
}
