/** Remote rewards: OpenRLHF, slime and FAI-RL. */
import { post, type Driver } from '../driver.ts';

const PROMPT = '<|im_start|>user\nDraw it.<|im_end|>\n<|im_start|>assistant\n';

const openRlhf: Driver = {
  name: 'OpenRLHF /get_reward',
  judge: async ({ url }, question, text) => {
    const body = { query: [`${PROMPT}${text}<|im_end|>`], prompts: [PROMPT], labels: [JSON.stringify(question)] };
    const { json, raw } = await post(`${url}/get_reward`, body);
    return { reward: (json as { rewards: unknown[] }).rewards[0], raw };
  },
};

const slime: Driver = {
  name: 'slime /rm',
  judge: async ({ url }, question, text) => {
    const { json, raw } = await post(`${url}/rm`, { prompt: PROMPT, response: text, label: question });
    return { reward: json, raw };
  },
};

const faiRl: Driver = {
  name: 'FAI-RL /fai_rl',
  judge: async ({ url }, question, text) => {
    const context = Object.fromEntries(Object.entries(question).map(([name, value]) => [name, [value]]));
    const { json, raw } = await post(`${url}/fai_rl`, { prompts: ['Draw it.'], completions: [text], context });
    return { reward: (json as { rewards: unknown[] }).rewards[0], raw };
  },
};

export const REMOTE_REWARD = [openRlhf, slime, faiRl];
