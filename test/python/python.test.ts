/** The Python package on the standard library alone: its tests, its examples, and its wheel. Frameworks are in test/interop. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer } from '../../server/main.ts';
import { ROOT } from '../rules/files.ts';
import { API_PATH, currentApi } from '../tools/python-api.ts';
import { temporaryFolder } from '../tools/temporary-folder.ts';

const run = promisify(execFile);
const PACKAGE = join(ROOT, 'clients/python');
const FOLDER = join(ROOT, 'test/python');
const EXAMPLE = `
import canvas_gym, pathlib, sys
client = canvas_gym.Client(sys.argv[1])
started = client.reset(seed=7)
turn = client.step(state=started["state"], action='{"actions": []}')
typed = (pathlib.Path(canvas_gym.__file__).parent / "py.typed").exists()
print(canvas_gym.__version__, turn["done"], typed, canvas_gym.__file__)
`;

let server: Awaited<ReturnType<typeof startServer>>;
beforeAll(async () => {
  server = await startServer({ port: 0 });
});
afterAll(() => server.close());

/** Runs Python 3 without caches and with warnings as errors; its output is the message where it fails. */
async function python(args: readonly string[], cwd: string, sources = true, executable = 'python3'): Promise<string> {
  const env = {
    ...process.env,
    CANVAS_GYM_URL: server.url,
    PYTHONPATH: sources ? join(PACKAGE, 'src') : '',
    PYTHONDONTWRITEBYTECODE: '1',
  };
  try {
    const { stdout, stderr } = await run(executable, args, { cwd, env, maxBuffer: 2 ** 26 });
    return stdout + stderr;
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string };
    throw new Error(`${stdout}${stderr}` || message, { cause: error });
  }
}

/** [3, 11] */
async function pythonVersion(): Promise<[number, number]> {
  const said = await python(['-c', 'import sys; print(*sys.version_info[:2])'], ROOT);
  const [major = 0, minor = 0] = said.split(' ').map(Number);
  return [major, minor];
}

test('the Python is one that the package is for', async () => {
  const [major, minor] = await pythonVersion();
  expect(major, 'python3 on the PATH').toBe(3);
  expect(minor, 'python3 on the PATH must be 3.9 or later').toBeGreaterThanOrEqual(9);
});

test('its methods and types are those of the OpenAPI document; if not: npx tsx test/tools/python-api.ts', () => {
  expect(readFileSync(API_PATH, 'utf8')).toBe(currentApi());
});

describe('its tests', () => {
  const files = readdirSync(FOLDER).filter((name) => /^test_\w+\.py$/.test(name));

  test.each(files)('%s', async (name) => {
    const output = await python(['-W', 'error', '-m', 'unittest', name.replace('.py', '')], FOLDER);
    expect(output).toMatch(/^Ran [1-9]\d* tests? in/m);
    expect(output).toMatch(/^OK$/m);
  });

  test('the examples in its docstrings', async () => {
    expect(await python(['-W', 'error', 'run_doctests.py'], FOLDER)).toMatch(/^[1-9]\d* examples, 0 failed$/m);
  });
});

test('the example of two turns ends with a good drawing, and says what was wrong with the first', async () => {
  const printed = await python(['-W', 'error', join(PACKAGE, 'examples/client_two_turns.py')], ROOT);
  expect(printed).toContain('these arrows are missing; connect "Record" -> "Review"');
  expect(Number(/^in all: (.*)$/m.exec(printed)?.[1])).toBeGreaterThan(0.9);
});

describe('its wheel', () => {
  test('is the same from the same files, and leaves nothing behind', async () => {
    const folders = ['a', 'b'].map((name) => join(temporaryFolder(), name));
    const before = readdirSync(PACKAGE);
    const build =
      'import build_backend, sys; print(build_backend.build_wheel(sys.argv[1]), build_backend.build_sdist(sys.argv[1]))';
    const [first, second] = await Promise.all(
      folders.map(async (folder) => {
        mkdirSync(folder);
        const names = (await python(['-c', build, folder], PACKAGE, false)).trim().split(' ');
        return names.map((name) => readFileSync(join(folder, name)));
      }),
    );
    expect(first).toHaveLength(2);
    expect(first).toEqual(second);
    expect(readdirSync(PACKAGE)).toEqual(before);
  });

  test('installs without a network and plays', async (context) => {
    const [, minor] = await pythonVersion();
    const hasVenv = await python(['-c', 'import ensurepip'], ROOT).then(
      () => true,
      () => false,
    );
    context.skip(!hasVenv, 'this Python cannot make virtual environments (Debian: apt-get install python3-venv)');
    context.skip(minor < 11, 'before 3.11 Python needs tomli to read pyproject.toml, which pip would have to fetch');
    const folder = temporaryFolder();
    await python(['-m', 'venv', 'venv'], folder, false);
    const executable = join(folder, 'venv/bin/python');
    const install = ['-m', 'pip', 'install', '--quiet', '--no-index', '--disable-pip-version-check', PACKAGE];
    await python(install, folder, false, executable);
    const output = await python(['-c', EXAMPLE, server.url], folder, false, executable);
    expect(output).toMatch(/^0\.1\.0 True True .*\/venv\/lib\/.*\/canvas_gym\/__init__\.py\n$/);
    expect(existsSync(join(PACKAGE, 'build'))).toBe(false);
  });
});
