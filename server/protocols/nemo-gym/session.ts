/**
 * A rollout's session for NeMo Gym. Its state travels in a cookie, compressed and, where the server has a secret, signed, so
 * that any replica takes the next call. Without a secret a client could change its canvas: /verify draws the calls of the
 * response itself and is not moved by that, but a turn of the Gymnasium protocol is paid by what the cookie says.
 *
 * Some clients of the tools keep the cookie of /seed_session and drop those of later answers (verifiers 0.4 does). For them
 * each process remembers the newest state of the sessions whose tools it has called; the newer of cookie and memory counts.
 * Such a client sees an older canvas where another process took its last call, or where so many sessions came since that its
 * own is forgotten; it still gets the right reward.
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
import { createSessions, type SessionLimits } from '../sessions/bounded-map.ts';

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

/** A session as the next call of a tool finds it. */
export interface Session {
  /** Unsigned; a task that is not of the suite is there without its words. */
  state: State;
  /** The cookie it was opened with. */
  token: string;
  /** Whether the client sends the cookie of an answer, and not that of /seed_session only. */
  follows: boolean;
  /** The session's last call, and what it was made on: a client that lost an answer calls again. */
  last?: LastCall | undefined;
}

export interface LastCall {
  key: string;
  before: State;
}

/** What tells a call from others of its session: a hash, since a body may be long. */
export function callKey({ token }: Session, name: string, body: Uint8Array): string {
  return createHash('sha256').update(`${token} ${name} `).update(body).digest('base64');
}

/**
 * What a call is made on. The same call with the same cookie is a repetition: made once more on what it was made on, it has
 * the same answer. A client that keeps its first cookie says nothing by it: there the same call is another one, as it is in
 * the response, and only once all is over, when no call changes anything, it is a repetition. A process that has not seen the
 * call, or nothing since, makes it on its cookie, which comes to the same.
 */
export function stateBefore({ state, follows, last }: Session, key: string): State {
  const mayRepeat = follows || state.stop_reason !== undefined;
  return mayRepeat && last?.key === key ? last.before : state;
}

export interface NemoSessions {
  /** The value of Set-Cookie for a new session. */
  begin(state: State): string;
  /** The state in a request's cookie. @throws ApiError invalid_request without a session, state_changed, state_version. */
  read(call: Call): State;
  /** The session of a tool's call. @throws ApiError as `read`. */
  open(call: Call): Session;
  /** The value of Set-Cookie that carries a state on. */
  carry(state: State): string;
  /** The same for the state after a tool's call, which is remembered. */
  remember(state: State, last: LastCall): string;
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

/** @throws ApiError invalid_request without a session. */
function tokenOf(call: Call): string {
  const token = readToken(call);
  if (token !== undefined) return token;
  const message = `no cookie ${SESSION_COOKIE}; begin with /seed_session and send back the cookie of each answer`;
  throw new ApiError('invalid_request', message, { place: ['cookie'] });
}

/** The value of Set-Cookie that leaves the session of a request as it is; undefined where there is none. */
export function keepSession(call: Call): string | undefined {
  const token = readToken(call);
  return token === undefined ? undefined : toSetCookie(token);
}

/** A refusal whose answer leaves the session of a request as it is. */
export function withSession(error: ApiError, call: Call): ApiError {
  const cookie = keepSession(call);
  if (cookie === undefined) return error;
  const { code, message, details, headers } = error;
  return new ApiError(code, message, { details, headers: { ...headers, 'set-cookie': cookie } });
}

/** @param now Milliseconds of a clock that never goes back. */
export function createNemoSessions(signer: Signer, limits: SessionLimits, now: () => number): NemoSessions {
  const memory = createSessions<Pick<Session, 'state' | 'last'>>(limits, now, () => true);

  const carry = (state: State): string =>
    toSetCookie(deflateRawSync(JSON.stringify(signer.sign(toCarried(state)))).toString('base64url'));

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
    read: (call) => decode(tokenOf(call)),
    open: (call) => {
      const token = tokenOf(call);
      const sent = decode(token);
      const remembered = memory.get(sent.episode_id!);
      const newest = remembered && remembered.state.turn >= sent.turn ? remembered : { state: sent };
      return { ...newest, token, follows: sent.turn > 0 };
    },
    remember: (state, { key, before }) => {
      memory.set(state.episode_id!, { state: toCarried(state), last: { key, before: toCarried(before) } });
      return carry(state);
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
