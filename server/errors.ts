/** Refusals: what is thrown on a bad use of the protocol, and the body it is answered with. */
import { closest, distance } from 'fastest-levenshtein';
import { ERROR_STATUS, type ErrorBody, type ErrorCode, type ErrorDetail } from '../schemas/error.ts';

export type Place = readonly (string | number)[];

/** `['body', 'task', 'nodes', 0]` -> `body.task.nodes[0]`. */
export function toPath(place: Place): string {
  return place.map((key, i) => (typeof key === 'number' ? `[${key}]` : i === 0 ? key : `.${key}`)).join('');
}

/** A request that is refused. Its message goes to the caller as it is. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: readonly ErrorDetail[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      place?: Place;
      details?: readonly ErrorDetail[];
      headers?: Record<string, string>;
    } = {},
  ) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.status = ERROR_STATUS[code];
    this.details = options.details ?? [{ type: code, loc: [...(options.place ?? [])], msg: message }];
    this.headers = options.headers ?? {};
  }
}

/** A field whose value cannot be used, named before what is said of it. */
export function invalidAt(place: Place, message: string): ApiError {
  return new ApiError('invalid_request', `${toPath(place)}: ${message}`, { place });
}

/** The body of a refusal; `path` is the place of its first fault. */
export function toErrorBody(error: ApiError): ErrorBody {
  const path = toPath(error.details[0]?.loc ?? []);
  return { error: { code: error.code, message: error.message, path }, detail: [...error.details] };
}

/** `; did you mean "graded"?` where one of the names is near enough to be a slip, else ''. */
export function suggest(given: unknown, names: readonly string[]): string {
  if (typeof given !== 'string' || given.length > 100 || names.length === 0) return '';
  const near = closest(given, names);
  return distance(given, near) <= Math.max(2, Math.ceil(near.length / 2))
    ? `; did you mean ${JSON.stringify(near)}?`
    : '';
}
