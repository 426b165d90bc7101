/**
 * Whether memory stays flat: 500 steps of REINFORCE in one process (ours-memory.ts). Every 50 steps it prints tensors, the wasm
 * heap, the process's memory and V8's; the rows say how much each grew after the 100th step, by when caches are warm.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { ROOT } from '../../rules/files.ts';
import { plainEnvironment, startSources } from '../../tools/processes.ts';
import { say } from '../command.ts';
import { row, type Row } from '../rows.ts';

const WARM = 100;
const Held = z.strictObject({
  ...{ step: z.number(), tensors: z.number(), wasm_mib: z.number(), rss_mib: z.number() },
  ...{ v8_mib: z.number(), external_mib: z.number() },
});
type Held = z.output<typeof Held>;

export async function reinforceMemory(): Promise<Row[]> {
  const server = await startSources();
  try {
    const held = await measure(`http://127.0.0.1:${server.port}`);
    const [warm, last] = [held.find(({ step }) => step === WARM)!, held.at(-1)!];
    const steps = `growth from step ${warm.step} to ${last.step} of REINFORCE`;
    const grown = (key: keyof Held): number => last[key] - warm[key];
    return [
      row('rl_tensors_grown', grown('tensors'), 'tensors', null, `${steps}, of ${warm.tensors}`),
      row('rl_wasm_grown', grown('wasm_mib'), 'MiB', null, `${steps}, of ${warm.wasm_mib.toFixed(0)} MiB`),
      row('rl_rss_grown', grown('rss_mib'), 'MiB', null, `${steps}, of ${warm.rss_mib.toFixed(0)} MiB`),
      row('rl_v8_grown', grown('v8_mib'), 'MiB', null, `${steps}, of ${warm.v8_mib.toFixed(0)} MiB`),
    ];
  } finally {
    await server.stop();
  }
}

async function measure(url: string): Promise<Held[]> {
  const program = ['--expose-gc', '--import', 'tsx', 'test/bench/trainer/ours-memory.ts', url];
  const child = spawn(process.execPath, program, {
    ...{ cwd: ROOT, env: plainEnvironment(), stdio: ['ignore', 'pipe', 'inherit'] },
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const held: Held[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const now = Held.parse(JSON.parse(line));
    const sizes = `wasm ${now.wasm_mib.toFixed(1)}, RSS ${now.rss_mib.toFixed(0)}, V8 ${now.v8_mib.toFixed(1)} MiB`;
    say(`  step ${now.step}: ${now.tensors} tensors, ${sizes}, external ${now.external_mib.toFixed(1)} MiB`);
    held.push(now);
  }
  const [code] = await exited;
  if (code !== 0) throw new Error(`${program.join(' ')} ended with ${String(code)}`);
  return held;
}
