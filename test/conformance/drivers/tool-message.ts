/** The environment's own routes, with turns as chat completions give them: an assistant's message that calls tools. */
import type { State } from '../../../schemas/episode.ts';
import type { StepResponse } from '../../../schemas/responses.ts';
import { post, type Driver, type Episode, type Start, type Turn, type World } from '../driver.ts';
import { toTurn } from './own.ts';

/** What the API of chat completions answers; arguments are JSON in a string. */
function toMessage(name: string, input: object): object {
  const call = { id: 'call_1', type: 'function', function: { name, arguments: JSON.stringify(input) } };
  return { role: 'assistant', content: null, tool_calls: [call] };
}

async function open({ url }: World, { question, ...start }: Start): Promise<Episode> {
  const begun = await post(`${url}/reset`, { max_turns: 20, action_set: 'editor', ...question, ...start });
  let { state } = begun.json as { state: State };
  const call = async (name: string, input: object): Promise<Turn> => {
    const { json, raw } = await post(`${url}/step`, { state, action: toMessage(name, input) });
    ({ state } = json as StepResponse);
    return toTurn(json as StepResponse, raw);
  };
  return {
    observation: JSON.stringify((begun.json as StepResponse).observation),
    act: ({ type, ...input }) => call(type, input),
    submit: () => call('submit_diagram', {}),
    close: () => Promise.resolve(),
  };
}

export const TOOL_MESSAGE: Driver = {
  name: 'POST /step with messages that call tools',
  judge: async ({ url }, question, text) => {
    const action = toMessage('submit_diagram', { actions: text });
    const { json, raw } = await post(`${url}/step`, { ...question, action });
    return { reward: (json as { reward: unknown }).reward, raw };
  },
  open,
  seeds: true,
  limits: true,
  tells_end: true,
  turn_cost: 0.01,
};
