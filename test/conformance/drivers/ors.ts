/** The Open Reward Standard. */
import { randomUUID } from 'node:crypto';
import {
  post,
  Refused,
  type Driver,
  type Episode,
  type Question,
  type Start,
  type Turn,
  type World,
} from '../driver.ts';

interface Output {
  ok: boolean;
  error?: string;
  output: { blocks: { text: string }[]; reward: unknown; finished: boolean };
}

/** The JSON text that a stream of events carries. @throws Refused where the server tells of a fault. */
function readStream(raw: string): Output {
  const events = [...raw.matchAll(/^event: (\w+)\ndata: ?(.*)$/gm)].map(([, name, data]) => ({ name, data }));
  const fault = events.find(({ name }) => name === 'error');
  if (fault) throw new Refused(200, fault.data ?? '');
  const parts = events.filter(({ name }) => name === 'chunk' || name === 'end');
  return JSON.parse(parts.map(({ data }) => data).join('')) as Output;
}

function toSpec(question: Question | undefined, max_turns: number | undefined): object {
  const task = question && 'task' in question ? question.task : question;
  return { ...task, ...(max_turns === undefined ? {} : { max_turns }) };
}

async function createSession({ url }: World, spec: object) {
  const headers = { 'x-session-id': randomUUID() };
  await post(`${url}/create`, { task_spec: spec }, headers);
  return {
    headers,
    call: async (name: string, input: object): Promise<Turn> => {
      const { raw } = await post(`${url}/call`, { name, input }, headers);
      const { ok, error = '', output } = readStream(raw);
      if (!ok) throw new Refused(200, error);
      const said = output.blocks.map(({ text }) => text).join('\n');
      return { reward: output.reward, raw, over: output.finished, said };
    },
    close: () => post(`${url}/delete`, {}, headers),
  };
}

async function open(world: World, { question, max_turns }: Start): Promise<Episode> {
  const { headers, call, close } = await createSession(world, toSpec(question, max_turns));
  const prompt = await fetch(`${world.url}/prompt`, { headers });
  return {
    observation: await prompt.text(),
    act: ({ type, ...input }) => call(type, input),
    submit: () => call('submit_diagram', {}),
    close,
  };
}

export const ORS: readonly Driver[] = [
  {
    name: 'ORS',
    judge: async (world, question, text) => {
      const { call, close } = await createSession(world, toSpec(question, undefined));
      const { reward, raw } = await call('submit_diagram', { actions: text });
      await close();
      return { reward, raw };
    },
    open,
    limits: true,
    turn_cost: 0,
  },
];
