// Adds up the JSON results of vitest runs, names what did not pass and the suites that were left out, and ends with
// "N passed, N failed".
// Fails where something failed, was skipped, or where a run left no results or no tests.
import { readFileSync } from 'node:fs';

let [passed, failed, incomplete] = [0, 0, 0];
for (const file of process.argv.slice(2)) {
  let results;
  try {
    results = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    console.log(`${file}: no results`);
    incomplete++;
    continue;
  }
  for (const name of results.leftOut ?? []) console.log(`left out: ${name}`);
  const tests = results.testResults.flatMap(({ assertionResults }) => assertionResults);
  const missed = tests.filter(({ status }) => status !== 'passed' && status !== 'failed');
  for (const { fullName, status } of missed) console.log(`${status}: ${fullName}`);
  for (const { name, status, message } of results.testResults)
    if (status === 'failed') console.log(`${name}: ${message || 'failed'}`);
  passed += results.numPassedTests;
  failed += results.numFailedTests;
  incomplete += missed.length + (tests.length === 0 || (!results.success && results.numFailedTests === 0) ? 1 : 0);
}
if (incomplete > 0) console.log(`${incomplete} skipped or without results, which counts as a failure here`);
console.log(`${passed} passed, ${failed + incomplete} failed`);
process.exit(failed + incomplete === 0 && passed > 0 ? 0 : 1);
