#!/usr/bin/env node
/**
 * The command `canvas-gym`: finds the command, reads its settings, runs it, turns what happens into an exit code.
 *
 *   canvas-gym serve --port 8000        canvas-gym help        canvas-gym sft --help
 *
 * Exit codes: 0 done, 1 failed or interrupted, 2 wrong usage. Results go to standard output, everything else to standard
 * error. The first Ctrl-C (or SIGTERM) lets the command stop at a safe place, a second one ends it at once.
 */
import { ABOUT } from '../../server/about.ts';
import { parseSettings, toHelp, UsageError, type Command, type CommandContext } from '../../schemas/settings.ts';
import { createProgress, type ConsoleProgress } from '../../trainer/progress.ts';
import { COMMANDS, findCommand } from './commands.ts';
import { startServerProcess } from './server-process.ts';

const PROGRAM = ABOUT.name;
/** How long open sockets and timers may keep the process once its command has ended. */
const LINGER_MS = 1_000;

async function toOverview(): Promise<string> {
  const commands = await Promise.all([...COMMANDS.values()].map((load) => load()));
  const lines = commands.map(({ command }) => `  ${command.name.padEnd(20)}${command.summary}`);
  return [
    `${PROGRAM} ${ABOUT.version}: ${ABOUT.description}`,
    '',
    `usage: ${PROGRAM} COMMAND [flags]`,
    '',
    ...lines,
    '',
    `${PROGRAM} COMMAND --help says what a command takes. Each flag can be set as a CANVAS_GYM_* variable too.`,
  ].join('\n');
}

function toCommandHelp({ name, summary, settings, presets }: Command): string {
  return toHelp(`${PROGRAM} ${name}`, summary, settings, presets);
}

/** The errors people can act on carry a code, or were written for them; of anything else the origin is worth more. */
function toMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isPlain = error.constructor === Error || 'code' in error;
  const cause = error.cause instanceof Error && !error.message.includes(error.cause.message) ? error.cause.message : '';
  return isPlain ? [error.message, cause].filter(Boolean).join(': ') : (error.stack ?? error.message);
}

function report(name: string, error: unknown): number {
  const program = [PROGRAM, name].filter(Boolean).join(' ');
  const lines = error instanceof UsageError ? [...error.problems] : [toMessage(error)];
  for (const line of lines) process.stderr.write(`${program}: ${line}\n`);
  if (!(error instanceof UsageError)) return 1;
  process.stderr.write(`See ${program} --help\n`);
  return error.exit_code;
}

/** Aborts at the first signal and ends the process at the second. */
function watchSignals(): AbortSignal {
  const controller = new AbortController();
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(1);
    controller.abort(new Error('interrupted'));
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return controller.signal;
}

/** A reader that went away (`| head`) is no failure. */
function watchPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      process.exit(error.code === 'EPIPE' ? 0 : 1);
    });
  }
}

function createContext(progress: ConsoleProgress): CommandContext {
  const note = (line: string): void => {
    progress.clear();
    process.stderr.write(`${line}\n`);
  };
  return {
    startServer: () => startServerProcess(note),
    out: (line) => {
      progress.clear();
      process.stdout.write(`${line}\n`);
    },
    progress,
    signal: watchSignals(),
  };
}

async function runCommand(command: Command, argv: readonly string[]): Promise<number> {
  const progress = createProgress(process.stderr);
  try {
    const settings = parseSettings(command.settings, argv, process.env, command.presets);
    const context = createContext(progress);
    await command.run(settings, context);
    progress.finish();
    return 0;
  } catch (error) {
    progress.clear();
    return report(command.name, error);
  }
}

/** Whether help is asked for; what follows `--` is no flag. */
function asksForHelp(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end < 0 ? argv.length : end).some((entry) => entry === '--help' || entry === '-h');
}

async function main(argv: readonly string[]): Promise<number> {
  const [name = 'help', ...rest] = argv;
  if (['--version', '-V', '-v', 'version'].includes(name)) {
    process.stdout.write(`${PROGRAM} ${ABOUT.version}\n`);
    return 0;
  }
  try {
    const topic = ['help', '--help', '-h'].includes(name) ? rest[0] : name;
    if (topic === undefined) {
      process.stdout.write(`${await toOverview()}\n`);
      return 0;
    }
    const command = await findCommand(topic);
    if (topic === name && !asksForHelp(rest)) return await runCommand(command, rest);
    process.stdout.write(`${toCommandHelp(command)}\n`);
    return 0;
  } catch (error) {
    return report('', error);
  }
}

watchPipes();
process.exitCode = await main(process.argv.slice(2));
setTimeout(() => process.exit(), LINGER_MS).unref();
