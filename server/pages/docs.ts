/** `GET /docs`: the OpenAPI document as a page to read and to try requests from. One file, nothing from elsewhere. */
import { ROUTES, ROUTE_IDS, type Route } from '../../schemas/routes.ts';
import { ABOUT } from '../about.ts';
import { escapeHtml, page } from './html.ts';

interface Field {
  $ref?: string;
  type?: string | readonly string[];
  enum?: readonly unknown[];
  const?: unknown;
  anyOf?: readonly Field[];
  items?: Field;
  description?: string;
}

interface Schema extends Field {
  properties?: Record<string, Field>;
  required?: readonly string[];
}

interface Document {
  paths: Record<string, unknown>;
  components?: { schemas?: Record<string, Schema> };
}

/** The type of a field in a few words; components are links. */
function typeOf(field: Field): string {
  const name = field.$ref?.split('/').at(-1);
  if (name !== undefined) return `<a href="#schema-${name}">${name}</a>`;
  if (field.enum) return field.enum.map((value) => `<code>${escapeHtml(String(value))}</code>`).join(' ');
  if (field.const !== undefined) return `<code>${escapeHtml(JSON.stringify(field.const))}</code>`;
  if (field.anyOf) return [...new Set(field.anyOf.map(typeOf))].join(' or ');
  if (field.type === 'array') return `list of ${field.items ? typeOf(field.items) : 'anything'}`;
  return escapeHtml([field.type ?? 'anything'].flat().join(' or '));
}

function fieldTable({ properties = {}, required = [] }: Schema): string {
  const rows = Object.entries(properties).map(
    ([name, field]) =>
      `<tr><td><code>${escapeHtml(name)}</code>${required.includes(name) ? ' *' : ''}</td><td>${typeOf(field)}</td><td>${escapeHtml(field.description ?? '')}</td></tr>`,
  );
  return rows.length > 0 ? `<table>${rows.join('\n')}</table>` : '';
}

/** Fields of the request's body, those that must be there with a star, and of the answer. */
function fieldTables(id: string, schemas: Record<string, Schema>): string {
  const name = `${id.charAt(0).toUpperCase()}${id.slice(1)}`;
  const [request, response] = [schemas[`${name}Request`], schemas[`${name}Response`]];
  return [
    request ? `<h3>Body</h3>${fieldTable(request)}` : '',
    response ? `<h3>Answer</h3>${fieldTable(response)}` : '',
  ].join('');
}

/** Opens what a link leads to; sends the request of a form to this server and shows what comes back, picture or text. */
const SCRIPT = `
const openTarget = () => document.querySelector(location.hash || '#none')?.setAttribute('open', '');
addEventListener('hashchange', openTarget);
openTarget();
for (const form of document.querySelectorAll('form')) form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const { method, path } = form.dataset;
  const fields = [...form.querySelectorAll('input')].filter((input) => input.value !== '');
  let url = path;
  const query = new URLSearchParams();
  const body = form.querySelector('textarea')?.value;
  const headers = body ? { 'content-type': 'application/json' } : {};
  for (const { name, value, dataset } of fields) {
    if (dataset.in === 'header') headers[name] = value;
    else if (url.includes('{' + name + '}')) url = url.replace('{' + name + '}', encodeURIComponent(value));
    else query.set(name, value);
  }
  if ([...query].length) url += '?' + query;
  const out = form.querySelector('output');
  const start = performance.now();
  const answer = await fetch(url, { method, body, headers }).catch((error) => error);
  out.replaceChildren();
  if (answer instanceof Error) { out.append(String(answer)); return; }
  const type = answer.headers.get('content-type') ?? '';
  const note = document.createElement('p');
  note.textContent = answer.status + ' ' + type + ', ' + Math.round(performance.now() - start) + ' ms';
  out.append(note);
  if (type.startsWith('image/')) {
    const image = document.createElement('img');
    image.style.maxWidth = '100%';
    image.src = URL.createObjectURL(await answer.blob());
    out.append(image);
    return;
  }
  const pre = document.createElement('pre');
  const text = await answer.text();
  try { pre.textContent = JSON.stringify(JSON.parse(text), null, 2); } catch { pre.textContent = text; }
  out.append(pre);
});
`;

/** What the fields of a form hold at first. */
const EXAMPLES: Readonly<Record<string, string>> = {
  task_id: 'train.pipeline.1.0',
  env_name: 'diagram',
  'X-Session-ID': 'my-session',
};

function fieldsOf(route: Route): string {
  const names = [route.params, route.query, route.headers].flatMap((schema) => Object.keys(schema?.shape ?? {}));
  return names
    .map((name) => {
      const place = name in (route.headers?.shape ?? {}) ? ' data-in="header"' : '';
      return `<label>${name} <input name="${name}"${place} value="${EXAMPLES[name] ?? ''}"></label> `;
    })
    .join('');
}

function section(id: string, route: Route, operation: unknown, tables: string): string {
  const body = route.body
    ? `<textarea aria-label="Request body" spellcheck="false">${escapeHtml(JSON.stringify(route.example ?? {}, null, 2))}</textarea>`
    : '';
  const contract = escapeHtml(JSON.stringify(operation, null, 2));
  return `<details id="${id}"><summary><span class="method">${route.method}</span> <code>${escapeHtml(route.path)}</code> ${escapeHtml(route.summary)}</summary><div>
<p>${escapeHtml(route.description ?? '').replace(/`([^`]+)`/g, '<code>$1</code>')}</p>
${tables}
<h3>Try it</h3><form data-method="${route.method}" data-path="${escapeHtml(route.path)}">${fieldsOf(route)}${body}<p><button>Send</button></p><output></output></form>
<details><summary>OpenAPI</summary><div><pre>${contract}</pre></div></details></div></details>`;
}

export function docsPage(document: Document): string {
  const operations = ROUTE_IDS.map((id) => {
    const route: Route = ROUTES[id];
    const path = document.paths[route.path] as Record<string, unknown>;
    return section(id, route, path[route.method.toLowerCase()], fieldTables(id, document.components?.schemas ?? {}));
  });
  const schemas = Object.entries(document.components?.schemas ?? {}).map(
    ([name, schema]) =>
      `<details id="schema-${name}"><summary><code>${name}</code></summary><div><pre>${escapeHtml(JSON.stringify(schema, null, 2))}</pre></div></details>`,
  );
  return page(
    `${ABOUT.name} API`,
    `<h1>${ABOUT.name} API <small>${ABOUT.version}</small></h1><p class="note">${escapeHtml(ABOUT.description)} The same as a document: <a href="/openapi.json">/openapi.json</a>.</p>
<h2>Routes</h2>${operations.join('\n')}<h2>Schemas</h2>${schemas.join('\n')}`,
    SCRIPT,
  );
}
