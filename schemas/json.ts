/** What a parsed JSON value is, which TypeScript cannot know. */

/** Whether a value is a JSON object: neither a list nor null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
