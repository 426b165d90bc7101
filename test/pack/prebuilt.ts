/**
 * npm for tests that install the package: as a user has it, but that SQLite is not compiled again where its prebuilt file cannot
 * be fetched (a minute or more); the one of this checkout's node_modules is found first.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../rules/files.ts';

/** Writes the file into `folder`, and returns the environment in which npm finds it: nothing of the npm run that a test is part of. */
export function npmEnvironment(folder: string): Record<string, string> {
  const source = join(ROOT, 'node_modules/better-sqlite3');
  const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as { version: string };
  const { platform, arch, versions } = process;
  const name = `better-sqlite3-v${version}-node-v${versions.modules}-${platform}-${arch}.tar.gz`;
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['-czf', join(folder, name), '-C', source, 'build/Release/better_sqlite3.node']);
  const own = Object.entries(process.env).filter(([key]) => !/^(npm_|canvas_gym_|node_env$)/i.test(key));
  return {
    ...(Object.fromEntries(own) as Record<string, string>),
    npm_config_better_sqlite3_local_prebuilds: folder,
    npm_config_prefer_offline: 'true',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
  };
}
