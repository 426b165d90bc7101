/** A rollout as an agent of NeMo Gym plays it: the cookie of each answer goes into the next request, held by hand. */
import { expect } from 'vitest';
import type { Answer, Api } from '../http/support.ts';
import { SOLUTION, TASK_ID, toCall } from './drawings.ts';

export interface ToolAnswer {
  ok: boolean;
  message: string;
  done: boolean;
}

export interface Rollout {
  /** The pair that the next request sends. */
  readonly cookie: string;
  /** Answers of tools so far. */
  readonly answers: Answer[];
  call: (tool: string, input: unknown) => Promise<ToolAnswer>;
  /** Calls a tool with a body as it is. */
  send: (tool: string, body: string) => Promise<Answer>;
  verify: (response: object) => Promise<Answer>;
  /** The same rollout at another server. */
  at: (api: Api) => Rollout;
}

export function toRow(fields: Readonly<Record<string, unknown>>): object {
  return {
    responses_create_params: { input: [{ role: 'user', content: 'Draw what you are told.' }], tools: [] },
    ...fields,
  };
}

export function messageItem(text: string): object {
  const content = [{ type: 'output_text', text, annotations: [] }];
  return { id: 'm', type: 'message', role: 'assistant', status: 'completed', content };
}

export function callItem(name: string, input: unknown): object {
  return { id: 'f', type: 'function_call', call_id: 'c', name, arguments: JSON.stringify(input) };
}

export function toResponse(output: readonly unknown[]): object {
  return { id: 'r', object: 'response', created_at: 1, model: 'policy', output, parallel_tool_calls: true, tools: [] };
}

function cookiePair({ headers }: Answer): string | undefined {
  return headers.get('set-cookie')?.split(';')[0];
}

function rolloutWith(api: Api, row: object, start: string): Rollout {
  let cookie = start;
  const answers: Answer[] = [];
  const post = async (path: string, body: unknown): Promise<Answer> => {
    const answer = await api.post(path, body, { 'content-type': 'application/json', cookie });
    cookie = cookiePair(answer) ?? '';
    return answer;
  };
  const send: Rollout['send'] = async (tool, body) => {
    const answer = await post(`/${tool}`, body);
    answers.push(answer);
    return answer;
  };
  return {
    get cookie() {
      return cookie;
    },
    answers,
    send,
    call: async (tool, input) => {
      const answer = await send(tool, JSON.stringify(input));
      expect(answer.status, answer.text).toBe(200);
      return answer.json as ToolAnswer;
    },
    verify: (response) => post('/verify', { ...row, response }),
    at: (other) => rolloutWith(other, row, cookie),
  };
}

export async function createRollout(api: Api, row: object): Promise<Rollout> {
  const answer = await api.post('/seed_session', row);
  expect([answer.status, answer.json], answer.text).toEqual([200, {}]);
  return rolloutWith(api, row, cookiePair(answer)!);
}

/** Draws by tools, an action each; the rollout, and what its response holds. */
export async function drawByTools(api: Api, actions = SOLUTION): Promise<{ rollout: Rollout; items: unknown[] }> {
  const rollout = await createRollout(api, toRow({ task_id: TASK_ID }));
  const items: unknown[] = [];
  for (const action of actions) {
    const { name, input } = toCall(action);
    const answer = await rollout.call(name, input);
    expect(answer.ok, answer.message).toBe(true);
    items.push(callItem(name, input), { type: 'function_call_output', call_id: 'c', output: JSON.stringify(answer) });
  }
  return { rollout, items };
}
