/** The Model Context Protocol, by the official SDK's client: initialize, a session by its header, results as content. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpError } from '@modelcontextprotocol/sdk/types.js';
import { Refused, type Driver, type Episode, type Question, type Start, type Turn, type World } from '../driver.ts';

interface Result {
  content: { type: string; text?: string }[];
  isError?: boolean;
  structuredContent?: { finished: boolean; reward: unknown };
}

/** A session in which the task has begun. */
async function begin({ url }: World, question: Question | undefined) {
  const client = new Client({ name: 'conformance', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`));
  await client.connect(transport);
  const call = async (name: string, input: Record<string, unknown>): Promise<Turn & { ok: boolean }> => {
    const result = (await client.callTool({ name, arguments: input }).catch((error: unknown) => {
      throw error instanceof McpError ? new Refused(200, error.message) : error;
    })) as unknown as Result;
    const said = result.content.map(({ text = '' }) => text).join('\n');
    const { finished, reward } = result.structuredContent!;
    return { reward, raw: JSON.stringify(result), over: finished, said, ok: result.isError !== true };
  };
  const close = async (): Promise<void> => {
    await transport.terminateSession();
    await client.close();
  };
  const { said, ok } = await call('start_diagram', { ...question });
  if (!ok) {
    await close();
    throw new Refused(200, said);
  }
  return { said, call, close };
}

async function open(world: World, { question }: Start): Promise<Episode> {
  const { said, call, close } = await begin(world, question);
  return {
    observation: said,
    act: async ({ type, ...input }) => {
      const turn = await call(type, input);
      if (!turn.ok && turn.said.includes('over')) throw new Refused(200, turn.said);
      return turn;
    },
    submit: () => call('submit_diagram', {}),
    close,
  };
}

export const MCP: readonly Driver[] = [
  {
    name: 'MCP',
    judge: async (world, question, text) => {
      const { call, close } = await begin(world, question);
      try {
        const { reward, raw } = await call('submit_diagram', { actions: text });
        return { reward, raw };
      } finally {
        await close();
      }
    },
    open,
    own_tasks: false,
    turn_cost: 0,
  },
];
