/**
 * The Open Reward Standard (ORS): tasks by index, sessions, and tool calls whose answers are events. The routes are in
 * schemas/protocols/ors.ts, with what is left out.
 */
import { randomUUID } from 'node:crypto';
import { ORS_ENVIRONMENT, type EnvironmentParams, type OrsRouteId } from '../../../schemas/protocols/ors.ts';
import { ABOUT } from '../../about.ts';
import type { Call, Context, Handlers } from '../../context.ts';
import type { Raw } from '../../raw.ts';
import { answerCall, type Answered } from './call.ts';
import { toMessages, toPrompt } from './prompt.ts';
import { assertEnvironment, createOrsSessions, sessionId } from './sessions.ts';
import { createOrsTasks } from './tasks.ts';
import { toChunks, toEvents, toLateEvents, type Event } from './events.ts';
import { listTools } from '../tools/list.ts';

export interface OrsOptions {
  /** How many tasks of the split `train` there are. */
  train_tasks: number;
  /** Silence after which a client is told that its answer is still coming, ms. */
  ping_ms: number;
}

/** openreward gives up after 30 s without a byte, and many proxies after 60. */
export const DEFAULT_ORS: OrsOptions = { train_tasks: 4096, ping_ms: 10_000 };

const UNKNOWN_CALL: Event = ['error', 'unknown task_id'];

/** The same handler, for the route that names the environment in its path. */
function underName<R, A>(handle: (request: R, call: Call) => A) {
  return (request: R & { params: EnvironmentParams }, call: Call): A => {
    assertEnvironment(request.params.env_name);
    return handle(request, call);
  };
}

/** The events of a call's answer, behind that of its id. */
function toAnswer({ json }: Answered): Event[] {
  return json === undefined ? [UNKNOWN_CALL] : toChunks(json);
}

export function orsHandlers(context: Context): Pick<Handlers, OrsRouteId> {
  const tasks = createOrsTasks(context.ors.train_tasks);
  const sessions = createOrsSessions(context.ask_ors, context.session_limits, context.environment, tasks);
  const env_name = ORS_ENVIRONMENT;
  type Body<K extends OrsRouteId> = Pick<Parameters<Handlers[K]>[0], 'body'>;

  const numTasks = ({ body }: Body<'ors_num_tasks'>) => ({ num_tasks: tasks.count(body.split) });
  const task = ({ body }: Body<'ors_task'>) => ({
    task: tasks.at(body.split, body.index, ['body', 'index']),
    env_name,
  });
  const taskRange = async ({ body }: Body<'ors_task_range'>) => ({
    tasks: await tasks.range(body.split, body.start, body.stop),
    env_name,
  });
  const allTasks = async ({ body }: Body<'ors_tasks'>) => ({ tasks: await tasks.range(body.split), env_name });
  const taskTools = async (_: unknown, call: Call) => {
    await sessions.of(call);
    return listTools();
  };
  const prompt = async (_: unknown, call: Call) => toPrompt((await sessions.of(call)).start);
  const messages = async (_: unknown, call: Call) => toMessages((await sessions.of(call)).start);
  const makeCall = async ({ body }: Body<'ors_call'>, call: Call, taskId: string): Promise<Event[]> => {
    const { answer, preset } = await sessions.update(call, (session) => {
      const { value, result } = answerCall(session, body, taskId, context.environment);
      return { value, result: { answer: result, preset: session.state.reward } };
    });
    if (answer.is_last === true) context.metrics.countCompletions(preset, 1);
    return toAnswer(answer);
  };
  /** The id comes first, so that a client whose connection breaks can ask for this very call. */
  const callTool = (request: Body<'ors_call'>, call: Call): Promise<Raw> => {
    const taskId = request.body.task_id ?? `${sessionId(call)}.${randomUUID()}`;
    const answer = makeCall(request, call, taskId);
    return toLateEvents(['task_id', taskId], answer, context.ors.ping_ms, context.report);
  };
  const end = async (_: unknown, call: Call) => ({ sid: await sessions.end(call) });

  return {
    ors_version: () => ({ version: ABOUT.version, build_sha: null }),
    ors_list_environments: () => [env_name],
    ors_splits: tasks.splits,
    ors_env_splits: underName(tasks.splits),
    ors_num_tasks: numTasks,
    ors_env_num_tasks: underName(numTasks),
    ors_task: task,
    ors_env_task: underName(task),
    ors_tasks: allTasks,
    ors_env_tasks: underName(allTasks),
    ors_task_range: taskRange,
    ors_env_task_range: underName(taskRange),
    ors_env_tools: underName(listTools),
    ors_task_tools: taskTools,
    ors_env_task_tools: underName(taskTools),
    ors_create_session: () =>
      toEvents([
        ['task_id', randomUUID()],
        ['end', ''],
      ]),
    ors_create: async ({ body }, call) => ({ sid: await sessions.create(call, body) }),
    ors_prompt: prompt,
    ors_env_prompt: underName(prompt),
    ors_messages: messages,
    ors_env_messages: underName(messages),
    ors_call: callTool,
    ors_env_call: underName(callTool),
    ors_ping: async (_, call) => {
      await sessions.of(call);
      return { status: 'ok' };
    },
    ors_delete: end,
    ors_delete_session: end,
  };
}
