/** What is about the server itself: pages, index, metadata, schemas, metrics. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { ROUTES } from '../../schemas/routes.ts';
import { createApp } from '../../server/app.ts';
import { createApi, overTransports } from './support.ts';

const PATHS = Object.values(ROUTES).map(({ path }) => path);

overTransports('pages', (api) => {
  test('/ is a page for a browser and JSON for everything else', async () => {
    const send = (accept: string) => api().send('GET', '/', { headers: { accept } });
    const raw = await api().fetch(
      new Request(`${api().url}/`, { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } }),
    );
    expect([raw.headers.get('content-type'), raw.headers.get('vary')]).toEqual(['text/html; charset=utf-8', 'accept']);
    expect(await raw.text()).toContain('<a href="/docs">');
    for (const accept of ['*/*', 'application/json', '']) {
      const { json } = await send(accept);
      expect((json as { routes: { path: string }[] }).routes.map(({ path }) => path)).toEqual(PATHS);
    }
  });

  test('/docs shows every route and schema, and takes nothing from elsewhere', async () => {
    const { text } = await api().get('/docs');
    for (const path of PATHS) expect(text).toContain(`<code>${path}</code>`);
    expect(text).toContain('id="schema-StepResponse"');
    expect(text.match(/\b(src|href)="(?!\/|#|data:)[^"]*"/g)).toBeNull();
    expect(text.match(/@import|url\(/g)).toBeNull();
  });

  test('/schema: one field, which takes a text and a list (what wraps a bare reply relies on it)', async () => {
    const { action, observation, state } = await api().client.schema();
    expect(action).toMatchObject({ type: 'object', required: ['actions'] });
    expect(Object.keys(action['properties'] as object)).toEqual(['actions']);
    const ajv = new Ajv2020({ strict: false });
    const takes = ajv.compile(action);
    const box = { type: 'create_shape', id: 'a', shape: 'text', x: 0, y: 0, w: 10, h: 10, text: '' };
    expect([takes({ actions: 'text' }), takes({ actions: [box] }), takes({}), takes({ actions: 3 })]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    const begun = await api().client.reset({ seed: 3 });
    expect(ajv.validate(observation, begun.observation) && ajv.validate(state, begun.state)).toBe(true);
    expect(JSON.stringify([action, observation, state])).not.toMatch(/"\$ref":"(?!#)/);
  });

  test('/metadata and /health', async () => {
    const { name, version, presets, default_preset } = await api().client.metadata();
    expect([name, default_preset]).toEqual(['canvas-gym', 'graded']);
    expect(presets.map((preset) => preset.name)).toEqual(['weak', 'article', 'stronger', 'graded']);
    expect(await api().client.health()).toEqual({ status: 'healthy', version });
  });

  test('HEAD answers as GET does, without a body', async () => {
    const { status, text, type } = await api().send('HEAD', '/health');
    expect([status, type, text]).toEqual([200, 'application/json', '']);
  });

  test('/tasks pages through a split without expected answers', async () => {
    const list = (offset: number) => api().client.tasks({ split: 'val', family: 'er', level: 1, limit: 2, offset });
    const [first, second] = [await list(0), await list(2)];
    expect([...first.tasks, ...second.tasks].map(({ task_id }) => task_id)).toEqual(
      [0, 1, 2, 3].map((i) => `val.er.1.${i}`),
    );
    expect([first.limit, first.offset, first.total === second.total]).toEqual([2, 0, true]);
    expect((await list(first.total)).tasks).toEqual([]);
    expect(await api().client.task({ task_id: 'val.er.1.2' })).toEqual(second.tasks[0]);
  });

  test.each([
    ['svg', 'image/svg+xml', /^<svg /],
    ['png', 'image/png', /^.PNG/],
    ['tldraw', 'application/json', /^\{/],
    ['excalidraw', 'application/json', /^\{/],
    ['mermaid', 'text/plain', /^flowchart/],
  ] as const)('/render as %s', async (format, type, start) => {
    const box = { type: 'create_shape', id: 'a', shape: 'rectangle', x: 40, y: 40, w: 160, h: 80, text: 'Client' };
    const { state } = await api().client.step({ prompt: 'x', action: [box] });
    const sources = [
      { state },
      { canvas: state.canvas },
      { actions: [box, 'no action'] },
      { completion: JSON.stringify([box]) },
    ];
    for (const source of sources) {
      const picture = await api().client.render({ ...source, format });
      expect(picture.type.split(';')[0]).toBe(type);
      expect(Buffer.from(await picture.arrayBuffer()).toString('latin1')).toMatch(start);
    }
    const broken = await api().client.render({ completion: 'no drawing', format });
    expect(broken.size).toBeGreaterThan(10);
  });

  test('equal pictures have equal bytes', async () => {
    const draw = async () =>
      Buffer.from(await (await api().client.render({ actions: [], format: 'png' })).arrayBuffer());
    expect((await draw()).equals(await draw())).toBe(true);
  });
});

/** Prometheus text format: name, labels, value. */
const SAMPLE = /^([a-z0-9_]+)(?:\{((?:[a-z]+="[^"\\\n]*",?)*)\})? ([0-9.e+-]+|NaN)$/;

function parseMetrics(text: string): Map<string, number> {
  const lines = text
    .trimEnd()
    .split('\n')
    .filter((line) => !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const [, name = '', labels = '', value] = SAMPLE.exec(line) ?? expect.unreachable(line);
      return [`${name}{${labels}}`, Number(value)];
    }),
  );
}

test('/metrics counts requests, refusals, completions and time, each app for itself', async () => {
  const open = () => {
    const app = createApp();
    return createApi('http://test', async (request) => app.fetch(request));
  };
  const [api, other] = [open(), open()];
  await api.post('/score', { prompts: ['a', 'b'], completions: ['c', 'd'], reward: 'weak' });
  await api.post('/reset', {});
  await api.post('/reset', { seed: -1 });
  await api.get('/nowhere');
  const text = (await api.get('/metrics')).text;
  const metrics = parseMetrics(text);
  expect(metrics.get('canvas_gym_requests_total{route="/score",method="POST",status="200"}')).toBe(1);
  expect(metrics.get('canvas_gym_requests_total{route="/reset",method="POST",status="400"}')).toBe(1);
  expect(metrics.get('canvas_gym_requests_total{route="unknown",method="any",status="404"}')).toBe(1);
  expect(metrics.get('canvas_gym_completions_total{preset="weak"}')).toBe(2);
  expect(metrics.get('canvas_gym_request_seconds_count{route="/reset"}')).toBe(2);
  expect(metrics.get('canvas_gym_request_seconds_bucket{route="/reset",le="+Inf"}')).toBe(2);
  const buckets = [...metrics].filter(([name]) => name.startsWith('canvas_gym_request_seconds_bucket{route="/reset"'));
  expect(buckets.map(([, count]) => count)).toEqual(buckets.map(([, count]) => count).sort((a, b) => a - b));
  expect(metrics.get('canvas_gym_process_resident_bytes{}')).toBeGreaterThan(1e7);
  const families = text.match(/^# TYPE (\S+) (counter|gauge|histogram)$/gm);
  expect(new Set(families).size).toBe(families?.length);
  expect((await other.get('/metrics')).text).not.toContain('weak');
});
