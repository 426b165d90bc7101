/** Presets are defaults of the commands that have the setting, and flags win over them. */
import { expect, test } from 'vitest';
import { parseSettings, toHelp } from '../../schemas/settings.ts';
import { command as quickstart } from '../../trainer/commands/quickstart.ts';
import { command as teach } from '../../trainer/commands/teach.ts';
import { TRAINING_PRESETS } from '../../trainer/presets.ts';

const parse = (command: typeof quickstart | typeof teach, ...argv: string[]) =>
  parseSettings(command.settings, argv, {}, command.presets) as Record<string, unknown>;

test('every setting of a preset is one of the quickstart, of a value it takes', () => {
  expect(parse(quickstart, '--preset', 'full')).toMatchObject(TRAINING_PRESETS.full);
});

test('quick is the defaults', () => {
  expect(parse(quickstart)).toEqual(parse(quickstart, '--preset', 'quick'));
});

test('a flag wins over the preset, and a command takes what it has', () => {
  const settings = parse(teach, '--preset', 'full', '--tasks', '5');
  expect(settings).toMatchObject({ tasks: 5, levels: [1, 2, 3], samples: TRAINING_PRESETS.full.samples });
  expect(settings).not.toHaveProperty('layers');
});

test('help shows what the preset says', () => {
  expect(toHelp('p', 's', teach.settings, teach.presets)).toContain('default 1; full 1,2,3; CANVAS_GYM_LEVELS');
});
