/** Seeds that nobody chose. */
import { randomBytes } from 'node:crypto';
import type { ResetRequest } from '../schemas/requests.ts';
import { needsSeed } from './episode.ts';

/** 53 bits, so that it survives as a JSON number too. */
function pickSeed(): string {
  return (randomBytes(8).readBigUInt64BE() >> 11n).toString();
}

/** The request with a seed, where one is needed to draw the task and none was given. */
export function withSeed(request: ResetRequest): ResetRequest {
  return needsSeed(request) && request.seed == null ? { ...request, seed: pickSeed() } : request;
}
