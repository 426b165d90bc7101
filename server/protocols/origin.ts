/** Which web pages may reach `/mcp` and the web sockets: those of this machine. */

const LOOPBACK = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

export const FOREIGN_PAGE = 'web pages reach this from this machine only; programs send no Origin header';

/**
 * Whether a page of another site sent a request, which the protocol forbids to answer: it may have rebound our name.
 * @param origin The header Origin, which programs leave out.
 */
export function isForeignPage(origin: string | null | undefined): boolean {
  return typeof origin === 'string' && !LOOPBACK.test(origin);
}
