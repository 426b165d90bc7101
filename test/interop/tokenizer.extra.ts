/** The tokenizer.json that the trainer writes, read by the library that transformers uses: equal ids, and texts come back. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { trainTokenizer } from '../../trainer/tokenizer.ts';
import { benchVectors } from '../bench/vectors.ts';
import { ROOT } from '../rules/files.ts';

const PYTHON = join(ROOT, '.cache/extra/bin/python');
const ODD = [
  '',
  ' ',
  'Größe 7.5 \u{1f600}',
  'e\u0301 \u200d \u0000',
  '{"actions":[]}',
  'naïve-API_2 x10',
  '\ue000',
  'a'.repeat(300),
];

test('Python reads the tokenizer as the trainer does', () => {
  const vectors = benchVectors();
  const tokenizer = trainTokenizer(vectors.slice(0, 100));
  const texts = [...vectors.flatMap(({ prompt, completion }) => [prompt, completion]), ...ODD];
  const folder = mkdtempSync(join(tmpdir(), 'tokenizer-'));
  try {
    const file = join(folder, 'cases.json');
    const cases = texts.map((text) => ({ text, ids: tokenizer.encode(text) }));
    writeFileSync(file, JSON.stringify({ tokenizer: tokenizer.json, cases }));
    const printed = execFileSync(PYTHON, ['test/interop/tokenizer_check.py', file], { cwd: ROOT, encoding: 'utf8' });
    expect(printed.trim()).toBe(`${texts.length} of ${texts.length} texts have equal ids and come back`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
