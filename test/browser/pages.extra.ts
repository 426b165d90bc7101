/** The pages of the server in a real browser without a network: they show their content and log no error. */
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROUTES } from '../../schemas/routes.ts';
import { startSources, type ServerProcess } from '../tools/processes.ts';
import { openPage } from './chromium.ts';

let server: ServerProcess;
const at = (path: string): string => `http://127.0.0.1:${server.port}${path}`;

beforeAll(async () => {
  server = await startSources();
});
afterAll(() => server.stop());

test('the check sees a script that fails and a file from another host', async () => {
  const html = '<script>document.title = "ran"; missing()</script><script src="http://example.org/a.js"></script>';
  const broken = createServer((_, response) => response.setHeader('content-type', 'text/html').end(html)).listen(
    0,
    '127.0.0.1',
  );
  await once(broken, 'listening');
  const page = await openPage(`http://127.0.0.1:${(broken.address() as AddressInfo).port}/`);
  broken.close();
  expect(page.dom).toContain('<title>ran</title>');
  expect(page.errors.join('\n')).toMatch(/missing is not defined/);
});

test('/docs shows every route, offline', async () => {
  const page = await openPage(at('/docs'));
  expect(page.errors).toEqual([]);
  for (const { path } of Object.values(ROUTES)) expect(page.dom).toContain(path);
});

test('/ shows a browser a page that leads to the docs', async () => {
  const page = await openPage(at('/'));
  expect(page.errors).toEqual([]);
  expect(page.dom).toMatch(/<a [^>]*href="\/docs"/);
});
