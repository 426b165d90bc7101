/** The handlers of NeMo Gym's resources server; its Gymnasium protocol is in gymnasium.ts. */
import {
  NEMO_TOOL_ROUTE_IDS,
  NemoVerifyRequest,
  type NemoRow,
  type NemoToolRouteId,
} from '../../../schemas/protocols/nemo-gym.ts';
import { DEFAULT_PRESET } from '../../../schemas/reward.ts';
import { parseBody } from '../../body.ts';
import { ApiError } from '../../errors.ts';
import type { Call, Context, Handlers } from '../../context.ts';
import { Raw } from '../../raw.ts';
import { validate } from '../../validate.ts';
import { gymnasiumHandlers } from './gymnasium.ts';
import { withFields } from './echo.ts';
import { aggregateMetrics } from './metrics.ts';
import { answerCall, replay, type Replayed } from './replay.ts';
import { finishReason, lastMessage, ownCalls, readArguments, taskOfRow } from './row.ts';
import { createNemoSessions, withCookie, type NemoSessions } from './session.ts';
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

function toolHandlers({ environment }: Context, sessions: NemoSessions): Pick<Handlers, NemoToolRouteId> {
  const prefix = 'nemo_tool_'.length;
  const entries = NEMO_TOOL_ROUTE_IDS.map((id) => {
    const name = id.slice(prefix);
    const handle = ({ body }: { body: Uint8Array }, call: Call): Promise<Raw> => {
      const input = readArguments(toText(body));
      return sessions.play(call, { name, body, take: (state) => answerCall(state, { name, input }, environment) });
    };
    return [id, handle];
  });
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
  metrics.countCompletions(row.reward_preset ?? DEFAULT_PRESET, 1);
  return result;
}

async function verify(body: Uint8Array, call: Call, context: Context, sessions: NemoSessions): Promise<Raw> {
  const row = validate(NemoVerifyRequest, parseBody(body, false), 'body');
  const { reward, components } = scoreRollout(row, context);
  const terms = Object.entries(components).map(([name, value]) => [`reward/${name}`, value] as const);
  const answer = withFields(body, { reward, ...Object.fromEntries(terms) });
  await sessions.end(call);
  return new Raw(JSON_TYPE, answer);
}

export function nemoGymHandlers(context: Context) {
  const sessions = createNemoSessions(context.signer, context.ask_nemo);
  return {
    nemo_seed_session: async ({ body }) =>
      withCookie({}, await sessions.seed(startToolEpisode(toStart(body), context.environment).state)),
    ...toolHandlers(context, sessions),
    nemo_verify: ({ body }, call) => verify(body, call, context, sessions),
    nemo_aggregate_metrics: ({ body }) => aggregateMetrics(body),
    nemo_reverify_mode: () => 'stateless',
    ...gymnasiumHandlers(context, sessions),
  } satisfies Partial<Handlers>;
}
