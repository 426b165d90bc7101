/** What `npm run bench` and `npm run bench:trainer` share: options, running benchmarks by name, the table and the JSON. */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { toJson, toTable, type Row } from './rows.ts';

export interface BenchOptions {
  /** Times each side is measured; rounds of the two alternate. */
  rounds: number;
  /** Of one side in one round. */
  seconds: number;
}

/** Benchmarks by name, in the order they run. */
export type Benchmarks = Readonly<Record<string, (options: BenchOptions) => Promise<Row[]>>>;

interface Command extends BenchOptions {
  only: string[];
  json: string | undefined;
}

export const say = (line: string): void => {
  console.error(line);
};

function wrongUsage(message: string): never {
  say(message);
  process.exit(2);
}

/** Reads --only, --json, --rounds and --seconds. Ends the process with 2 where they are wrong. */
export function readCommand(benchmarks: Benchmarks, defaults: BenchOptions): Command {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true },
      json: { type: 'string' },
      rounds: { type: 'string', default: String(defaults.rounds) },
      seconds: { type: 'string', default: String(defaults.seconds) },
    },
  });
  const only = values.only ?? Object.keys(benchmarks);
  const unknown = only.find((name) => !(name in benchmarks));
  if (unknown !== undefined) wrongUsage(`no benchmark ${unknown}; there are ${Object.keys(benchmarks).join(', ')}`);
  const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
  if (!(rounds >= 1 && seconds > 0)) wrongUsage('--rounds must be at least 1, --seconds over 0');
  return { only, json: values.json, rounds, seconds };
}

/** Runs the benchmarks one after another, then prints what they found; where one fails, what the others found before. */
export async function runBenchmarks(benchmarks: Benchmarks, { only, json, ...options }: Command): Promise<void> {
  const rows: Row[] = [];
  try {
    for (const name of only) {
      say(`${name}: ${options.rounds} rounds of ${options.seconds} s a side ...`);
      rows.push(...((await benchmarks[name]?.(options)) ?? []));
    }
  } finally {
    if (rows.length > 0) console.log(toTable(rows));
    if (json !== undefined) writeFileSync(json, toJson(rows));
  }
}
