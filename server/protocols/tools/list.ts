/** The answer of /tools: the one list in the shapes that clients take it. */
import type { ToolsResponse } from '../../../schemas/responses.ts';
import { TERMINAL_TOOL, TOOLS } from '../../../schemas/tools.ts';

export function listTools(): ToolsResponse {
  const openai = TOOLS.map(({ name, description, input_schema }) => ({
    type: 'function' as const,
    function: { name, description, parameters: input_schema },
  }));
  return {
    tools: [...TOOLS],
    openai,
    terminal_tool: TERMINAL_TOOL,
    supports_score_group: false,
    message_block_types: ['text'],
  };
}
