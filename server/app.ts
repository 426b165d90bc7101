/**
 * The HTTP application: the route table, its validation and its handlers joined into one Hono app. Works in process
 * through `app.fetch`; `main.ts` puts it behind a socket. Every answer is whole when it is sent, nothing is streamed.
 */
import { Hono, type Context as HonoContext } from 'hono';
import { ROUTES, ROUTE_IDS, type Route } from '../schemas/routes.ts';
import { parseBody, readBody } from './body.ts';
import { reset, step } from './episode.ts';
import { ApiError, suggest, toErrorBody } from './errors.ts';
import { reward, score } from './grade.ts';
import { createHandlers, Raw, type Call, type Environment } from './handlers.ts';
import { createMetrics } from './metrics.ts';
import { render } from './render/index.ts';
import { assertStateVersion, createSigner } from './state.ts';
import { parseQuery, validate } from './validate.ts';

const ENVIRONMENT: Environment = { reset, step, reward, score, render };

/** Largest bodies, bytes: of `/score`, and of every other route. */
export interface BodyLimits {
  body: number;
  batch: number;
}

export const DEFAULT_BODY_LIMITS: BodyLimits = { body: 2 ** 20, batch: 32 * 2 ** 20 };

export interface AppOptions {
  /** Signs states, so that a changed one is refused. */
  secret?: string | undefined;
  body_limits?: BodyLimits | undefined;
  /** Where faults of the server are told, one entry each; default: nowhere. */
  log?: ((entry: string) => void) | undefined;
  /** What does the work; for callers that want to wrap it. */
  environment?: Environment | undefined;
}

const JSON_HEADERS = { 'content-type': 'application/json' };

function toResponse(answer: unknown): Response {
  if (!(answer instanceof Raw)) return new Response(JSON.stringify(answer), { headers: JSON_HEADERS });
  const body = answer.body as string | Uint8Array<ArrayBuffer>;
  return new Response(body, { headers: { 'content-type': answer.content_type, ...answer.headers } });
}

function toRefusal(error: ApiError): Response {
  const headers = { ...JSON_HEADERS, ...error.headers };
  return new Response(JSON.stringify(toErrorBody(error)), { status: error.status, headers });
}

interface ParsedRequest {
  params: unknown;
  query: unknown;
  body: unknown;
}

async function parseRequest(route: Route, c: HonoContext, limits: BodyLimits): Promise<ParsedRequest> {
  const params = route.params && validate(route.params, c.req.param(), 'path');
  const query = route.query && validate(route.query, parseQuery(c.req.query()), 'query');
  if (!route.body) return { params, query, body: undefined };
  const bytes = await readBody(c.req.raw, limits[route.body_limit ?? 'body']);
  const body = parseBody(bytes, route.body_optional === true);
  assertStateVersion(body);
  return { params, query, body: validate(route.body, body, 'body') };
}

const PATTERNS = ROUTE_IDS.map((id) => {
  const { method, path } = ROUTES[id];
  return { method, path, pattern: new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`) };
});

/** Why no route took a request: its path is unknown, or its method is not one of the path's. */
function toMismatch(method: string, path: string): ApiError {
  const methods = PATTERNS.filter(({ pattern }) => pattern.test(path)).map((route) => route.method);
  if (methods.length > 0) {
    const allow = methods.flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name])).join(', ');
    return new ApiError('method_not_allowed', `${path} takes ${allow}, not ${method}`, {
      place: ['path'],
      headers: { allow },
    });
  }
  const hint = suggest(path, [...new Set(PATTERNS.map((route) => route.path))]);
  return new ApiError('unknown_route', `no route ${path.slice(0, 100)}${hint}; GET / lists them`, { place: ['path'] });
}

export function createApp(options: AppOptions = {}): Hono {
  const limits = options.body_limits ?? DEFAULT_BODY_LIMITS;
  const metrics = createMetrics();
  const report = (error: unknown): void => {
    options.log?.(error instanceof Error ? (error.stack ?? error.message) : String(error));
  };
  const refuse = (error: unknown): Response => {
    if (error instanceof ApiError) return toRefusal(error);
    report(error);
    return toRefusal(
      new ApiError('internal', 'the server failed on this request; it may be repeated', {
        headers: { 'retry-after': '1' },
      }),
    );
  };
  const signer = createSigner(options.secret);
  const handlers = createHandlers({ environment: options.environment ?? ENVIRONMENT, signer, metrics, report });
  const app = new Hono();
  for (const id of ROUTE_IDS) {
    const route: Route = ROUTES[id];
    const handle = handlers[id] as (request: ParsedRequest, call: Call) => unknown;
    app.on(route.method, route.path.replace(/\{(\w+)\}/g, ':$1'), async (c) => {
      const start = performance.now();
      let response: Response;
      try {
        const request = await parseRequest(route, c, limits);
        response = toResponse(await handle(request, c.req.raw));
      } catch (error) {
        response = refuse(error);
      }
      metrics.countRequest(route.path, route.method, response.status, (performance.now() - start) / 1000);
      return response;
    });
  }
  app.notFound((c) => {
    const error = toMismatch(c.req.method, c.req.path);
    metrics.countRequest('unknown', 'any', error.status, 0);
    return toRefusal(error);
  });
  app.onError(refuse);
  return app;
}
