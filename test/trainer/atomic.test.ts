/** Files that are whole or not there. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isAlive, replaceFile, startOf, writeAtomic } from '../../trainer/atomic.ts';
import { temporaryFolder } from '../tools/temporary-folder.ts';

const gonePid = (): number => spawnSync(process.execPath, ['-e', '']).pid;

test('a file that fails half way leaves the one before, and nothing beside it', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'out.jsonl');
  writeAtomic(path, 'before');
  const failing = replaceFile(path, (temporary) => {
    writeFileSync(temporary, 'half');
    throw new Error('no more rows');
  });
  await expect(failing).rejects.toThrow('no more rows');
  expect([readFileSync(path, 'utf8'), readdirSync(folder)]).toEqual(['before', ['out.jsonl']]);
  expect(await replaceFile(path, (temporary) => (writeFileSync(temporary, 'after'), 7))).toBe(7);
  expect([readFileSync(path, 'utf8'), readdirSync(folder)]).toEqual(['after', ['out.jsonl']]);
});

test('what a killed writer left is taken away by the next one, what a living one writes is not', () => {
  const folder = temporaryFolder();
  const [gone, living] = [`a.json.${gonePid()}.tmp`, `a.json.${process.ppid}.tmp`];
  for (const name of [gone, living, `b.json.${gonePid()}.tmp`]) writeFileSync(join(folder, name), '');
  writeAtomic(join(folder, 'a.json'), '{}');
  expect(existsSync(join(folder, gone))).toBe(false);
  expect(readdirSync(folder)).toHaveLength(3);
});

test('the file that a link leads to is replaced, not the link; a device is written to', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'real'));
  writeFileSync(join(folder, 'real', 'out'), 'before');
  symlinkSync(join(folder, 'real', 'out'), join(folder, 'link'));
  const write = (path: string): void => {
    writeFileSync(path, 'after');
  };
  await replaceFile(join(folder, 'link'), write);
  expect(readFileSync(join(folder, 'real', 'out'), 'utf8')).toBe('after');
  await replaceFile('/dev/null', write);
  await expect(replaceFile('/dev/full', write)).rejects.toThrow('ENOSPC');
});

test('the error of a full disk or a folder that is not there names the file', () => {
  const path = join(temporaryFolder(), 'nowhere', 'out');
  expect(() => {
    writeAtomic(path, '');
  }).toThrow(`${path} could not be written: ENOENT`);
});

test('a process is told from an earlier one of the same id by when it began', () => {
  expect([isAlive(process.pid), isAlive(gonePid())]).toEqual([true, false]);
  expect(startOf(process.pid)).toMatch(/^\d+$/);
  expect(startOf(process.pid)).not.toBe(startOf(process.ppid));
  expect(startOf(gonePid())).toBe('');
});
