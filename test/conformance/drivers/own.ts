/** The environment's own routes. */
import type { State } from '../../../schemas/episode.ts';
import type { StepResponse } from '../../../schemas/responses.ts';
import { post, type Driver, type Episode, type Start, type Turn, type World } from '../driver.ts';

export function toTurn(answer: StepResponse, raw: string): Turn {
  const { reward, terminated, truncated, done, observation } = answer;
  return { reward, raw, over: done, terminated, truncated, said: JSON.stringify(observation) };
}

async function open({ url }: World, { question, ...start }: Start): Promise<Episode> {
  const begun = await post(`${url}/reset`, { max_turns: 20, action_set: 'editor', ...question, ...start });
  let { state } = begun.json as { state: State };
  const step = async (action: unknown): Promise<Turn> => {
    const { json, raw } = await post(`${url}/step`, { state, action });
    ({ state } = json as StepResponse);
    return toTurn(json as StepResponse, raw);
  };
  return {
    observation: JSON.stringify((begun.json as StepResponse).observation),
    act: (action) => step({ actions: [action] }),
    submit: () => step({ actions: [{ type: 'done' }] }),
    close: () => Promise.resolve(),
  };
}

const step: Driver = {
  name: 'POST /reset and /step',
  judge: async ({ url }, question, text) => {
    const { json, raw } = await post(`${url}/step`, { ...question, action: text });
    return { reward: (json as { reward: unknown }).reward, raw };
  },
  open,
  seeds: true,
  limits: true,
  tells_end: true,
  turn_cost: 0.01,
};

const reward: Driver = {
  name: 'POST /reward',
  judge: async ({ url }, question, text) => {
    const { json, raw } = await post(`${url}/reward`, { ...question, completion: text });
    return { reward: (json as { reward: unknown }).reward, raw };
  },
};

const score: Driver = {
  name: 'POST /score',
  judge: async ({ url }, question, text) => {
    const context = Object.fromEntries(Object.entries(question).map(([name, value]) => [name, [value]]));
    const { json, raw } = await post(`${url}/score`, { completions: [text], context });
    return { reward: (json as { rewards: unknown[] }).rewards[0], raw };
  },
};

export const OWN = [step, reward, score];
