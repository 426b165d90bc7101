/**
 * The tools as MCP and OpenEnv's JSON-RPC list them: those of schemas/tools.ts, and `start_diagram`, since there a model has
 * no other way to begin. Whatever a model gives as arguments, the result is one it can read: a refusal is a result with
 * `ok: false`, never an error of the protocol.
 */
import { z } from 'zod';
import { isObject } from '../../../schemas/json.ts';
import type { ResetResponse } from '../../../schemas/responses.ts';
import { ResetRequest } from '../../../schemas/requests.ts';
import type { Preset } from '../../../schemas/reward.ts';
import { SUBMIT_TOOL, toInputSchema, TOOLS, TOOL_NAMES, type Tool } from '../../../schemas/tools.ts';
import { ApiError } from '../../errors.ts';
import type { Environment } from '../../context.ts';
import { withSeed } from '../../seed.ts';
import { validate } from '../../validate.ts';
import { callSessionTool, startSession, type EnvSession } from './held-episode.ts';

export const START_TOOL = 'start_diagram';

const { prompt, task_id, reward } = ResetRequest.shape;
const StartInput = z.object({ prompt, task_id, reward });

const START: Tool = {
  name: START_TOOL,
  description:
    'Begin a new drawing, on an empty canvas: of a prompt of your own, of a task of the suite by its task_id, or, without either, of a task drawn by lot. What was drawn before is gone.',
  input_schema: toInputSchema(StartInput),
};

export const DIAGRAM_TOOLS: readonly Tool[] = [START, ...TOOLS];

/** The same as MCP spells them. */
export const MCP_TOOLS = DIAGRAM_TOOLS.map(({ name, description, input_schema }) => ({
  name,
  description,
  inputSchema: input_schema as { type: 'object' },
}));

export const isDiagramTool = (name: string): boolean => name === START_TOOL || TOOL_NAMES.has(name);

/** The result of a call, with the same keys for every tool. */
export interface DiagramResult {
  ok: boolean;
  /** What the model is told. */
  text: string;
  finished: boolean;
  /** In [0, 1] once finished, null before. */
  reward: number | null;
  components: Readonly<Record<string, number>>;
}

interface Called {
  session: EnvSession;
  result: DiagramResult;
  /** By what the drawing was scored, where this call finished it; to be counted once the session is kept. */
  scored?: Preset | undefined;
}

function refused(session: EnvSession, text: string): Called {
  return { session, result: { ok: false, text, finished: false, reward: null, components: {} } };
}

function describeStart({ observation }: ResetResponse): string {
  const { w, h } = observation.canvas_size;
  return [
    observation.prompt,
    `The canvas is empty: ${w} x ${h} pixels, x to the right, y down. Draw with the other tools, then submit_diagram.`,
  ].join('\n\n');
}

/** Tools whose call says something even without arguments, so that wrong ones are refused, not passed over. */
const MEANT_ALONE = [START_TOOL, SUBMIT_TOOL];

function isMisread(name: string, input: unknown): boolean {
  return MEANT_ALONE.includes(name) && input !== undefined && input !== null && !isObject(input);
}

function start(input: unknown, environment: Environment): Called {
  const fields = Object.fromEntries(Object.entries(input ?? {}).filter(([, value]) => value !== null));
  const { session, answer } = startSession(withSeed(validate(StartInput, fields, 'arguments')), environment);
  return { session, result: { ok: true, text: describeStart(answer), finished: false, reward: null, components: {} } };
}

/**
 * Calls a tool. Throws for a fault of the server only.
 * @param name One for which `isDiagramTool` holds.
 */
export function callDiagramTool(session: EnvSession, name: string, input: unknown, environment: Environment): Called {
  if (isMisread(name, input)) return refused(session, 'arguments: give an object, {} where there is nothing to say');
  try {
    if (name === START_TOOL) return start(input, environment);
    const next = callSessionTool(session, name, input, environment);
    const { ok, text, finished, reward, components } = next.answer;
    const scored = finished ? next.answer.state.reward : undefined;
    return { session: next.session, result: { ok, text, finished, reward, components }, scored };
  } catch (error) {
    if (error instanceof ApiError) return refused(session, error.message);
    throw error;
  }
}
