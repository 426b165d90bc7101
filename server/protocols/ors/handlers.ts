/**
 * The Open Reward Standard (ORS): tasks by index, sessions, and tool calls whose answers are streamed. The routes are in
 * schemas/protocols/ors.ts, with what is left out.
 */
import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import {
  ORS_ENVIRONMENT,
  type CallBody,
  type EnvironmentParams,
  type OrsRouteId,
} from '../../../schemas/protocols/ors.ts';
import { ABOUT } from '../../about.ts';
import type { Call, Context, Handlers } from '../../context.ts';
import { Raw } from '../../raw.ts';
import { answerOf, callInSession } from './call.ts';
import { assertEnvironment, createOrsSessions, toMessages, toPrompt, type OrsSessions } from './sessions.ts';
import { createOrsTasks } from './tasks.ts';
import { EVENT_HEADERS, streamAnswer, toEvent } from './events.ts';
import { listTools } from '../tools/list.ts';

export interface OrsOptions {
  /** Sessions at a time; 0 where the requests of a session may reach different processes, which is refused. */
  max_sessions: number;
  /** How many tasks of the split `train` there are. */
  train_tasks: number;
  /** Milliseconds of a clock that never goes back. */
  now: () => number;
}

export const DEFAULT_ORS: OrsOptions = { max_sessions: 4096, train_tasks: 4096, now: () => performance.now() };

/** The same handler, for the route that names the environment in its path. */
function underName<R, A>(handle: (request: R, call: Call) => A) {
  return (request: R & { params: EnvironmentParams }, call: Call): A => {
    assertEnvironment(request.params.env_name);
    return handle(request, call);
  };
}

const FAULT = 'the server failed on this call; no reward was given and nothing changed';

/** Calls as streams. A call has its id before it runs, so that whoever loses the connection can ask for the same one. */
function createCalls(context: Context, sessions: OrsSessions): (body: CallBody, call: Call) => Raw {
  const running = new Map<string, Promise<string>>();
  const run = async (id: string, taskId: string, body: CallBody): Promise<string> => {
    await setImmediate();
    const session = sessions.get(id);
    if (!session) throw new Error('the session was deleted before the call ran');
    try {
      const { session: next, json, result } = callInSession(session, taskId, body, context, context.ors.now());
      sessions.replace(next);
      if (result?.finished) context.metrics.countCompletions(result.state.reward, 1);
      return json;
    } catch (error) {
      context.report(error);
      throw new Error(FAULT, { cause: error });
    }
  };
  const begin = (body: CallBody, call: Call): [string, Promise<string>] => {
    const session = sessions.of(call);
    const count = session.calls + 1;
    sessions.replace({ ...session, calls: count });
    const taskId = `${session.id}.${count}`;
    const answer = run(session.id, taskId, body).finally(() => running.delete(taskId));
    running.set(taskId, answer);
    return [taskId, answer];
  };
  const again = (taskId: string, call: Call): Promise<string> => {
    const known = answerOf(sessions.of(call), taskId, context.ors.now());
    if (known !== undefined) return Promise.resolve(known);
    return running.get(taskId) ?? Promise.reject(new Error('unknown task_id'));
  };
  return (body, call) => {
    const { task_id } = body;
    const [taskId, answer] = task_id == null ? begin(body, call) : [task_id, again(task_id, call)];
    return new Raw('text/event-stream', streamAnswer(taskId, answer), EVENT_HEADERS);
  };
}

export function orsHandlers(context: Context): Pick<Handlers, OrsRouteId> {
  const tasks = createOrsTasks(context.ors.train_tasks);
  const sessions = createOrsSessions(context, tasks);
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
  const taskTools = (_: unknown, call: Call) => {
    sessions.of(call);
    return listTools();
  };
  const prompt = (_: unknown, call: Call) => toPrompt(sessions.of(call).start);
  const messages = (_: unknown, call: Call) => toMessages(sessions.of(call).start);
  const calls = createCalls(context, sessions);
  const callTool = ({ body }: Body<'ors_call'>, call: Call) => calls(body, call);
  const end = (_: unknown, call: Call) => ({ sid: sessions.end(call) });

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
      new Raw('text/event-stream', toEvent('task_id', randomUUID()) + toEvent('end', ''), EVENT_HEADERS),
    ors_create: ({ body }, call) => ({ sid: sessions.create(call, body) }),
    ors_prompt: prompt,
    ors_env_prompt: underName(prompt),
    ors_messages: messages,
    ors_env_messages: underName(messages),
    ors_call: callTool,
    ors_env_call: underName(callTool),
    ors_ping: (_, call) => {
      sessions.of(call);
      return { status: 'ok' };
    },
    ors_delete: end,
    ors_delete_session: end,
  };
}
