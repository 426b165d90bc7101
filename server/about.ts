/** Name and version of the program, as they stand in package.json. */
import { existsSync, readFileSync } from 'node:fs';

/** The sources lie one level below package.json, the compiled files two. */
function readVersion(): string {
  const places = ['../package.json', '../../package.json'].map((path) => new URL(path, import.meta.url));
  const file = places.find((place) => existsSync(place));
  if (!file) throw new Error('package.json is missing beside the program');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

export const ABOUT = {
  name: 'canvas-gym',
  description:
    'A stateless environment for agents that draw diagrams: text in, shapes and arrows out, a reward with reasons.',
  version: readVersion(),
} as const;
