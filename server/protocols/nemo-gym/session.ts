/**
 * A rollout's session for NeMo Gym. Its state travels in a cookie, compressed and, where the server has a secret, signed, so
 * that any replica takes the next call; without a secret a client could change its canvas, which moves no reward, since
 * /verify draws the calls of the response itself.
 *
 * Some clients keep the cookie of /seed_session and drop those of later answers (verifiers 0.4 does). For them each process
 * remembers the newest state of the sessions it has seen; the newer of cookie and memory counts. Such a client behind
 * several replicas sees an older canvas now and then, and still gets the right reward.
 *
 * The cookie leaves out the prompt and the expected answer of an inline task: tools need neither, and they may be long.
 */
import { createHash, randomUUID } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { EMPTY_CANVAS, type Canvas } from '../../../schemas/canvas.ts';
import { State } from '../../../schemas/episode.ts';
import { ApiError } from '../../errors.ts';
import type { Call } from '../../context.ts';
import { Raw } from '../../raw.ts';
import { assertStateVersion, type Signer } from '../../state.ts';
import { createSessions } from '../sessions/bounded-map.ts';

export const SESSION_COOKIE = 'canvas_gym_session';

/**
 * Most bytes of a canvas, compressed. With the rest of the state, in base64 and with its attributes, the cookie then has less
 * than the 4096 bytes that every client must keep (RFC 6265, 6.1). About 120 shapes and arrows.
 */
const MAX_CANVAS_BYTES = 2400;
/** Most characters of its JSON: each session's canvas is kept in memory too. */
const MAX_CANVAS_LENGTH = 2 ** 15;
/** Most bytes a cookie may unfold to. */
const MAX_STATE_BYTES = 2 ** 18;
/** A trainer may pause for long while it updates its weights. */
const IDLE_MS = 3_600_000;
const MAX_SESSIONS = 8192;

export interface Session {
  /** Unsigned; a task that is not of the suite is there without its words. */
  state: State;
  /** The cookie it was opened with. */
  token: string;
  /** The session's last call, and what it was made on: a client that lost an answer calls again. */
  last?: { key: string; before: State } | undefined;
}

/** What tells a call from others of its session: a hash, since a body may be long. */
export function callKey({ token }: Session, name: string, body: string): string {
  return createHash('sha256').update(`${token} ${name} `).update(body).digest('base64');
}

/**
 * What a call is made on. The same call with the same cookie is a repetition: made once more on what it was made on, it has
 * the same answer. A process that has not seen the call, or nothing since, makes it on its cookie, which comes to the same;
 * only one that has seen later calls of the session, and not this one as the last, takes it for a new call.
 */
export function beforeCall({ state, last }: Session, key: string): { state: State; is_repeated: boolean } {
  return last?.key === key ? { state: last.before, is_repeated: true } : { state, is_repeated: false };
}

export interface NemoSessions {
  /** The value of Set-Cookie for a new session. */
  begin(state: State): string;
  /** @throws ApiError invalid_request without a session, state_changed, state_version. */
  open(call: Call): Session;
  /** The value of Set-Cookie that carries a state on. */
  carry(state: State, last?: Session['last']): string;
  /** Forgets a session, and gives the value of Set-Cookie for the answer; undefined where there is no session. */
  end(call: Call): string | undefined;
}

/** Whether a canvas is too large for a cookie; one that is submitted need not go on. */
export function isTooLarge(canvas: Canvas): boolean {
  const json = JSON.stringify(canvas);
  if (json.length > MAX_CANVAS_LENGTH) return true;
  return json.length > MAX_CANVAS_BYTES && deflateRawSync(json).length > MAX_CANVAS_BYTES;
}

export function withCookie(answer: unknown, cookie: string): Raw {
  return new Raw('application/json', JSON.stringify(answer), { 'set-cookie': cookie });
}

/** What a session needs to go on: no words of its task, and no canvas once it is over. */
function toCarried(state: State): State {
  const task = state.task && { prompt: '', canvas: state.task.canvas };
  return state.stop_reason === undefined ? { ...state, task } : { ...state, task, canvas: EMPTY_CANVAS, selected: [] };
}

function badCookie(): ApiError {
  const message = `the cookie ${SESSION_COOKIE} was changed or is of another server; begin anew with /seed_session`;
  return new ApiError('state_changed', message, { place: ['cookie'] });
}

function unfold(token: string): unknown {
  try {
    const options = { maxOutputLength: MAX_STATE_BYTES };
    return JSON.parse(inflateRawSync(Buffer.from(token, 'base64url'), options).toString());
  } catch {
    throw badCookie();
  }
}

/** Not `Secure`: trainers reach the server over plain HTTP. */
function toSetCookie(token: string): string {
  return `${SESSION_COOKIE}=${token}; Path=/; HttpOnly; SameSite=Lax`;
}

/** What stands in the cookie, as far as it can be a session of ours. */
function readToken(call: Call): string | undefined {
  const pairs = (call.headers.get('cookie') ?? '').split(/[;,]\s*/);
  const prefix = `${SESSION_COOKIE}=`;
  const token = pairs.findLast((pair) => pair.startsWith(prefix))?.slice(prefix.length);
  return token !== undefined && /^[\w-]+$/.test(token) ? token : undefined;
}

/** The value of Set-Cookie that leaves the session of a request as it is; undefined where there is none. */
export function keepSession(call: Call): string | undefined {
  const token = readToken(call);
  return token === undefined ? undefined : toSetCookie(token);
}

export function createNemoSessions(signer: Signer, now: () => number): NemoSessions {
  const memory = createSessions<Omit<Session, 'token'>>({ max_sessions: MAX_SESSIONS, idle_ms: IDLE_MS }, now);

  const carry: NemoSessions['carry'] = (whole, last) => {
    const state = toCarried(whole);
    memory.set(state.episode_id!, { state, last: last && { ...last, before: toCarried(last.before) } });
    return toSetCookie(deflateRawSync(JSON.stringify(signer.sign(state))).toString('base64url'));
  };

  const decode = (token: string): State => {
    const value = unfold(token);
    assertStateVersion({ state: value });
    const { success, data } = State.safeParse(value);
    if (!success || data.episode_id === undefined) throw badCookie();
    try {
      signer.assertUnchanged(data);
    } catch {
      throw badCookie();
    }
    return { ...data, sig: undefined };
  };

  const idOf = (token: string): string | undefined => {
    try {
      return decode(token).episode_id;
    } catch {
      return undefined;
    }
  };

  return {
    carry,
    begin: (state) => carry({ ...state, episode_id: randomUUID(), sig: undefined }),
    open: (call) => {
      const token = readToken(call);
      if (token === undefined) {
        const message = `no cookie ${SESSION_COOKIE}; begin with /seed_session and send back the cookie of each answer`;
        throw new ApiError('invalid_request', message, { place: ['cookie'] });
      }
      const state = decode(token);
      const remembered = memory.get(state.episode_id!);
      if (!remembered || remembered.state.turn < state.turn) return { state, token };
      return { ...remembered, token };
    },
    end: (call) => {
      const token = readToken(call);
      if (token === undefined) return undefined;
      const id = idOf(token);
      if (id !== undefined) memory.delete(id);
      return toSetCookie(token);
    },
  };
}
