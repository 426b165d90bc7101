/** In a rollout of NeMo Gym an unknown path is a tool that a model made up. */
import type { Call } from '../../context.ts';
import { ApiError } from '../../errors.ts';
import { unknownTool } from '../tools/episode.ts';
import { keepSession } from './session.ts';

/** What a rollout is told of such a path, with its session, which goes on; undefined where the request is of none. */
export function refuseUnknownTool(path: string, call: Call): ApiError | undefined {
  const session = keepSession(call);
  if (session === undefined) return undefined;
  return new ApiError('unknown_route', unknownTool(path.slice(1)), {
    place: ['path'],
    headers: { 'set-cookie': session },
  });
}
