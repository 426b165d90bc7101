/** `GET /` in a browser: what this is, what to open, what to type. */
import { ROUTES, ROUTE_IDS } from '../../schemas/routes.ts';
import { ABOUT } from '../about.ts';
import { escapeHtml, page } from './html.ts';

function routeRow({ method, path, summary }: (typeof ROUTES)[keyof typeof ROUTES]): string {
  const name = method === 'GET' && !path.includes('{') ? `<a href="${path}">${path}</a>` : escapeHtml(path);
  return `<tr><td><span class="method">${method}</span></td><td><code>${name}</code></td><td>${escapeHtml(summary)}</td></tr>`;
}

/** @param host Where the browser found the server, so that the command can be pasted. */
export function rootPage(host: string): string {
  const curl = `curl -s -X POST http://${host}/reset -H 'content-type: application/json' -d '{"seed": 7}'`;
  const rows = ROUTE_IDS.map((id) => routeRow(ROUTES[id])).join('\n');
  return page(
    ABOUT.name,
    `<h1>${ABOUT.name} <small>${ABOUT.version}</small></h1>
<p>${escapeHtml(ABOUT.description)}</p>
<p><a href="/docs">Read and try the API</a> · <a href="/openapi.json">OpenAPI document</a> · <a href="/tasks?limit=20">tasks</a> · <a href="/metrics">metrics</a></p>
<p>Begin an episode from a terminal:</p><pre>${escapeHtml(curl)}</pre>
<h2>Routes</h2><table>${rows}</table>`,
  );
}
