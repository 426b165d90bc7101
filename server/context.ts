/** What every handler is given, of our own routes and of each protocol, and what a handler is. */
import type { RouteAnswer, RouteId, RouteRequest } from '../schemas/routes.ts';
import type { reset, step } from './episode.ts';
import type { reward, score } from './grade.ts';
import type { Metrics } from './metrics.ts';
import type { Remembered } from './protocols/nemo-gym/session.ts';
import type { OrsOptions } from './protocols/ors/handlers.ts';
import type { OrsEntry } from './protocols/ors/sessions.ts';
import type { SessionLimits } from './protocols/sessions/bounded-map.ts';
import type { AskKeeper } from './protocols/sessions/store.ts';
import type { SharedSessions } from './protocols/sessions/shared.ts';
import type { Raw } from './raw.ts';
import type { render } from './render/index.ts';
import type { Signer } from './state.ts';

/** The pure functions the routes rest on. */
export interface Environment {
  reset: typeof reset;
  step: typeof step;
  reward: typeof reward;
  score: typeof score;
  render: typeof render;
}

export interface Call {
  headers: { get(name: string): string | null };
}

type Answer<K extends RouteId> = RouteAnswer<K> | Raw;
export type Handlers = {
  [K in RouteId]: (request: RouteRequest<K>, call: Call) => Answer<K> | Promise<Answer<K>>;
};

export interface Context {
  environment: Environment;
  signer: Signer;
  metrics: Metrics;
  /** Told of every fault of the server. */
  report: (error: unknown) => void;
  /** Episodes that the server holds, of MCP and OpenEnv clients. */
  shared: SharedSessions;
  /** Of what else this process remembers for clients. */
  session_limits: SessionLimits;
  ors: OrsOptions;
  /** Asks who keeps the sessions of ORS. */
  ask_ors: AskKeeper<OrsEntry>;
  /** Asks who remembers the rollouts of NeMo Gym. */
  ask_nemo: AskKeeper<Remembered>;
}
