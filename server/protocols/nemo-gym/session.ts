/**
 * A rollout's session for NeMo Gym. Its state travels in a cookie, compressed and, where the server has a secret, signed, so
 * that any replica takes the next call. Without a secret a client could change its canvas: /verify draws the calls of the
 * response itself and is not moved by that, but a turn of the Gymnasium protocol is paid by what the cookie says.
 *
 * Some clients of the tools keep the cookie of /seed_session and drop those of later answers (verifiers 0.4 does). For them
 * the server remembers the newest state of each rollout, in the process that keeps sessions; the newer of cookie and memory
 * counts. Such a client sees an older canvas where another replica took its last call, or where so many rollouts came since
 * that its own is forgotten; it still gets the right reward.
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
import type { SessionLimits } from '../sessions/bounded-map.ts';
import { createSessionKeeper, createSessionStore, type AskKeeper, type SessionKeeper } from '../sessions/store.ts';

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

/** What is remembered of a rollout; a task that is not of the suite is there without its words. */
export interface Remembered {
  state: State;
  /** The last call of a tool, and what it was made on: a client that lost an answer calls again. */
  last?: { key: string; before: State };
}

/**
 * Remembers rollouts. Where all places are taken, the one that was not seen for longest gives way.
 * @param now Milliseconds of a clock that never goes back.
 */
export function createNemoKeeper(limits: SessionLimits, now: () => number): SessionKeeper<Remembered> {
  return createSessionKeeper(limits, now, () => true);
}

/** What tells a call from others of its session: a hash, since a body may be long. */
function callKey(token: string, name: string, body: Uint8Array): string {
  return createHash('sha256').update(`${token} ${name} `).update(body).digest('base64');
}

/**
 * What a call is made on. The same call with the same cookie is a repetition: made once more on what it was made on, it has
 * the same answer. A client that keeps its first cookie says nothing by it: there the same call is another one, as it is in
 * the response, and only once all is over, when no call changes anything, it is a repetition. Where the call was not seen, or
 * nothing since, it is made on the cookie, which comes to the same.
 * @param sent The state in the cookie.
 */
function stateBefore(sent: State, remembered: Remembered | undefined, key: string): State {
  if (!remembered || remembered.state.turn < sent.turn) return sent;
  const { state, last } = remembered;
  const mayRepeat = sent.turn > 0 || state.stop_reason !== undefined;
  return mayRepeat && last?.key === key ? last.before : state;
}

/** A call of a tool: its name and arguments, and what it makes of a state. Pure: it may be asked twice. */
export interface ToolCall {
  name: string;
  body: Uint8Array;
  take: (state: State) => { state: State; answer: unknown };
}

export interface NemoSessions {
  /** The value of Set-Cookie for a new session of tool calls. */
  seed(state: State): Promise<string>;
  /** The same for one of turns, of which nothing is remembered. */
  begin(state: State): string;
  /** The state in a request's cookie. @throws ApiError invalid_request without a session, state_changed, state_version. */
  read(call: Call): State;
  /** The value of Set-Cookie that carries a state on. */
  carry(state: State): string;
  /** Makes a call of a tool. @throws ApiError as `read`. */
  play(call: Call, tool: ToolCall): Promise<Raw>;
  /** Forgets a session, where there is one. */
  end(call: Call): Promise<void>;
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

/** Whether a request belongs to a rollout, as far as can be seen. */
export function hasSession(call: Call): boolean {
  return readToken(call) !== undefined;
}

/**
 * An answer with the session of its request as it is, where it says nothing of one itself: agents go on with the cookies of
 * the last answer they got, whatever it was, and a model may call a tool that is not there or another route by mistake.
 */
export function withSession<R extends { headers: Readonly<Record<string, string>> }>(answer: R, call: Call): R {
  if ('set-cookie' in answer.headers) return answer;
  const token = readToken(call);
  return token === undefined ? answer : { ...answer, headers: { ...answer.headers, 'set-cookie': toSetCookie(token) } };
}

/** @param ask Asks the keeper that all requests of a client reach. */
export function createNemoSessions(signer: Signer, ask: AskKeeper<Remembered>): NemoSessions {
  const memory = createSessionStore(ask);

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

  const begin = (state: State): State => ({ ...state, episode_id: randomUUID(), sig: undefined });

  return {
    carry,
    begin: (state) => carry(begin(state)),
    seed: async (state) => {
      const begun = begin(state);
      await memory.create(begun.episode_id!, { state: toCarried(begun) });
      return carry(begun);
    },
    read: (call) => decode(tokenOf(call)),
    play: async (call, { name, body, take }) => {
      const token = tokenOf(call);
      const sent = decode(token);
      const key = callKey(token, name, body);
      const change = (remembered?: Remembered) => {
        const before = stateBefore(sent, remembered, key);
        const { state, answer } = take(before);
        const value = { state: toCarried(state), last: { key, before: toCarried(before) } };
        return { value, result: withCookie(answer, carry(state)) };
      };
      const updated = await memory.update(sent.episode_id!, change);
      if (updated) return updated.result;
      const { value, result } = change();
      await memory.create(sent.episode_id!, value);
      return result;
    },
    end: async (call) => {
      const token = readToken(call);
      const id = token === undefined ? undefined : idOf(token);
      if (id !== undefined) await memory.delete(id);
    },
  };
}
