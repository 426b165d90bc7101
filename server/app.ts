/**
 * The HTTP application: the route table on a Hono app. Works in process through `app.fetch`; `main.ts` puts it behind a
 * socket.
 */
import { Hono } from 'hono';
import { ROUTES, ROUTE_IDS } from '../schemas/routes.ts';
import { readBody } from './body.ts';
import { createDispatcher, type Dispatcher, type DispatchOptions, type ReadBody, type Reply } from './dispatch.ts';
import { ApiError, suggest } from './errors.ts';
import { refuseUnknownTool } from './protocols/nemo-gym/unknown-tool.ts';

export { DEFAULT_BODY_LIMITS, type BodyLimits } from './dispatch.ts';
export type AppOptions = DispatchOptions;

function toResponse({ status, headers, body }: Reply): Response {
  return new Response(body as ConstructorParameters<typeof Response>[0], { status, headers });
}

const PATTERNS = ROUTE_IDS.map((id) => {
  const { method, path } = ROUTES[id];
  return { method, path, pattern: new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`) };
});

/** Why no route took a request: its path is unknown, or its method is not one of the path's. */
function toMismatch(method: string, path: string, headers: Headers): ApiError {
  const methods = PATTERNS.filter(({ pattern }) => pattern.test(path)).map((route) => route.method);
  if (methods.length > 0) {
    const allow = methods.flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name])).join(', ');
    return new ApiError('method_not_allowed', `${path} takes ${allow}, not ${method}`, {
      place: ['path'],
      headers: { allow },
    });
  }
  const refusal = method === 'POST' ? refuseUnknownTool(path, { headers }) : undefined;
  if (refusal) return refusal;
  const hint = suggest(path, [...new Set(PATTERNS.map((route) => route.path))]);
  return new ApiError('unknown_route', `no route ${path.slice(0, 100)}${hint}; GET / lists them`, { place: ['path'] });
}

/** The Hono app over a dispatcher that may serve other listeners too. */
export function toApp(dispatcher: Dispatcher): Hono {
  const app = new Hono();
  for (const id of ROUTE_IDS) {
    const { method, path } = ROUTES[id];
    app.on(method, path.replace(/\{(\w+)\}/g, ':$1'), async (c) => {
      const { raw } = c.req;
      const body: ReadBody = (limit, hold) => readBody(raw, limit, hold);
      const exchange = { params: c.req.param(), query: c.req.query(), body, headers: raw.headers };
      return toResponse(await dispatcher.dispatch(id, exchange));
    });
  }
  app.notFound((c) =>
    toResponse(dispatcher.refuseUnknown(toMismatch(c.req.method, c.req.path, c.req.raw.headers), c.req.raw)),
  );
  app.onError((error) => toResponse(dispatcher.refuse(error)));
  return app;
}

export function createApp(options: AppOptions = {}): Hono {
  return toApp(createDispatcher(options));
}
