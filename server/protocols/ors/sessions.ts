/**
 * The sessions of ORS. A session is data, and a call makes the next one of it; clients name it by the header X-Session-ID.
 * Sessions live in this process, so all requests of a client must reach the same one.
 */
import { InlineTask } from '../../../schemas/task.ts';
import type { CreateBody, Message, TextBlock } from '../../../schemas/protocols/ors.ts';
import { ORS_ENVIRONMENT, SessionId } from '../../../schemas/protocols/ors.ts';
import { ResetRequest } from '../../../schemas/requests.ts';
import type { ResetResponse } from '../../../schemas/responses.ts';
import { ApiError, suggest } from '../../errors.ts';
import type { Call, Context } from '../../context.ts';
import { validate } from '../../validate.ts';
import { startSession, type OrsSession } from './call.ts';
import type { OrsTasks } from './tasks.ts';
import { createSessions } from '../sessions/bounded-map.ts';
import { startToolEpisode } from '../tools/episode.ts';

/** Time without a request after which a session ends, ms. */
const IDLE_MS = 900_000;
/** When a client should ask again for a place, seconds. */
const RETRY_AFTER_S = 5;
/** Names of ended sessions that are remembered, so that a client is told what became of its own. */
const MAX_ENDED = 10_000;

export interface OrsSessions {
  /** @throws ApiError missing_header, session_exists, overloaded, and what is wrong with the request. */
  create(call: Call, body: CreateBody): string;
  /** The session of a request. @throws ApiError missing_header, unknown_session, session_ended. */
  of(call: Call): OrsSession;
  /** The session of that name, if it is still there. */
  get(id: string): OrsSession | undefined;
  replace(session: OrsSession): void;
  /** @throws ApiError missing_header. */
  end(call: Call): string;
}

function sessionId({ headers }: Call): string {
  const id = headers.get('x-session-id')?.trim();
  if (SessionId.safeParse(id).success) return id!;
  throw new ApiError('missing_header', 'send the header X-Session-ID: 1 to 200 visible ASCII characters', {
    place: ['header', 'X-Session-ID'],
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

export function createOrsSessions({ environment, ors }: Context, tasks: OrsTasks): OrsSessions {
  const sessions = createSessions<OrsSession>({ max_sessions: ors.max_sessions, idle_ms: IDLE_MS }, ors.now);
  /** Oldest first. */
  const ended = new Set<string>();
  const remember = (id: string): void => {
    ended.add(id);
    if (ended.size > MAX_ENDED) ended.delete(ended.values().next().value!);
  };
  const put = (session: OrsSession): void => {
    if (ors.max_sessions === 0) {
      const message = 'this server runs as several processes, which share no sessions; start it with --workers 1';
      throw new ApiError('sessions_off', message);
    }
    if (sessions.set(session.id, session)) return;
    const message = `all ${ors.max_sessions} sessions are in use; end some, or start the server with a larger --max-sessions`;
    throw new ApiError('overloaded', message, { headers: { 'retry-after': String(RETRY_AFTER_S) } });
  };
  return {
    create(call, body) {
      const id = sessionId(call);
      if (sessions.get(id)) {
        throw new ApiError('session_exists', 'the session has an episode; /delete it first, or take another session', {
          place: ['header', 'X-Session-ID'],
        });
      }
      assertEnvironment(body.env_name);
      if (body.toolset_name != null) {
        throw new ApiError('unknown_toolset', 'there are no toolsets; leave toolset_name out', {
          place: ['body', 'toolset_name'],
        });
      }
      put(startSession(id, startToolEpisode(toResetRequest(body, tasks), environment)));
      ended.delete(id);
      return id;
    },
    of(call) {
      const id = sessionId(call);
      const session = sessions.get(id);
      if (session) return session;
      const place = ['header', 'X-Session-ID'];
      if (ended.has(id)) throw new ApiError('session_ended', 'the session was deleted; create another one', { place });
      const message = `no such session; begin one with /create (it ends after ${IDLE_MS / 1000} s without a request)`;
      throw new ApiError('unknown_session', message, { place });
    },
    get: (id) => sessions.get(id),
    replace: put,
    end(call) {
      const id = sessionId(call);
      if (sessions.delete(id)) remember(id);
      return id;
    },
  };
}

const EXAMPLE =
  '{"actions": [{"type": "create_shape", "id": "a", "shape": "rectangle", "x": 100, "y": 100, "w": 160, "h": 80, "text": "Client"}, {"type": "create_shape", "id": "b", "shape": "ellipse", "x": 400, "y": 100, "w": 160, "h": 80, "text": "Server"}, {"type": "connect", "from": "a", "to": "b"}]}';

/** How to answer, for a model that knows nothing of this environment. */
function instructions({ w, h }: { w: number; h: number }): string {
  return [
    `Draw the diagram on a canvas of ${w} x ${h} pixels; x grows to the right, y grows downwards.`,
    'Use the tools and end with submit_diagram, or answer without a tool call with one JSON object like this:',
    EXAMPLE,
  ].join('\n');
}

const toBlock = (text: string): TextBlock => ({ text, detail: null, type: 'text' });

type Start = Pick<ResetResponse['observation'], 'prompt' | 'canvas_size'>;

export function toPrompt({ prompt, canvas_size }: Start): TextBlock[] {
  return [toBlock(prompt), toBlock(instructions(canvas_size))];
}

export function toMessages({ prompt, canvas_size }: Start): Message[] {
  return [
    { role: 'system', blocks: [toBlock(instructions(canvas_size))], detail: null },
    { role: 'user', blocks: [toBlock(prompt)], detail: null },
  ];
}
