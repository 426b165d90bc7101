/**
 * One suite, two transports: in process through `app.fetch`, and over a real socket. Every answer that a test receives
 * here is held against the OpenAPI document first: status, media type and schema.
 */
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createClient, type Client } from '../../clients/ts/index.ts';
import { createOpenApi } from '../../schemas/openapi.ts';
import { ROUTES, type Route } from '../../schemas/routes.ts';
import { ABOUT } from '../../server/about.ts';
import { createApp } from '../../server/app.ts';
import { startServer } from '../../server/main.ts';

interface Operation {
  responses: Record<string, { content: Record<string, { schema: { $ref?: string } }> }>;
}

export const DOCUMENT = createOpenApi(ABOUT) as { paths: Record<string, Record<string, Operation>> };
export const ajv = new Ajv2020({ strict: false });
ajv.addSchema(DOCUMENT, 'openapi.json');

export function validatorOf(ref: string): (value: unknown) => string {
  const validate = ajv.compile({ $ref: `openapi.json${ref}` });
  return (value) => (validate(value) ? '' : ajv.errorsText(validate.errors));
}

const routes: readonly Route[] = Object.values(ROUTES);

function routeOf(method: string, path: string): Route | undefined {
  return routes.find((route) => {
    const pattern = new RegExp(`^${route.path.replace('.', '\\.').replace(/\{\w+\}/, '[^/]+')}$`);
    return route.method === method && pattern.test(path);
  });
}

const validators = new Map<string, (value: unknown) => string>();

function faultOf(ref: string, value: unknown): string {
  const validate = validators.get(ref) ?? validatorOf(ref);
  validators.set(ref, validate);
  return validate(value);
}

/** What the document has to say against an answer; '' for nothing. */
function documentFault(method: string, path: string, { status, type, json }: Answer): string {
  const route = routeOf(method, path);
  if (!route) return faultOf('#/components/schemas/ErrorBody', json);
  const response = DOCUMENT.paths[route.path]?.[method.toLowerCase()]?.responses[status];
  const content = response?.content[type];
  if (!content) return `${method} ${path}: the document has no ${status} of type ${type}`;
  return content.schema.$ref ? faultOf(content.schema.$ref, json) : '';
}

export interface Answer {
  status: number;
  /** Media type without parameters. */
  type: string;
  headers: Headers;
  text: string;
  /** undefined where the answer is no JSON. */
  json: unknown;
}

export interface Api {
  /** Base of the addresses that `fetch` takes. */
  url: string;
  fetch: (request: Request) => Promise<Response>;
  client: Client;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** A body that is no text is sent as JSON. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  send(method: string, path: string, init?: RequestInit): Promise<Answer>;
}

async function toAnswer(response: Response): Promise<Answer> {
  const text = await response.text();
  const type = (response.headers.get('content-type') ?? '').split(';')[0]!;
  const json: unknown = type === 'application/json' && text !== '' ? JSON.parse(text) : undefined;
  return { status: response.status, type, headers: response.headers, text, json };
}

export function createApi(url: string, fetch: (request: Request) => Promise<Response>): Api {
  const send = async (method: string, path: string, init: RequestInit = {}): Promise<Answer> => {
    const answer = await toAnswer(await fetch(new Request(url + path, { method, ...init })));
    if (method !== 'HEAD') expect(documentFault(method, path.split('?')[0]!, answer)).toBe('');
    return answer;
  };
  return {
    url,
    fetch,
    client: createClient({ url, fetch, retries: 0 }),
    send,
    get: (path, headers = {}) => send('GET', path, { headers }),
    post: (path, body, headers = { 'content-type': 'application/json' }) =>
      send('POST', path, { headers, body: typeof body === 'string' ? body : JSON.stringify(body) }),
  };
}

export interface ApiOptions {
  secret?: string;
}

async function open(transport: string, { secret }: ApiOptions): Promise<{ api: Api; close: () => Promise<void> }> {
  if (transport === 'in process') {
    const app = createApp({ secret });
    return { api: createApi('http://test', async (request) => app.fetch(request)), close: () => Promise.resolve() };
  }
  const server = await startServer({ port: 0, secret });
  return { api: createApi(server.url, (request) => fetch(request)), close: server.close };
}

/** Runs the same tests over each transport. `api()` is there once the tests run. */
export function overTransports(title: string, tests: (api: () => Api) => void, options: ApiOptions = {}): void {
  describe.each(['in process', 'over a socket'])(`${title}, %s`, (transport) => {
    let opened: Awaited<ReturnType<typeof open>>;
    beforeAll(async () => {
      opened = await open(transport, options);
    });
    afterAll(() => opened.close());
    tests(() => opened.api);
  });
}

export interface GoldenVector {
  id: string;
  prompt: string;
  completion: string;
  parsed: boolean;
  errors: string[] | null;
  parse_error?: string;
  shapes: number | null;
  arrows: number | null;
  layout: number | null;
  semantics: number | null;
  reward: number;
}

export const GOLDEN: readonly GoldenVector[] = readFileSync(
  new URL('../data/vectors/article.jsonl', import.meta.url),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as GoldenVector);
