/** Settings: flags before variables before defaults, typed by the schema, every fault named. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { parseSettings, toHelp, toPrintable, UsageError } from '../../schemas/settings.ts';

const Settings = z.strictObject({
  run: z.string().meta({ description: 'Run to take up', positional: true }),
  group_size: z.number().int().min(2).default(8).meta({ description: 'Episodes of each task', unit: 'episodes' }),
  splits: z
    .array(z.enum(['train', 'val', 'test_iid']))
    .default(['val'])
    .describe('Splits, separated by commas'),
  level: z
    .union([z.literal(1), z.literal(2)])
    .optional()
    .describe('Level of the tasks'),
  limit: z
    .union([z.literal('all'), z.number()])
    .default('all')
    .describe('How many'),
  resume: z.boolean().default(true).describe('Take up the last checkpoint'),
  verbose: z.boolean().default(false).describe('Say more'),
  secret: z.string().min(8).optional().meta({ description: 'Signs the states', secret: true }),
});

const DEFAULTS = { run: 'r', group_size: 8, splits: ['val'], limit: 'all', resume: true, verbose: false };

function problemsOf(argv: string[], env: Record<string, string> = {}): readonly string[] {
  try {
    parseSettings(Settings, argv, env);
    return [];
  } catch (error) {
    if (error instanceof UsageError) return error.problems;
    throw error;
  }
}

test.each([
  ['nothing but what is needed', ['r'], {}, {}],
  ['a flag and its value', ['r', '--group-size', '4'], {}, { group_size: 4 }],
  ['a flag with =', ['--group-size=4', 'r'], {}, { group_size: 4 }],
  ['the later of two flags', ['r', '--group-size=4', '--group-size=5'], {}, { group_size: 5 }],
  ['a variable', ['r'], { CANVAS_GYM_GROUP_SIZE: '4' }, { group_size: 4 }],
  ['a flag over a variable', ['r', '--group-size', '4'], { CANVAS_GYM_GROUP_SIZE: '5' }, { group_size: 4 }],
  ['an empty variable', ['r'], { CANVAS_GYM_GROUP_SIZE: '', CANVAS_GYM_RESUME: '' }, {}],
  ['a variable for the argument', [], { CANVAS_GYM_RUN: 'r' }, {}],
  ['switches', ['--verbose', 'r', '--no-resume'], {}, { verbose: true, resume: false }],
  ['a switch with a value', ['--verbose=yes', 'r', '--resume=0'], {}, { verbose: true, resume: false }],
  ['a switch turned back on', ['r', '--resume'], { CANVAS_GYM_RESUME: 'off' }, {}],
  ['a list in one', ['r', '--splits', 'train, val'], {}, { splits: ['train', 'val'] }],
  ['a list in several', ['r', '--splits=train', '--splits=val'], {}, { splits: ['train', 'val'] }],
  ['a number out of a set', ['r', '--level', '2'], {}, { level: 2 }],
  ['a number or a word', ['r', '--limit', '-2.5e1'], {}, { limit: -25 }],
  ['a text that looks like a number', ['007'], {}, { run: '007' }],
  ['the argument as a flag', ['--run', 'r'], {}, {}],
  ['what follows --', ['--', '--group-size'], {}, { run: '--group-size' }],
])('it takes %s', (_, argv, env, changes) => {
  expect(parseSettings(Settings, argv, env)).toEqual({ ...DEFAULTS, ...changes });
});

test.each([
  ['an unknown flag, naming the nearest one', ['r', '--grop-size', '4'], {}, ['--grop-size', '--group-size']],
  ['an unknown switch, naming the nearest one', ['r', '--no-resum'], {}, ['--no-resum', '--resume']],
  ['--no- before a flag that takes a value', ['r', '--no-level'], {}, ['--no-level', '--level']],
  ['a short flag', ['r', '-g'], {}, ['-g']],
  ['a flag without its value', ['r', '--group-size'], {}, ['--group-size']],
  ['a flag where a value belongs', ['r', '--group-size', '--verbose'], {}, ['--group-size']],
  ['a value out of range', ['r', '--group-size', '1'], {}, ['--group-size', '"1"', '>=2']],
  ['a word for a number', ['r', '--group-size', 'many'], {}, ['--group-size', '"many"']],
  ['NaN for a number', ['r', '--group-size', 'NaN'], {}, ['--group-size']],
  ['a hexadecimal number', ['r', '--group-size', '0x10'], {}, ['--group-size']],
  ['a value out of the set', ['r', '--splits', 'val,test'], {}, ['--splits', 'train, val, test_iid']],
  ['a number out of the set', ['r', '--level', '7'], {}, ['--level', '1, 2']],
  ['a bad variable, by its name', ['r'], { CANVAS_GYM_GROUP_SIZE: 'x' }, ['CANVAS_GYM_GROUP_SIZE']],
  ['a switch that is neither on nor off', ['r', '--verbose=maybe'], {}, ['--verbose', '"maybe"']],
  ['a missing argument', [], {}, ['RUN']],
  ['an argument too many', ['r', 's'], {}, ['"s"']],
  ['an argument that a flag gave already', ['--run', 'r', 's'], {}, ['"s"']],
])('it refuses %s', (_, argv, env, words) => {
  const problems = problemsOf(argv, env);
  expect(problems).toHaveLength(1);
  for (const word of words) expect(problems[0]).toContain(word);
});

test('it names all faults at once, and no secret', () => {
  const problems = problemsOf(['--group-size=1', '--secret=hunter2', '--wat']);
  expect(problems).toHaveLength(4);
  expect(problems.join()).not.toContain('hunter2');
});

test('a list of arguments takes all of them, commas and all', () => {
  const Files = z.strictObject({
    files: z.array(z.string()).min(1).meta({ positional: true }),
    all: z.boolean().default(false),
  });
  expect(parseSettings(Files, ['a,b', '--all', 'c'], {})).toEqual({ files: ['a,b', 'c'], all: true });
  expect(() => parseSettings(Files, [], {})).toThrow(new UsageError(['FILES is missing']));
  expect(toHelp('x', '', Files)).toContain('usage: x FILES.. [flags]');
});

test('rules over several fields are usage errors too', () => {
  const Range = z.strictObject({ low: z.number().default(0), high: z.number().default(1) });
  const Ordered = Range.refine(({ low, high }) => low < high, { error: 'must be under --high', path: ['low'] });
  expect(() => parseSettings(Ordered, ['--low', '2'], {})).toThrow(new UsageError(['--low must be under --high']));
});

test('settings print as JSON without secrets', () => {
  const settings = parseSettings(Settings, ['r', '--secret', 'correct horse'], {});
  expect(toPrintable(Settings, settings)).toEqual({ ...DEFAULTS, secret: '***' });
});

test('help has a line for each setting with its default, unit and variable', () => {
  const lines = toHelp('canvas-gym sft', 'Trains on what the teacher made.', Settings).split('\n');
  const lineOf = (start: string) => lines.find((line) => line.trimStart().startsWith(start));
  expect(lines[0]).toBe('canvas-gym sft: Trains on what the teacher made.');
  expect(lines).toContain('usage: canvas-gym sft RUN [flags]');
  expect(lineOf('--group-size <number>')).toMatch(
    /Episodes of each task \(default 8 episodes; CANVAS_GYM_GROUP_SIZE\)$/,
  );
  expect(lineOf('--[no-]resume')).toContain('default on');
  expect(lineOf('--splits <train|val|test_iid>')).toBeDefined();
  expect(lineOf('--level <1|2>')).toBeDefined();
  expect(lineOf('RUN')).not.toContain('CANVAS_GYM');
});
