// Compiles the sources into dist/ (JavaScript, types, source maps) and copies what is not TypeScript beside them.
// `npm pack` and `npm publish` run it through the prepack script.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const SOURCES = ['schemas', 'server', 'clients', 'trainer'];

function compile() {
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [tsc, '-p', '.ci/tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(1);
}

/** What is no file of the project: Python's and its tools' caches. LOG.md is a diary; kernels/ is compiled into wasm/. */
const LEFT_OUT = /\.ts$|\.pyc$|\.egg-info\/|\/\.\w+_cache\/|(^|\/)LOG\.md$|\/kernels\/tsconfig\.json$/;

/** Pages, fonts, data, Python: every file of the source folders that the compiler does not read. */
function copyAssets() {
  for (const folder of SOURCES) {
    for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
      const from = join(entry.parentPath, entry.name);
      if (!entry.isFile() || LEFT_OUT.test(from)) continue;
      const to = join(root, 'dist', from.slice(root.length));
      mkdirSync(dirname(to), { recursive: true });
      copyFileSync(from, to);
    }
  }
}

rmSync(join(root, 'dist'), { recursive: true, force: true });
compile();
copyAssets();
