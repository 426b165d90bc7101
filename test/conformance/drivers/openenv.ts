/** OpenEnv's web socket, and JSON-RPC at /mcp. */
import { connect, toWs, type Frame } from '../../protocols/socket-client.ts';
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

interface Observed {
  observation: { prompt: string; turn: number };
  reward: unknown;
  done: boolean;
  metadata: { terminated: boolean; truncated: boolean };
}

function dataOf({ type, data }: Frame): Observed {
  if (type !== 'observation') throw new Refused(200, JSON.stringify(data));
  return data as unknown as Observed;
}

function toTurn(frame: Frame): Turn {
  const { observation, reward, done, metadata } = dataOf(frame);
  const { terminated, truncated } = metadata;
  return {
    reward,
    raw: JSON.stringify(frame),
    over: done,
    terminated,
    truncated,
    said: JSON.stringify(observation),
  };
}

async function openSocket({ url }: World, { question, ...start }: Start): Promise<Episode> {
  const client = await connect(toWs(url));
  const data = { max_turns: 20, action_set: 'editor', ...question, ...start };
  const { observation } = dataOf(await client.ask({ type: 'reset', data }));
  const step = async (actions: readonly unknown[]): Promise<Turn> =>
    toTurn(await client.ask({ type: 'step', data: { actions } }));
  return {
    observation: JSON.stringify(observation),
    act: (action) => step([action]),
    submit: () => step([{ type: 'done' }]),
    close: () => client.close(),
  };
}

const socket: Driver = {
  name: 'OpenEnv /ws',
  judge: async ({ url }, question, text) => {
    const client = await connect(toWs(url));
    try {
      dataOf(await client.ask({ type: 'reset', data: question }));
      const { reward, raw } = toTurn(await client.ask({ type: 'step', data: { actions: text } }));
      return { reward, raw };
    } finally {
      await client.close();
    }
  },
  open: openSocket,
  seeds: true,
  limits: true,
  turn_cost: 0.01,
};

interface RpcAnswer {
  result?: { session_id?: string; data?: { text: string; finished: boolean; reward: unknown }; isError?: boolean };
  error?: { code: number; message: string };
}

async function createRpc({ url }: World) {
  const call = async (method: string, params: object) => {
    const { json, raw } = await post(`${url}/mcp`, { jsonrpc: '2.0', id: 1, method, params });
    const { result, error } = json as RpcAnswer;
    if (error || !result) throw new Refused(200, error?.message ?? raw);
    return { result, raw };
  };
  const { session_id } = (await call('openenv/session/create', {})).result;
  return {
    tool: async (name: string, input: object): Promise<Turn & { ok: boolean }> => {
      const { result, raw } = await call('tools/call', { session_id, name, arguments: input });
      const { text, finished, reward } = result.data!;
      return { reward, raw, over: finished, said: text, ok: result.isError !== true };
    },
    close: () => call('openenv/session/close', { session_id }),
  };
}

type Tool = Awaited<ReturnType<typeof createRpc>>['tool'];

/** What the model is told of its task. */
async function begin(tool: Tool, question: Question | undefined): Promise<string> {
  const { ok, said } = await tool('start_diagram', question ?? {});
  if (!ok) throw new Refused(200, said);
  return said;
}

async function openRpc(world: World, { question }: Start): Promise<Episode> {
  const { tool, close } = await createRpc(world);
  const said = await begin(tool, question);
  const call = async (name: string, input: object): Promise<Turn> => {
    const turn = await tool(name, input);
    if (!turn.ok && turn.said.includes('over')) throw new Refused(200, turn.said);
    return turn;
  };
  return {
    observation: said,
    act: ({ type, ...input }) => call(type, input),
    submit: () => call('submit_diagram', {}),
    close,
  };
}

const rpc: Driver = {
  name: 'JSON-RPC /mcp',
  judge: async (world, question, text) => {
    const { tool, close } = await createRpc(world);
    await begin(tool, question);
    const { reward, raw } = await tool('submit_diagram', { actions: text });
    await close();
    return { reward, raw };
  },
  open: openRpc,
  own_tasks: false,
  turn_cost: 0,
};

export const OPENENV = [socket, rpc];
