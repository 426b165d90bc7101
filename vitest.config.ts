import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { defineConfig } from 'vitest/config';

/** Files that take longest; started first, so that the last worker does not end with one of them. */
const LONG = ['test/pack/', 'test/tasks/splits', 'test/tasks/solver-scores'];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => LONG.some((path) => moduleId.includes(path));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    // Two cores: two files at a time, each in a process of its own (native modules, wasm memory).
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    sequence: { sequencer: LongestFirst },
    projects: [
      { extends: true, test: { name: 'main', include: ['test/**/*.test.ts'] } },
      // What needs tools that npm does not install (schemathesis, Chromium); .ci/run installs them and runs these too.
      { extends: true, test: { name: 'extra', include: ['test/**/*.extra.ts'] } },
    ],
  },
});
