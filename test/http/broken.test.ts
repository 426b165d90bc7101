/** A server whose own parts fail: 503 or null, never a reward, never a word of the fault to the caller. */
import { expect, test } from 'vitest';
import type { ErrorBody } from '../../schemas/error.ts';
import { createApp, type AppOptions } from '../../server/app.ts';
import { reset, step } from '../../server/episode.ts';
import { reward, score } from '../../server/grade.ts';
import { render } from '../../server/render/index.ts';
import { RenderError } from '../../server/render/png.ts';
import { draw, drawOptions, scoreFinite } from '../../server/scoring.ts';
import { createApi, type Api } from './support.ts';

const WORKING = { reset, step, reward, score, render };

function withFault(broken: Partial<AppOptions['environment']>): { api: Api; log: string[] } {
  const log: string[] = [];
  const app = createApp({ environment: { ...WORKING, ...broken }, log: (entry) => log.push(entry) });
  return { api: createApi('http://test', async (request) => app.fetch(request)), log };
}

const fail = (): never => {
  throw new Error('password 1234 at /srv/secret');
};

test.each([
  ['/reset', { seed: 1 }],
  ['/step', { prompt: 'x', action: 'y' }],
  ['/reward', { prompt: 'x', completion: 'y' }],
  ['/score', { prompts: ['x'], completions: ['y'] }],
  ['/render', { actions: [] }],
])('%s: a fault is 503, told to the log and to nobody else', async (path, body) => {
  const name = path.slice(1);
  const { api, log } = withFault({ [name]: name === 'render' ? () => Promise.resolve().then(fail) : fail });
  const answer = await api.post(path, body);
  const message = 'the server failed on this request; it may be repeated';
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
  expect((answer.json as ErrorBody).error).toEqual({ code: 'internal', message, path: '' });
  expect(answer.text).not.toContain('1234');
  expect(log.join()).toContain('password 1234');
  expect((await api.get('/health')).status).toBe(200);
});

test('too many pictures at a time: 503 with a time to come back, and no fault', async () => {
  const { api, log } = withFault({ render: () => Promise.reject(new RenderError('render_busy', 'busy')) });
  const { status, headers, json } = await api.post('/render', { actions: [], format: 'png' });
  expect([status, headers.get('retry-after'), json]).toMatchObject([503, '1', { error: { code: 'overloaded' } }]);
  expect(log).toEqual([]);
});

test('a result that is not finite is a fault, never a null in its place (C08)', () => {
  const task = { prompt: 'x', canvas: { w: 1200, h: 800 }, expect: { nodes: [{ id: 'a', label: 'A' }], edges: [] } };
  const box = { type: 'create_shape', id: 'a', shape: 'rectangle', x: 10, y: 10, w: 90, h: 60, text: 'A' };
  const drawing = draw([box], { canvas: { shapes: [], arrows: [] }, selected: [] }, drawOptions('graded', 'core'));
  expect(scoreFinite(task, drawing, 'graded').reward).toBeGreaterThan(0.5);
  drawing.apply!.counts.accepted = NaN;
  expect(() => scoreFinite(task, drawing, 'graded')).toThrow('preset graded: a result is not finite');
});

test('an item of a batch that cannot be scored is null, and the others have their rewards', async () => {
  const { api, log } = withFault({});
  const poison = new Proxy({}, { get: fail });
  const prompts = ['Draw Alpha', 'Draw Beta', 'Draw Gamma'];
  const completions = ['{"actions":[]}', poison as string, 'x'];
  const answer = await score({ prompts, completions, reward: 'weak' }, (error) => log.push(String(error)));
  expect(answer.rewards).toEqual([1, null, 0]);
  expect(answer.errors[1]).toEqual([{ code: 'internal', message: 'the server could not score this completion' }]);
  expect(log).toHaveLength(1);
  expect((await api.post('/score', { prompts, completions: ['a', 'b', 'c'] })).status).toBe(200);
});
