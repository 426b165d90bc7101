/** What a refused request is answered with: a stable code, a message that says what to change, and each fault. */
import { z } from 'zod';

/** Status of each code. */
export const ERROR_STATUS = {
  not_json: 400,
  not_an_object: 400,
  too_deep: 400,
  bad_seed: 400,
  state_changed: 400,
  state_version: 400,
  body_cut: 400,
  bad_http: 400,
  missing_header: 400,
  session_exists: 400,
  unknown_split: 400,
  unknown_index: 400,
  unknown_toolset: 400,
  foreign_page: 403,
  unknown_route: 404,
  unknown_task: 404,
  unknown_environment: 404,
  unknown_session: 404,
  method_not_allowed: 405,
  body_timeout: 408,
  episode_over: 409,
  session_ended: 410,
  body_too_large: 413,
  unsupported_encoding: 415,
  invalid_request: 422,
  unequal_columns: 422,
  headers_too_large: 431,
  internal: 503,
  overloaded: 503,
} as const;
export type ErrorCode = keyof typeof ERROR_STATUS;

export const ErrorDetail = z.strictObject({
  type: z.string().describe('Kind of fault: missing, unknown_key, ...'),
  loc: z.array(z.union([z.string(), z.number()])).describe('Where: body, query or path, then keys and positions'),
  msg: z.string(),
  input: z.union([z.string(), z.number(), z.boolean(), z.null()]).optional().describe('What was sent, if it is short'),
});
export type ErrorDetail = z.infer<typeof ErrorDetail>;

export const ErrorBody = z.strictObject({
  error: z.strictObject({
    code: z.enum(Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]]),
    message: z.string().describe('What to change'),
    path: z.string().describe('Where in the request, e.g. body.task.prompt; "" where it is about the whole of it'),
  }),
  detail: z.array(ErrorDetail),
});
export type ErrorBody = z.infer<typeof ErrorBody>;
