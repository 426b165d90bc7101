/** The sessions of ORS. A session is data, and a call makes the next one of it; clients name it by the header X-Session-ID. */
import { InlineTask } from '../../../schemas/task.ts';
import { ORS_ENVIRONMENT, SessionId, type CreateBody } from '../../../schemas/protocols/ors.ts';
import { ResetRequest } from '../../../schemas/requests.ts';
import { ApiError, suggest } from '../../errors.ts';
import type { Call, Environment } from '../../context.ts';
import { validate } from '../../validate.ts';
import { startSession, type OrsSession } from './call.ts';
import type { OrsTasks } from './tasks.ts';
import type { SessionLimits } from '../sessions/bounded-map.ts';
import { createSessionKeeper, createSessionStore, type AskKeeper, type SessionKeeper } from '../sessions/store.ts';
import { startToolEpisode } from '../tools/episode.ts';

/** When a client should ask again for a place, seconds. */
const RETRY_AFTER_S = 5;
/** What is kept under a name: a session, or that one was ended, so that its client is told what became of it. */
export type OrsEntry = OrsSession | { ended: true };

const isEnded = (entry: OrsEntry): entry is { ended: true } => 'ended' in entry;

/**
 * Keeps them. Where all places are taken, what nobody plays any more gives way to a new session.
 * @param now Milliseconds of a clock that never goes back.
 */
export function createOrsKeeper(limits: SessionLimits, now: () => number): SessionKeeper<OrsEntry> {
  return createSessionKeeper(limits, now, (entry) => isEnded(entry) || entry.state.stop_reason !== undefined);
}

export interface OrsSessions {
  /** @throws ApiError missing_header, session_exists, overloaded, and what is wrong with the request. */
  create(call: Call, body: CreateBody): Promise<string>;
  /** The session of a request. @throws ApiError as `update`. */
  of(call: Call): Promise<OrsSession>;
  /**
   * Replaces the session of a request by what `change` makes of it, and gives its result.
   * @throws ApiError missing_header, unknown_session, session_ended; and what `change` throws: nothing is replaced then.
   */
  update<R>(call: Call, change: (session: OrsSession) => { value: OrsSession; result: R }): Promise<R>;
  /** @throws ApiError missing_header. */
  end(call: Call): Promise<string>;
}

const PLACE = ['header', 'X-Session-ID'];

/** The session that a request names. @throws ApiError missing_header. */
export function sessionId({ headers }: Call): string {
  const id = headers.get('x-session-id')?.trim();
  if (SessionId.safeParse(id).success) return id!;
  throw new ApiError('missing_header', 'send the header X-Session-ID: 1 to 200 visible ASCII characters', {
    place: PLACE,
  });
}

/** @throws ApiError unknown_environment. */
export function assertEnvironment(name: string | null | undefined): void {
  if (name === null || name === undefined || name.toLowerCase() === ORS_ENVIRONMENT) return;
  const hint = suggest(name, [ORS_ENVIRONMENT]) || `; there is ${ORS_ENVIRONMENT}`;
  throw new ApiError('unknown_environment', `no environment ${JSON.stringify(name.slice(0, 60))}${hint}`, {
    place: ['env_name'],
  });
}

const OwnTask = InlineTask.extend({ reward: ResetRequest.shape.reward, max_turns: ResetRequest.shape.max_turns });
const SuiteTask = ResetRequest.pick({ task_id: true, reward: true, max_turns: true }).loose();

/** What a task_spec asks for: a task of the suite where it names one, else the task it is itself. */
function fromSpec(spec: Record<string, unknown>): ResetRequest {
  if (spec['task_id'] !== undefined) {
    const { task_id, reward, max_turns } = validate(SuiteTask, spec, 'task_spec');
    return { task_id, reward, max_turns };
  }
  const { reward, max_turns, ...task } = validate(OwnTask, spec, 'task_spec');
  return { task, reward, max_turns };
}

function toResetRequest({ split, index, task_spec }: CreateBody, tasks: OrsTasks): ResetRequest {
  const hasIndex = split != null && index != null;
  if ((task_spec != null) === hasIndex || (split != null) !== (index != null)) {
    throw new ApiError('invalid_request', 'give split and index, or task_spec, and nothing of the other', {
      place: ['body', task_spec == null ? 'split' : 'task_spec'],
    });
  }
  if (task_spec != null) return fromSpec(task_spec);
  return { task_id: tasks.at(split!, index!, ['body', 'index']).task_id };
}

/** @param ask Asks the keeper that all requests of a client reach. */
export function createOrsSessions(
  ask: AskKeeper<OrsEntry>,
  { max_sessions, idle_ms }: SessionLimits,
  environment: Environment,
  tasks: OrsTasks,
): OrsSessions {
  const store = createSessionStore(ask);
  const update: OrsSessions['update'] = async (call, change) => {
    const id = sessionId(call);
    const updated = await store.update(id, (entry) => {
      if (isEnded(entry)) return { value: entry, result: undefined };
      const { value, result } = change(entry);
      return { value, result: { of: result } };
    });
    if (updated?.result) return updated.result.of;
    if (updated) throw new ApiError('session_ended', 'the session was deleted; create another one', { place: PLACE });
    const message = `no such session; begin one with /create (it ends after ${idle_ms / 1000} s without a request)`;
    throw new ApiError('unknown_session', message, { place: PLACE });
  };
  return {
    async create(call, body) {
      const id = sessionId(call);
      const known = await store.update(id, (value) => ({ value, result: !isEnded(value) }));
      if (known?.result) {
        const message = 'the session has an episode; /delete it first, or take another session';
        throw new ApiError('session_exists', message, { place: PLACE });
      }
      assertEnvironment(body.env_name);
      if (body.toolset_name != null) {
        throw new ApiError('unknown_toolset', 'there are no toolsets; leave toolset_name out', {
          place: ['body', 'toolset_name'],
        });
      }
      const session = startSession(id, startToolEpisode(toResetRequest(body, tasks), environment));
      if (await store.create(id, session)) return id;
      const message = `all ${max_sessions} sessions are in use; end some, or start the server with a larger --max-sessions`;
      throw new ApiError('overloaded', message, { headers: { 'retry-after': String(RETRY_AFTER_S) } });
    },
    of: (call) => update(call, (value) => ({ value, result: value })),
    update,
    async end(call) {
      const id = sessionId(call);
      await store.update(id, () => ({ value: { ended: true }, result: undefined }));
      return id;
    },
  };
}
