/** The handlers of NeMo Gym's resources server; its Gymnasium protocol is in gymnasium.ts. */
import {
  NEMO_TOOL_ROUTE_IDS,
  NemoVerifyRequest,
  type NemoRow,
  type NemoToolRouteId,
} from '../../../schemas/protocols/nemo-gym.ts';
import { parseArguments } from '../../../schemas/tools.ts';
import { parseBody } from '../../body.ts';
import { ApiError } from '../../errors.ts';
import type { Call, Context, Handlers } from '../../context.ts';
import { Raw } from '../../raw.ts';
import { validate } from '../../validate.ts';
import { gymnasiumHandlers } from './gymnasium.ts';
import { withFields } from './echo.ts';
import { aggregateMetrics } from './metrics.ts';
import { replay, takeCall, type Replayed } from './replay.ts';
import { finishReason, lastMessage, ownCalls, taskOfRow } from './row.ts';
import { beforeCall, callKey, createNemoSessions, withCookie, type NemoSessions } from './session.ts';
import { startToolEpisode } from '../tools/episode.ts';

const JSON_TYPE = 'application/json';

const toStart = (row: NemoRow) => ({ ...taskOfRow(row), reward: row.reward_preset ?? undefined });

const decoder = new TextDecoder('utf-8', { fatal: true });

function toText(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new ApiError('not_json', 'body must be JSON: it is not UTF-8', { place: ['body'] });
  }
}

/** A fault of ours. The answer carries the session too: agents go on with the cookies of the last answer they got. */
function toFault(error: unknown, cookie: string, { report }: Context): ApiError {
  report(error);
  const headers = { 'retry-after': '1', 'set-cookie': cookie };
  return new ApiError('internal', 'the server failed on this call; it may be repeated', { headers });
}

/** One call of a tool in its session. The same call with the same cookie is a repetition, and has the same answer. */
function callInSession(name: string, body: Uint8Array, call: Call, context: Context, sessions: NemoSessions): Raw {
  const session = sessions.open(call);
  const text = toText(body);
  const key = callKey(session, name, text);
  const { state } = beforeCall(session, key);
  try {
    const { state: next, answer } = takeCall(state, name, parseArguments(text), context.environment);
    return withCookie(answer, sessions.carry(next, { key, before: state }));
  } catch (error) {
    throw error instanceof ApiError ? error : toFault(error, sessions.carry(session.state, session.last), context);
  }
}

function toolHandlers(context: Context, sessions: NemoSessions): Pick<Handlers, NemoToolRouteId> {
  const prefix = 'nemo_tool_'.length;
  const entries = NEMO_TOOL_ROUTE_IDS.map((id) => [
    id,
    ({ body }: { body: Uint8Array }, call: Call) => callInSession(id.slice(prefix), body, call, context, sessions),
  ]);
  return Object.fromEntries(entries) as Pick<Handlers, NemoToolRouteId>;
}

function scoreRollout(row: NemoVerifyRequest, { environment, metrics }: Context): Replayed {
  const start = toStart(row);
  const { calls, words } = ownCalls(row.response);
  const result =
    calls.length > 0
      ? replay(start, calls, words, environment)
      : environment.reward({
          ...start,
          completion: lastMessage(row.response),
          finish_reason: finishReason(row.response),
        });
  metrics.countCompletions(row.reward_preset ?? 'graded', 1);
  return result;
}

function verify(body: Uint8Array, call: Call, context: Context, sessions: NemoSessions): Raw {
  const row = validate(NemoVerifyRequest, parseBody(body, false), 'body');
  const { reward, components } = scoreRollout(row, context);
  const terms = Object.entries(components).map(([name, value]) => [`reward/${name}`, value] as const);
  const answer = withFields(body, { reward, ...Object.fromEntries(terms) });
  const cookie = sessions.end(call);
  return new Raw(JSON_TYPE, answer, cookie === undefined ? {} : { 'set-cookie': cookie });
}

export function nemoGymHandlers(context: Context) {
  const sessions = createNemoSessions(context.signer, () => performance.now());
  return {
    nemo_seed_session: ({ body }) =>
      withCookie({}, sessions.begin(startToolEpisode(toStart(body), context.environment).state)),
    ...toolHandlers(context, sessions),
    nemo_verify: ({ body }, call) => verify(body, call, context, sessions),
    nemo_aggregate_metrics: ({ body }) => aggregateMetrics(body),
    nemo_reverify_mode: () => 'stateless',
    ...gymnasiumHandlers(context, sessions),
  } satisfies Partial<Handlers>;
}
