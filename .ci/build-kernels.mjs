// Compiles trainer/model/kernels into the folder given: kernels.wasm and, with relaxed SIMD, kernels-relaxed.wasm. Both are
// committed, so that neither a checkout nor the package needs the compiler.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('which folder is it to be written into?');
mkdirSync(folder, { recursive: true });

const root = fileURLToPath(new URL('..', import.meta.url));
const OPTIONS = [
  ...['--baseDir', root, '--runtime', 'stub', '--use', 'abort='], // no runtime, nothing to import but the memory
  ...['-O3', '--noAssert', '--enable', 'simd'],
  ...['--importMemory', '--noExportMemory', '--initialMemory', '1'],
  ...['--disableWarning', '112'], // vectors in the signatures of functions that are only called inside
];

for (const [name, options] of Object.entries({ kernels: [], 'kernels-relaxed': ['--enable', 'relaxed-simd'] })) {
  const out = join(folder, `${name}.wasm`);
  const { error } = await asc.main(['trainer/model/kernels/index.ts', ...OPTIONS, ...options, '--outFile', out], {
    stdout: process.stdout,
    stderr: process.stderr,
  });
  if (error) process.exit(1);
}
