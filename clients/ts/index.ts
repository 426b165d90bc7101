/**
 * Client of the environment's HTTP API. Its methods and types are the rows of the route table, so they cannot drift.
 *
 *   const client = createClient({ url: 'http://127.0.0.1:8000' });
 *   const { observation, state } = await client.reset({ seed: 7 });
 *   const { reward, info } = await client.step({ state, action: '{"actions": [...]}' });
 *
 * Every request may be repeated safely, since the server keeps nothing, so failed ones are: see `retries`.
 */
import {
  ENV_ROUTES,
  ENV_ROUTE_IDS,
  type EnvRouteId,
  type RawRouteId,
  type Route,
  type RouteAnswer,
  type RouteInput,
} from '../../schemas/routes.ts';
import { ConnectionError, toResponseError } from './errors.ts';

export { ConnectionError, ResponseError } from './errors.ts';

export interface ClientOptions {
  /** Where the server is; a path in it is kept. */
  url: string;
  /** What sends the requests; default: the global `fetch`. `app.fetch` works too, without a socket. */
  fetch?: ((request: Request) => Response | Promise<Response>) | undefined;
  /** How often a request is repeated after a broken connection, 408, 429, 502, 503 or 504. Default 3. */
  retries?: number | undefined;
  /** Wait before the first repetition, ms; doubles each time, at most 5 s. Default 200. */
  retry_delay_ms?: number | undefined;
  /** Time an attempt may take, ms. Default 60 000. */
  timeout_ms?: number | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
}

type Answer<K extends EnvRouteId> = K extends RawRouteId ? Blob : RouteAnswer<K>;
type OptionalInput<K extends EnvRouteId> = object extends RouteInput<K> ? true : false;

/** A method for each route. Path, query and body go into one object; pictures and pages come as a Blob with a type. */
export type Client = {
  [K in EnvRouteId]: OptionalInput<K> extends true
    ? (input?: RouteInput<K>, options?: CallOptions) => Promise<Answer<K>>
    : (input: RouteInput<K>, options?: CallOptions) => Promise<Answer<K>>;
};

const RETRIED: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);
const MAX_DELAY_MS = 5000;

type Input = Readonly<Record<string, unknown>>;

function toUrl(base: string, route: Route, input: Input): string {
  const names = new Set(Object.keys(route.params?.shape ?? {}));
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(input[name])));
  if (route.body) return base + path;
  const query = Object.entries(input).filter(([name, value]) => !names.has(name) && value !== undefined);
  const text = new URLSearchParams(Object.fromEntries(query.map(([name, value]) => [name, String(value)]))).toString();
  return base + path + (text && `?${text}`);
}

function toRequest(route: Route, input: Input, options: ClientOptions, signal: AbortSignal): Request {
  const base = options.url.replace(/\/+$/, '');
  const body = route.body ? JSON.stringify(input) : null;
  const headers = {
    accept: 'application/json',
    ...(body === null ? {} : { 'content-type': 'application/json' }),
    ...options.headers,
  };
  return new Request(toUrl(base, route, input), { method: route.method, headers, body, signal });
}

/** Waits; ends early, with the caller's reason, when the caller gives up. */
function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** How long to wait before the next attempt: what the server says, else twice as long each time. */
function delayMs(options: ClientOptions, attempt: number, answer: Received | Error): number {
  const said = answer instanceof Error ? NaN : Number(answer.headers.get('retry-after') ?? NaN) * 1000;
  const own = (options.retry_delay_ms ?? 200) * 2 ** attempt;
  return Math.min(MAX_DELAY_MS, Number.isFinite(said) ? Math.max(said, own) : own);
}

/** A whole answer: its body has arrived too, since a connection can break in the middle of it. */
interface Received {
  ok: boolean;
  status: number;
  headers: Headers;
  /** A Blob where the route answers pictures or pages. */
  body: string | Blob;
}

async function attempt(
  route: Route,
  input: Input,
  options: ClientOptions,
  caller: AbortSignal | undefined,
): Promise<Received | Error> {
  const timeout = AbortSignal.timeout(options.timeout_ms ?? 60_000);
  const request = toRequest(route, input, options, caller ? AbortSignal.any([caller, timeout]) : timeout);
  try {
    const response = await (options.fetch ?? fetch)(request);
    const { ok, status, headers } = response;
    const isRaw = ok && 'content' in route.answer;
    return { ok, status, headers, body: await (isRaw ? response.blob() : response.text()) };
  } catch (error) {
    caller?.throwIfAborted();
    return new ConnectionError(request.url, error);
  }
}

async function send(route: Route, input: Input, options: ClientOptions, signal?: AbortSignal): Promise<Received> {
  for (let tried = 0; ; tried++) {
    const answer = await attempt(route, input, options, signal);
    const isFailure = answer instanceof Error || RETRIED.has(answer.status);
    if (!isFailure) return answer;
    if (tried >= (options.retries ?? 3)) {
      if (answer instanceof Error) throw answer;
      return answer;
    }
    await sleep(delayMs(options, tried, answer), signal);
  }
}

async function call(route: Route, input: Input, options: ClientOptions, signal?: AbortSignal): Promise<unknown> {
  signal?.throwIfAborted();
  const { ok, status, headers, body } = await send(route, input, options, signal);
  if (typeof body !== 'string') return body;
  const toError = (): Error => toResponseError(options.url, { status, headers, body });
  if (!ok) throw toError();
  try {
    return JSON.parse(body);
  } catch {
    throw toError();
  }
}

/**
 * A client of the server at `url`.
 * Methods throw ResponseError when the server refuses or fails, ConnectionError when it cannot be reached.
 */
export function createClient(options: ClientOptions): Client {
  const methods = ENV_ROUTE_IDS.map((id) => [
    id,
    (input: Input = {}, { signal }: CallOptions = {}) => call(ENV_ROUTES[id], input, options, signal),
  ]);
  return Object.fromEntries(methods) as Client;
}
