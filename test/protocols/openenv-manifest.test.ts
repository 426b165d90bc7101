/** server/deploy/openenv.yaml says of the environment what is so. That OpenEnv takes it is tested in test/interop/openenv. */
import { expect, test } from 'vitest';
import { ABOUT } from '../../server/about.ts';
import { DIAGRAM_TOOLS } from '../../server/protocols/tools/diagram.ts';
import { ServerSettings } from '../../server/settings.ts';
import { SUITE_VERSION } from '../../server/tasks/suite.ts';
import { readText } from '../rules/files.ts';

const manifest = readText('server/deploy/openenv.yaml');
const valueOf = (key: string): string | undefined =>
  new RegExp(`^ *${key}: ['"]?([^'"\\n]*)['"]?$`, 'm').exec(manifest)?.[1];

test.each([
  ['version', ABOUT.version],
  ['port', String(ServerSettings.parse({}).port)],
  ['dataset_version', String(SUITE_VERSION)],
])('the %s', (key, expected) => {
  expect(valueOf(key)).toBe(expected);
});

test('the tools, all of them', () => {
  const listed = /declared_tools:\n((?: +- \w+\n)+)/.exec(manifest)?.[1] ?? '';
  expect(listed.match(/\w+/g)).toEqual(DIAGRAM_TOOLS.map(({ name }) => name));
});
