/** Computes the numbers in a process of its own: a process has one TensorFlow, and Vulkan reads its environment at the start. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createBackend, type BackendName } from '../../../trainer/backend.ts';
import { computeNumbers, type Numbers } from './numbers.ts';

const LIMIT_MS = 300_000;

type Answer = { numbers: Numbers } | { error: string };

/** @throws Error with what the backend said */
export async function computeApart(name: BackendName, environment: Readonly<Record<string, string>>): Promise<Numbers> {
  const child = fork(fileURLToPath(import.meta.url), [name], {
    ...{ execArgv: ['--import', 'tsx'], env: { ...process.env, ...environment } },
    ...{ stdio: ['ignore', 'ignore', 'pipe', 'ipc'], timeout: LIMIT_MS },
  });
  let said = '';
  child.stderr!.on('data', (text: Buffer) => (said += text.toString()));
  const answer = await new Promise<Answer>((resolve) => {
    child.once('message', resolve as (message: unknown) => void);
    child.once('exit', (code) => {
      resolve({ error: `the process ended with ${code ?? 'a signal'}: ${said}` });
    });
  });
  child.kill();
  if ('error' in answer) throw new Error(`${name}: ${answer.error}`);
  return answer.numbers;
}

async function answer(name: BackendName): Promise<Answer> {
  try {
    return { numbers: await computeNumbers(await createBackend(name)) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

if (process.send && process.argv[1] === fileURLToPath(import.meta.url)) {
  process.send(await answer(process.argv[2] as BackendName));
}
