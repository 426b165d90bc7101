/**
 * `canvas-gym import FILES..`: Mermaid flowcharts and Graphviz files as tasks, one JSON object a line: `source` and
 * `task`, which /reset, /reward and /score take as it is. Add a `completion` to a line, and `canvas-gym score` scores it.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, extname } from 'node:path';
import { z } from 'zod';
import { defineCommand } from '../../schemas/settings.ts';
import { writeAtomic } from '../../trainer/atomic.ts';
import { ImportError, toTask, type Graph } from './import/graph.ts';
import { readGraphviz } from './import/graphviz.ts';
import { readMermaid } from './import/mermaid.ts';

const READERS: ReadonlyMap<string, (text: string) => Graph> = new Map([
  ['.mmd', readMermaid],
  ['.mermaid', readMermaid],
  ['.dot', readGraphviz],
  ['.gv', readGraphviz],
]);

const Settings = z.strictObject({
  files: z
    .array(z.string())
    .min(1)
    .meta({ description: `Files that end in ${[...READERS.keys()].join(', ')}`, positional: true }),
  out: z.string().min(1).default('-').describe('File to write; - is standard output'),
});

/** @throws ImportError naming the file */
function readTask(source: string): string {
  const reader = READERS.get(extname(source).toLowerCase());
  if (!reader) throw new ImportError(`${source} ends in none of ${[...READERS.keys()].join(', ')}`);
  try {
    return JSON.stringify({ source, task: toTask(reader(readFileSync(source, 'utf8'))) });
  } catch (error) {
    if (error instanceof ImportError) error.message = `${source}: ${error.message}`;
    throw error;
  }
}

export const command = defineCommand({
  name: 'import',
  summary: 'turn Mermaid and Graphviz files into tasks',
  settings: Settings,
  run({ files, out: path }, { out }) {
    const lines = files.map(readTask);
    if (path === '-') lines.forEach(out);
    else {
      mkdirSync(dirname(path), { recursive: true });
      writeAtomic(path, lines.map((line) => `${line}\n`).join(''));
    }
    return Promise.resolve();
  },
});
