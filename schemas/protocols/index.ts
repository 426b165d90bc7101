/** The routes of other projects' protocols, one file each. Their bodies and answers are those projects', not ours. */
import type { Route } from '../route.ts';
import { NEMO_GYM_ROUTES } from './nemo-gym.ts';
import { OPENENV_ROUTES } from './openenv.ts';
import { ORS_ROUTES } from './ors.ts';
import { REMOTE_REWARD_ROUTES } from './remote-reward.ts';

export const PROTOCOL_ROUTES = {
  ...NEMO_GYM_ROUTES,
  ...OPENENV_ROUTES,
  ...ORS_ROUTES,
  ...REMOTE_REWARD_ROUTES,
} as const satisfies Record<string, Route>;
