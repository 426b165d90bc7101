/** NeMo Gym: its resources server, where the reward comes at the end, and its Gymnasium protocol. */
import type { Action } from '../../../schemas/action.ts';
import { callItem, messageItem, toResponse } from '../../protocols/nemo-client.ts';
import {
  post,
  Refused,
  type Driver,
  type Episode,
  type Judged,
  type Question,
  type Start,
  type Turn,
  type World,
} from '../driver.ts';

const toRow = (question: Question | undefined): object => ({ responses_create_params: { input: [] }, ...question });

interface ToolAnswer {
  ok: boolean;
  message: string;
  done: boolean;
}

/** Asks for the reward. The answer repeats what it was sent, and all of it is looked at. */
async function verify({ url }: World, body: object, cookie?: string): Promise<Judged> {
  const { json, raw } = await post(`${url}/verify`, body, cookie === undefined ? {} : { cookie });
  return { reward: (json as { reward: unknown }).reward, raw };
}

async function openTools(world: World, { question }: Start): Promise<Episode> {
  const { url } = world;
  const row = toRow(question);
  let { cookie = '' } = await post(`${url}/seed_session`, row);
  const items: unknown[] = [];
  const call = async (name: string, input: unknown): Promise<{ answer: ToolAnswer; raw: string }> => {
    const answered = await post(`${url}/${name}`, input, { cookie });
    cookie = answered.cookie ?? '';
    const answer = answered.json as ToolAnswer;
    if (answer.done && !answer.ok) throw new Refused(200, answer.message);
    items.push(callItem(name, input));
    return { answer, raw: answered.raw };
  };
  return {
    observation: '',
    act: async ({ type, ...input }: Action) => {
      const { answer, raw } = await call(type, input);
      return { reward: null, raw, over: answer.done, said: raw };
    },
    submit: async () => {
      const { answer, raw } = await call('submit_diagram', {});
      const judged = await verify(world, { ...row, response: toResponse(items) });
      return { reward: judged.reward, raw: raw + judged.raw, over: answer.done, said: raw };
    },
    close: () => Promise.resolve(),
  };
}

const resources: Driver = {
  name: 'NeMo Gym /seed_session, tools, /verify',
  judge: async (world, question, text) => {
    const { cookie = '' } = await post(`${world.url}/seed_session`, toRow(question));
    return verify(world, { ...toRow(question), response: toResponse([messageItem(text)]) }, cookie);
  },
  open: openTools,
  turn_cost: 0,
};

interface Stepped {
  observation: string | null;
  reward: unknown;
  terminated: boolean;
  truncated: boolean;
}

async function openGymnasium({ url }: World, { question, max_turns = 20 }: Start): Promise<Episode> {
  const row = { ...toRow(question), max_turns };
  const begun = await post(`${url}/nemo-gym/reset`, row);
  let cookie = begun.cookie ?? '';
  const step = async (item: object): Promise<Turn> => {
    const answered = await post(`${url}/nemo-gym/step`, { ...row, response: toResponse([item]) }, { cookie });
    cookie = answered.cookie ?? '';
    const { observation, reward, terminated, truncated } = answered.json as Stepped;
    const { raw } = answered;
    return { reward, raw, over: terminated || truncated, terminated, truncated, said: observation ?? '' };
  };
  return {
    observation: (begun.json as Stepped).observation ?? '',
    act: ({ type, ...input }) => step(callItem(type, input)),
    submit: () => step(callItem('submit_diagram', {})),
    close: () => post(`${url}/nemo-gym/close`, {}, { cookie }),
  };
}

const gymnasium: Driver = {
  name: 'NeMo Gym /nemo-gym/reset and /step',
  judge: async ({ url }, question, text) => {
    const { cookie = '' } = await post(`${url}/nemo-gym/reset`, toRow(question));
    const body = { ...toRow(question), response: toResponse([messageItem(text)]) };
    const { json, raw } = await post(`${url}/nemo-gym/step`, body, { cookie });
    return { reward: (json as Stepped).reward, raw };
  },
  open: openGymnasium,
  limits: true,
  tells_end: true,
  turn_cost: 0.01,
};

export const NEMO_GYM = [resources, gymnasium];
