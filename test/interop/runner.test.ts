/** What the interop runner reads: suites, reports of pytest, versions of Python. Installing and running are its own business. */
import { describe, expect, test } from 'vitest';
import { versionFault } from './environment.ts';
import { readReport } from './pytest.ts';
import { readSuites, suiteNames } from './suites.ts';

const REPORT = `<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" errors="1" failures="1" skipped="1" tests="4">
<testcase classname="test_env" name="test_good[a]" time="0.1" /><testcase classname="test_env" name="test_bad" time="0.1"><failure message="assert &lt;skipped&gt;">text</failure></testcase>
<testcase classname="test_env" name="test_left" time="0"><skipped type="pytest.skip" message="no fork">x</skipped></testcase>
<testcase classname="" name="test_broken" time="0"><error message="collection failure">ImportError</error></testcase></testsuite></testsuites>`;

test('a report names each test and what came of it', () => {
  expect(readReport(REPORT)).toEqual([
    { name: 'test_env test_good[a]', status: 'passed' },
    { name: 'test_env test_bad', status: 'failed' },
    { name: 'test_env test_left', status: 'skipped' },
    { name: 'test_broken', status: 'failed' },
  ]);
});

describe('suites', () => {
  test('every folder is complete: pinned packages, a lock that holds them, pytest among them', () => {
    const suites = readSuites([]);
    expect(suites.map(({ name }) => name)).toEqual(suiteNames());
    expect(suites.length).toBeGreaterThan(3);
    for (const { name, packages } of suites)
      expect(
        packages.some((line) => line.startsWith('pytest==')),
        name,
      ).toBe(true);
  });

  test('an unknown name is refused with those that there are', () => {
    expect(() => readSuites(['gymnasium', 'gimnasium'])).toThrow(/no suite gimnasium; there are .*gymnasium/);
  });

  test.each([
    ['3.11.7', [3, 11], true],
    ['3.13.0', [3, 11], true],
    ['4.0.0', [3, 12], true],
    ['3.9.18', [3, 11], false],
    ['3.11.7', [3, 12], false],
  ] as const)('Python %s for %j: %j', (version, wanted, isEnough) => {
    const fault = versionFault(wanted, version);
    expect(fault === undefined).toBe(isEnough);
    if (!isEnough) expect(fault).toContain(`needs Python ${wanted.join('.')} or later`);
  });
});
