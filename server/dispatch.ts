/**
 * From a request to its reply, whichever way the request came in: the body's limits, validation, the handler, refusals,
 * counters. `app.ts` (Hono, in process or for rare routes) and `node-listener.ts` (straight from a socket) both end here.
 */
import { ROUTES, type Route, type RouteId } from '../schemas/routes.ts';
import { parseBody } from './body.ts';
import type { Call, Environment } from './context.ts';
import { reset, step } from './episode.ts';
import { ApiError, toErrorBody } from './errors.ts';
import { reward, score } from './grade.ts';
import { createHeldBodies, whileHeld, type HeldBodies, type HoldBytes } from './held-bodies.ts';
import { createHandlers } from './handlers.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { DEFAULT_ORS, type OrsOptions } from './protocols/ors/handlers.ts';
import { createNemoKeeper, withSession, type Remembered } from './protocols/nemo-gym/session.ts';
import { createOrsKeeper, type OrsEntry } from './protocols/ors/sessions.ts';
import type { AskKeeper } from './protocols/sessions/store.ts';
import type { SessionLimits } from './protocols/sessions/bounded-map.ts';
import { createSharedKeeper, createSharedSessions, type SharedSession } from './protocols/sessions/shared.ts';
import type { SocketContext } from './protocols/openenv/sockets.ts';
import { Raw } from './raw.ts';
import { render } from './render/index.ts';
import type { ScorePool } from './score-pool.ts';
import { assertStateVersion, createSigner } from './state.ts';
import { parseQuery, validate } from './validate.ts';

const ENVIRONMENT: Environment = { reset, step, reward, score, render };

/** Largest bodies, bytes: of routes with `body_limit: 'batch'`, and of every other. */
export interface BodyLimits {
  body: number;
  batch: number;
}

/** So many of the largest bodies a process holds at a time, or more of smaller ones. */
const MOST_LARGEST_BODIES = 4;

export const DEFAULT_BODY_LIMITS: BodyLimits = { body: 2 ** 20, batch: 32 * 2 ** 20 };

export const DEFAULT_SESSION_LIMITS: SessionLimits = { max_sessions: 4096, idle_ms: 3_600_000 };

/** Who keeps the sessions that outlive a request. */
export interface AskKeepers {
  shared: AskKeeper<SharedSession>;
  ors: AskKeeper<OrsEntry>;
  nemo: AskKeeper<Remembered>;
}

export interface DispatchOptions {
  /** Signs states, so that a changed one is refused. */
  secret?: string | undefined;
  body_limits?: BodyLimits | undefined;
  /** Where faults of the server are told, one entry each; default: nowhere. */
  log?: ((entry: string) => void) | undefined;
  /** Of each protocol that leaves its sessions with the server. */
  session_limits?: SessionLimits | undefined;
  /** Default: this process. */
  keepers?: Partial<AskKeepers> | undefined;
  /** What does the work; for callers that want to wrap it. */
  environment?: Environment | undefined;
  /** How many tasks ORS clients get, and when they are told to wait; default DEFAULT_ORS. */
  ors?: Partial<OrsOptions> | undefined;
  /** Default: counters of its own. */
  metrics?: Metrics | undefined;
  /** Answers a request of a route that is `in_thread` elsewhere, or says that it does not. */
  scoreElsewhere?: ScorePool['score'] | undefined;
}

/** Reads a body, no further than a limit, and says how much of it is held. */
export type ReadBody = (limit: number, hold: HoldBytes) => Promise<Uint8Array>;

/** A request of a known route, before anything in it was checked. */
export interface Exchange extends Call {
  params?: unknown;
  query?: Readonly<Record<string, string>>;
  /** The body's bytes, which the caller holds, or what reads them. Asked only where the route takes a body. */
  body?: Uint8Array | ReadBody;
}

export interface Reply {
  status: number;
  headers: Record<string, string>;
  /** A stream where the answer has to wait. */
  body: string | Uint8Array | ReadableStream<Uint8Array>;
}

export interface Dispatcher {
  /** What web sockets rest on, which are no requests and replies. */
  readonly context: SocketContext;
  /**
   * Never throws: a fault of the caller is a 4xx, a fault of the server is reported and a 503. At once where nothing has to be
   * waited for: promises cost a few percent of a step.
   */
  dispatch(id: RouteId, exchange: Exchange): Reply | Promise<Reply>;
  /** A refusal of a request that belongs to no route. */
  refuseUnknown(error: ApiError, call: Call): Reply;
  /** The reply to a fault that no route caught. */
  refuse(error: unknown): Reply;
  limitOf(id: RouteId): number;
  /** What every listener holds of bodies. */
  readonly bodies: HeldBodies;
}

interface ParsedRequest {
  params: unknown;
  query: unknown;
  body: unknown;
}

const JSON_TYPE = 'application/json';

function toReply(answer: unknown): Reply {
  if (answer instanceof Raw) {
    const { status, content_type, headers, body } = answer;
    return { status, headers: { 'content-type': content_type, ...headers }, body };
  }
  return { status: 200, headers: { 'content-type': JSON_TYPE }, body: JSON.stringify(answer) };
}

function toRefusal(error: ApiError): Reply {
  const headers = { 'content-type': JSON_TYPE, ...error.headers };
  return { status: error.status, headers, body: JSON.stringify(toErrorBody(error)) };
}

function parseRequest(route: Route, { params, query }: Exchange, bytes: Uint8Array | undefined): ParsedRequest {
  const valid = {
    params: route.params && validate(route.params, params, 'path'),
    query: route.query && validate(route.query, parseQuery(query ?? {}), 'query'),
  };
  if (!route.body || bytes === undefined) return { ...valid, body: undefined };
  if (route.body === 'bytes') return { ...valid, body: bytes };
  const body = parseBody(bytes, route.body_optional === true);
  assertStateVersion(body);
  return { ...valid, body: validate(route.body, body, 'body') };
}

export function createDispatcher(options: DispatchOptions = {}): Dispatcher {
  const limits = options.body_limits ?? DEFAULT_BODY_LIMITS;
  const metrics = options.metrics ?? createMetrics();
  const report = (error: unknown): void => {
    options.log?.(error instanceof Error ? (error.stack ?? error.message) : String(error));
  };
  const refuse = (error: unknown): Reply => {
    if (error instanceof ApiError) return toRefusal(error);
    report(error);
    const headers = { 'retry-after': '1' };
    return toRefusal(new ApiError('internal', 'the server failed on this request; it may be repeated', { headers }));
  };
  const signer = createSigner(options.secret);
  const sessionLimits = options.session_limits ?? DEFAULT_SESSION_LIMITS;
  const now = (): number => performance.now();
  const shared = createSharedSessions(options.keepers?.shared ?? createSharedKeeper(sessionLimits, now));
  const askOrs = options.keepers?.ors ?? createOrsKeeper(sessionLimits, now);
  const askNemo = options.keepers?.nemo ?? createNemoKeeper(sessionLimits, now);
  const environment = options.environment ?? ENVIRONMENT;
  const ors = { ...DEFAULT_ORS, ...options.ors };
  const handlers = createHandlers({
    environment,
    signer,
    metrics,
    shared,
    report,
    session_limits: sessionLimits,
    ors,
    ask_ors: askOrs,
    ask_nemo: askNemo,
  });
  const limitOf = (id: RouteId): number => limits[(ROUTES[id] as Route).body_limit ?? 'body'];

  const bodies = createHeldBodies(MOST_LARGEST_BODIES * Math.max(limits.body, limits.batch));

  const answerBytes = (id: RouteId, exchange: Exchange, bytes: Uint8Array | undefined): Reply | Promise<Reply> => {
    const route: Route = ROUTES[id];
    const handle = handlers[id] as (request: ParsedRequest, call: Call) => unknown;
    if (route.in_thread && bytes) {
      const elsewhere = options.scoreElsewhere?.({ route: id, query: exchange.query ?? {}, body: bytes });
      if (elsewhere) return elsewhere;
    }
    const result = handle(parseRequest(route, exchange, bytes), exchange);
    return result instanceof Promise ? result.then(toReply) : toReply(result);
  };
  const answer = (id: RouteId, exchange: Exchange): Reply | Promise<Reply> => {
    const body = (ROUTES[id] as Route).body && exchange.body;
    if (typeof body !== 'function') return answerBytes(id, exchange, body);
    return whileHeld(bodies, async (hold) => answerBytes(id, exchange, await body(limitOf(id), hold)));
  };

  return {
    context: { environment: options.environment ?? ENVIRONMENT, metrics, report, shared },
    limitOf,
    bodies,
    refuse,
    dispatch(id, exchange) {
      const start = performance.now();
      const finish = (answered: Reply): Reply => {
        const reply = withSession(answered, exchange);
        const { path, method } = ROUTES[id];
        metrics.countRequest(path, method, reply.status, (performance.now() - start) / 1000);
        return reply;
      };
      try {
        const reply = answer(id, exchange);
        return reply instanceof Promise ? reply.catch(refuse).then(finish) : finish(reply);
      } catch (error) {
        return finish(refuse(error));
      }
    },
    refuseUnknown(error, call) {
      metrics.countRequest('unknown', 'any', error.status, 0);
      return withSession(toRefusal(error), call);
    },
  };
}
