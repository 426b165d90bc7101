// Installs the dependencies where node_modules is missing, so that each npm script works on a fresh clone.
// Runs on plain Node; prints nothing when there is nothing to do.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const root = new URL('..', import.meta.url);
// npm writes this file last, so an interrupted install is seen and taken up again.
if (!existsSync(new URL('node_modules/.package-lock.json', root))) {
  console.error('node_modules is missing: running npm ci (a minute or two) ...');
  const npm = process.env.npm_execpath;
  const [command, args] = npm ? [process.execPath, [npm, 'ci']] : ['npm', ['ci']];
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) {
    console.error(`npm ci failed${error ? `: ${error.message}` : ''}; the lines above say why.`);
    process.exit(1);
  }
}
