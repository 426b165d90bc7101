/** The routes of other projects' protocols, one file each. Their bodies and answers are those projects', not ours. */
import type { Route } from '../route.ts';

export const PROTOCOL_ROUTES = {} as const satisfies Record<string, Route>;
