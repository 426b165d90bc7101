/** In a rollout of NeMo Gym an unknown path is a tool that a model made up. */
import type { Call } from '../../context.ts';
import { ApiError } from '../../errors.ts';
import { unknownTool } from '../tools/episode.ts';
import { hasSession } from './session.ts';

/** What a rollout is told of such a path; undefined where the request is of none. */
export function refuseUnknownTool(path: string, call: Call): ApiError | undefined {
  if (!hasSession(call)) return undefined;
  return new ApiError('unknown_route', unknownTool(path.slice(1)), { place: ['path'] });
}
