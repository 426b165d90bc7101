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
  tells_end: true,
  turn_cost: 0.01,
};

interface RpcAnswer {
  result?: { session_id?: string; data?: { text: string; finished: boolean; reward: unknown }; isError?: boolean };
  error?: { code: number; message: string };
}

type Ask = (method: string, params: object) => Promise<{ result: NonNullable<RpcAnswer['result']>; raw: string }>;

function resultOf(answer: unknown, raw: string) {
  const { result, error } = answer as RpcAnswer;
  if (error || !result) throw new Refused(200, error?.message ?? raw);
  return { result, raw };
}

/** A session that the client begins, names in each request, and ends. */
async function overHttp({ url }: World) {
  const ask: Ask = async (method, params) => {
    const { json, raw } = await post(`${url}/mcp`, { jsonrpc: '2.0', id: 1, method, params });
    return resultOf(json, raw);
  };
  const { session_id } = (await ask('openenv/session/create', {})).result;
  return {
    ask: ((method, params) => ask(method, { session_id, ...params })) satisfies Ask,
    close: () => ask('openenv/session/close', { session_id }),
  };
}

/** A session that is the socket's. */
async function overSocket({ url }: World) {
  const client = await connect(toWs(url, '/mcp'));
  const ask: Ask = async (method, params) => {
    const answer = await client.ask({ jsonrpc: '2.0', id: 1, method, params });
    return resultOf(answer, JSON.stringify(answer));
  };
  return { ask, close: () => client.close() };
}

type Connect = (world: World) => Promise<{ ask: Ask; close: () => Promise<unknown> }>;

async function createRpc(connectTo: Connect, world: World) {
  const { ask, close } = await connectTo(world);
  return {
    tool: async (name: string, input: object): Promise<Turn & { ok: boolean }> => {
      const { result, raw } = await ask('tools/call', { name, arguments: input });
      const { text, finished, reward } = result.data!;
      return { reward, raw, over: finished, said: text, ok: result.isError !== true };
    },
    close,
  };
}

type Tool = Awaited<ReturnType<typeof createRpc>>['tool'];

/** What the model is told of its task. */
async function begin(tool: Tool, question: Question | undefined): Promise<string> {
  const { ok, said } = await tool('start_diagram', question ?? {});
  if (!ok) throw new Refused(200, said);
  return said;
}

async function openRpc(connectTo: Connect, world: World, { question }: Start): Promise<Episode> {
  const { tool, close } = await createRpc(connectTo, world);
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

const toRpcDriver = (name: string, connectTo: Connect): Driver => ({
  name,
  judge: async (world, question, text) => {
    const { tool, close } = await createRpc(connectTo, world);
    try {
      await begin(tool, question);
      const { reward, raw } = await tool('submit_diagram', { actions: text });
      return { reward, raw };
    } finally {
      await close();
    }
  },
  open: (world, start) => openRpc(connectTo, world, start),
  own_tasks: false,
  turn_cost: 0,
});

export const OPENENV = [
  socket,
  toRpcDriver('OpenEnv’s JSON-RPC at /mcp', overHttp),
  toRpcDriver('OpenEnv’s JSON-RPC on the socket /mcp', overSocket),
];
