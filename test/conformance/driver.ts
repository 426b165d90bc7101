/** What the conformance suite needs to know of a protocol: how an answer is judged, and how an episode is played. */
import type { Action } from '../../schemas/action.ts';
import type { InlineTask } from '../../schemas/task.ts';

/** A server to play against. */
export interface World {
  url: string;
  close(): Promise<void>;
}

export type Question = { task_id: string } | { task: InlineTask };

export interface Judged {
  /** As it came over the wire. */
  reward: unknown;
  /** Everything the server said, in the order in which it said it. */
  raw: string;
}

export interface Turn extends Judged {
  /** Whether the protocol says that the episode is over. */
  over: boolean;
  /** Only where the driver says `tells_end`. */
  terminated?: boolean;
  truncated?: boolean;
  /** What the model is told, without ids of sessions. */
  said: string;
}

export interface Episode {
  /** What the model is given first. */
  observation: string;
  /** Takes one action. @throws Refused where the episode is over. */
  act: (action: Action) => Promise<Turn>;
  /** Ends the drawing. */
  submit: () => Promise<Turn>;
  close: () => Promise<unknown>;
}

export interface Start {
  question?: Question;
  /** Only where the driver says `seeds`. */
  seed?: number;
  /** Only where the driver says `limits`. */
  max_turns?: number;
}

export interface Driver {
  name: string;
  /** The reward of one answer, text as a model wrote it. @throws Refused. */
  judge: (world: World, question: Question, text: string) => Promise<Judged>;
  /** Only for protocols with episodes of several turns. */
  open?: (world: World, start: Start) => Promise<Episode>;
  /** Whether a request may bring a task of its own, with what is expected; default true. */
  own_tasks?: boolean;
  /** Whether an episode may be drawn by seed. */
  seeds?: boolean;
  /** Whether an episode may be given a number of turns. */
  limits?: boolean;
  /** Whether a turn says how it ended the episode: by what was done, or by the limit of turns. */
  tells_end?: boolean;
  /** What a turn costs beside the drawing; 0 where the reward comes once, at the end. */
  turn_cost?: number;
}

/** The server did not answer with a reward: a status other than 200, or an error of the protocol. */
export class Refused extends Error {
  readonly status: number;
  readonly retry_after: string | null;
  constructor(status: number, message: string, retryAfter: string | null = null) {
    super(`${status}: ${message}`);
    this.status = status;
    this.retry_after = retryAfter;
  }
}

export interface Answered {
  json: unknown;
  raw: string;
  /** The pair of the cookie that was set. */
  cookie: string | undefined;
}

/** Sends JSON. @throws Refused unless the status is 200. */
export async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Answered> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const raw = await response.text();
  if (response.status !== 200) throw new Refused(response.status, raw, response.headers.get('retry-after'));
  const json: unknown = response.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(raw) : null;
  return { json, raw, cookie: response.headers.get('set-cookie')?.split(';')[0] };
}
