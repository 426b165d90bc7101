/** The table of commands. Each is loaded when it is needed, so that `serve` does not wait for the trainer's libraries. */
import { closest } from 'fastest-levenshtein';
import { UsageError, type Command } from '../../schemas/settings.ts';

type Load = () => Promise<{ command: Command }>;

export const COMMANDS: ReadonlyMap<string, Load> = new Map<string, Load>([
  ['serve', () => import('./serve.ts')],
  ['quickstart', () => import('../../trainer/commands/quickstart.ts')],
  ['teach', () => import('../../trainer/commands/teach.ts')],
  ['sft', () => import('../../trainer/commands/sft.ts')],
  ['reinforce', () => import('../../trainer/commands/reinforce.ts')],
  ['evaluate', () => import('../../trainer/commands/evaluate.ts')],
  ['experiment-reward', () => import('../../trainer/commands/experiment-reward.ts')],
  ['repair', () => import('../../trainer/commands/repair.ts')],
  ['report', () => import('../../trainer/report/command.ts')],
  ['runs', () => import('./runs.ts')],
  ['tasks', () => import('./tasks.ts')],
  ['play', () => import('./play.ts')],
  ['score', () => import('./score.ts')],
  ['export', () => import('./export.ts')],
  ['import', () => import('./import.ts')],
]);

/** @throws UsageError naming the nearest command */
export async function findCommand(name: string): Promise<Command> {
  const load = COMMANDS.get(name);
  if (load) return (await load()).command;
  const nearest = closest(name, [...COMMANDS.keys()]);
  throw new UsageError([`unknown command ${JSON.stringify(name)}; the nearest one is ${nearest}`]);
}
