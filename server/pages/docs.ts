/** `GET /docs`: the OpenAPI document as a page to read and to try requests from. One file, nothing from elsewhere. */
import { ROUTES, ROUTE_IDS, type Route } from '../../schemas/routes.ts';
import { ABOUT } from '../about.ts';
import { escapeHtml, page } from './html.ts';

interface Document {
  paths: Record<string, unknown>;
  components?: { schemas?: Record<string, unknown> };
}

/** Sends the request of a form to this server and shows what comes back: a picture, a page or text. */
const SCRIPT = `
for (const form of document.querySelectorAll('form')) form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const { method, path } = form.dataset;
  const fields = [...form.querySelectorAll('input')].filter((input) => input.value !== '');
  let url = path;
  const query = new URLSearchParams();
  for (const { name, value } of fields) {
    if (url.includes('{' + name + '}')) url = url.replace('{' + name + '}', encodeURIComponent(value));
    else query.set(name, value);
  }
  if ([...query].length) url += '?' + query;
  const body = form.querySelector('textarea')?.value;
  const out = form.querySelector('output');
  const start = performance.now();
  const answer = await fetch(url, { method, body, headers: body ? { 'content-type': 'application/json' } : {} }).catch((error) => error);
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

function fieldsOf(route: Route): string {
  const names = [...Object.keys(route.params?.shape ?? {}), ...Object.keys(route.query?.shape ?? {})];
  const example = (name: string): string => (name === 'task_id' ? 'train.pipeline.1.0' : '');
  return names.map((name) => `<label>${name} <input name="${name}" value="${example(name)}"></label> `).join('');
}

function section(id: string, route: Route, operation: unknown): string {
  const body = route.body
    ? `<textarea aria-label="Request body" spellcheck="false">${escapeHtml(JSON.stringify(route.example ?? {}, null, 2))}</textarea>`
    : '';
  const contract = escapeHtml(JSON.stringify(operation, null, 2));
  return `<details id="${id}"><summary><span class="method">${route.method}</span> <code>${escapeHtml(route.path)}</code> ${escapeHtml(route.summary)}</summary><div>
<p>${escapeHtml(route.description ?? '')}</p>
<form data-method="${route.method}" data-path="${escapeHtml(route.path)}">${fieldsOf(route)}${body}<p><button>Send</button></p><output></output></form>
<details><summary>OpenAPI</summary><div><pre>${contract}</pre></div></details></div></details>`;
}

export function docsPage(document: Document): string {
  const operations = ROUTE_IDS.map((id) => {
    const route: Route = ROUTES[id];
    const path = document.paths[route.path] as Record<string, unknown>;
    return section(id, route, path[route.method.toLowerCase()]);
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
