/** What OpenEnv and MCP clients ask over HTTP beside our own routes: `GET /state`, and `/mcp`, which both use. */
import type { Context, Handlers } from '../../context.ts';
import { NO_EPISODE, toOpenEnvState } from '../tools/held-episode.ts';
import { answerMcp, endMcpSession, isMcpClient, refuseForeignPage } from '../mcp.ts';
import { isForeignPage } from '../origin.ts';
import { answerHttpRpc } from './rpc.ts';

export function openEnvHandlers(context: Context): Pick<Handlers, 'state' | 'mcp' | 'mcp_end'> {
  return {
    state: () => toOpenEnvState(NO_EPISODE),
    mcp: ({ body }, { headers }) => {
      if (isForeignPage(headers.get('origin'))) return refuseForeignPage();
      return isMcpClient(headers) ? answerMcp(body, headers, context) : answerHttpRpc(body, context);
    },
    mcp_end: (_, { headers }) => endMcpSession(headers, context),
  };
}
