/** The README's links into itself and into the project. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readText, ROOT } from '../rules/files.ts';

const page = readText('README.md');
const prose = page.replace(/^```[\s\S]*?^```$/gm, '');

/** What GitHub makes of a heading. */
const slug = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

const slugs = [...prose.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => slug(heading!));
const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);

test('headings differ, and there are links', () => {
  expect(new Set(slugs).size).toBe(slugs.length);
  expect(targets.length).toBeGreaterThan(20);
});

test.each([...new Set(targets)])('%s', (target) => {
  if (target.startsWith('#')) expect(slugs).toContain(target.slice(1));
  else if (!/^https?:/.test(target)) expect(existsSync(join(ROOT, target))).toBe(true);
});
