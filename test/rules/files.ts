/** The files of the project as git sees them: tracked, or new and not ignored. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Paths relative to the root with forward slashes, sorted. A file that was deleted but not yet committed is left out. */
export function projectFiles(): string[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  return [...new Set(listed.split('\0'))].filter((path) => path !== '' && existsSync(join(ROOT, path))).sort();
}

export const readText = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The TypeScript sources below the given folders. */
export function sourceFiles(...folders: string[]): string[] {
  return projectFiles().filter(
    (path) => path.endsWith('.ts') && folders.some((folder) => path.startsWith(`${folder}/`)),
  );
}
