/** What a call can throw: the server said no, or could not be reached. */
import { ErrorBody, type ErrorCode, type ErrorDetail } from '../../schemas/error.ts';

/** The server refused (4xx) or failed (5xx). */
export class ResponseError extends Error {
  /** Stable code of the refusal; `unknown` where the answer is not one of this server, e.g. a proxy's. */
  readonly code: ErrorCode | 'unknown';
  readonly status: number;
  /** Where in the request the first fault is, e.g. `body.task.prompt`. */
  readonly path: string;
  readonly detail: readonly ErrorDetail[];

  constructor(status: number, body: ErrorBody | undefined, text: string) {
    super(body?.error.message ?? `status ${status}: ${text.slice(0, 200)}`);
    this.name = 'ResponseError';
    this.status = status;
    this.code = body?.error.code ?? 'unknown';
    this.path = body?.error.path ?? '';
    this.detail = body?.detail ?? [];
  }
}

/** No answer came: nothing listens there, the connection broke, or the time was over. */
export class ConnectionError extends Error {
  readonly code = 'connection';
  constructor(url: string, cause: unknown) {
    const reason = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
    super(`no answer from ${url}: ${reason instanceof Error ? reason.message : String(reason)}`, { cause });
    this.name = 'ConnectionError';
  }
}

function parseErrorBody(text: string): ErrorBody | undefined {
  try {
    return ErrorBody.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

export function toResponseError(status: number, text: string): ResponseError {
  return new ResponseError(status, parseErrorBody(text), text);
}
