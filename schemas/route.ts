/** What a row of the route table holds. The table itself is routes.ts. */
import type { z } from 'zod';

/** Protocols of other projects that the server speaks beside its own; see server/protocols. */
export type Protocol = 'openenv' | 'mcp' | 'ors' | 'nemo-gym' | 'remote-reward';

/** An answer that is no JSON document of ours: a picture, a page, a text. */
export interface RawAnswer {
  /** Media type -> what it is. */
  readonly content: Readonly<Record<string, string>>;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** OpenAPI style: `/tasks/{task_id}`. */
  readonly path: string;
  readonly tag: 'episode' | 'scoring' | 'tasks' | 'about' | Protocol;
  readonly summary: string;
  readonly description?: string;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  /** Headers that a request brings; the handler checks them, since the protocol has its own refusals. */
  readonly headers?: z.ZodObject;
  /** What the body is checked against; `bytes` where the handler reads it itself, since the protocol has its own refusals. */
  readonly body?: z.ZodObject | 'bytes';
  /** Every field of the body is optional, and so is the body. */
  readonly body_optional?: boolean;
  /** Large bodies are answered by a thread: the handler needs nothing but the request, and scores as long as it likes. */
  readonly in_thread?: boolean;
  /** Which limit holds for the size of the body. */
  readonly body_limit?: 'body' | 'batch';
  readonly answer: z.ZodType | RawAnswer;
  /** Other statuses of an answer of this kind, with what they mean: protocols that refuse in a document of their own. */
  readonly statuses?: Readonly<Record<number, string>>;
  /** Statuses of refusals beside those every route may answer (408, 413, 415, 503). */
  readonly refusals?: readonly number[];
  /** A request body to try. */
  readonly example?: Readonly<Record<string, unknown>>;
}
