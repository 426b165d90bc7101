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

  /** @param foreign What is said where the answer is not one of this server. */
  constructor(status: number, body: ErrorBody | undefined, foreign: string) {
    super(body?.error.message ?? foreign);
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

/** An answer that came as text. */
export interface TextAnswer {
  status: number;
  headers: Headers;
  body: string;
}

function parseErrorBody(text: string): ErrorBody | undefined {
  try {
    return ErrorBody.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** The error of an answer that is no success, or no JSON where JSON is due. */
export function toResponseError(url: string, { status, headers, body }: TextAnswer): ResponseError {
  const type = headers.get('content-type')?.split(';')[0]?.trim() ?? '';
  const answered = [status, type].filter((part) => part !== '').join(' ');
  return new ResponseError(status, parseErrorBody(body), `no canvas-gym server at ${url} (answered ${answered})`);
}
