/** Held-out measures over HTTP: only to who asks, null without an expectation, and never in the reward of a step. */
import { expect, test } from 'vitest';
import { overTransports } from './support.ts';

const EXPECT = {
  nodes: [
    { id: 'a', label: 'Browser' },
    { id: 'b', label: 'Server' },
  ],
  edges: [{ from: 'a', to: 'b' }],
};
const TASK = { prompt: 'Draw Browser and Server, with an arrow from Browser to Server.', expect: EXPECT };
const BOXES = [
  { type: 'create_shape', id: 'a', shape: 'rectangle', x: 100, y: 100, w: 160, h: 80, text: 'Browser' },
  { type: 'create_shape', id: 'b', shape: 'rectangle', x: 400, y: 100, w: 160, h: 80, text: 'Server' },
];
const drawing = (from: string, to: string): string =>
  JSON.stringify({ actions: [...BOXES, { type: 'connect', from, to }] });
const [RIGHT, REVERSED] = [drawing('a', 'b'), drawing('b', 'a')];

overTransports('held-out measures', (api) => {
  test('/score answers them for each item, in order, and null for a bare prompt', async () => {
    const answer = await api().client.score({
      completions: [RIGHT, REVERSED, 'no', RIGHT],
      prompts: [TASK.prompt, TASK.prompt, TASK.prompt, TASK.prompt],
      context: { task: [TASK, TASK, TASK, null] },
      held_out: true,
    });
    expect(answer.held_out).toEqual([
      { path_f1: 1, graph_edit_similarity: 1, renamed_reward: expect.closeTo(answer.rewards[0]!, 2) as number },
      // one arrow is missing and one too many, of three parts
      { path_f1: 0, graph_edit_similarity: 1 - 2 / 3, renamed_reward: expect.closeTo(answer.rewards[1]!, 2) as number },
      { path_f1: 0, graph_edit_similarity: 0, renamed_reward: 0 },
      null,
    ]);
  });

  test('/reward answers them for its one completion, under the preset asked for', async () => {
    const request = { task: TASK, completion: REVERSED, held_out: true } as const;
    const graded = await api().client.reward(request);
    const weak = await api().client.reward({ ...request, reward: 'weak' });
    expect(graded.held_out).toMatchObject({ path_f1: 0, renamed_reward: expect.closeTo(graded.reward, 2) as number });
    expect(weak.held_out).toMatchObject({ path_f1: 0, renamed_reward: 1 });
    expect((await api().client.reward({ ...request, task: { prompt: TASK.prompt } })).held_out).toBeNull();
  });

  test('who does not ask gets none, the rewards are the same, and /step takes no such wish', async () => {
    const request = { completions: [RIGHT], context: { task: [TASK] } };
    const plain = await api().client.score(request);
    const { held_out, ...measured } = await api().client.score({ ...request, held_out: true });
    expect(held_out).toHaveLength(1);
    expect(measured).toEqual(plain);
    expect(await api().client.score({ ...request, held_out: false })).toEqual(plain);
    const step = await api().post('/step', { task: TASK, action: RIGHT, held_out: true });
    expect(step.status).toBe(422);
    expect(JSON.stringify((await api().client.step({ task: TASK, action: RIGHT })).info)).not.toContain('path_f1');
  });
});
