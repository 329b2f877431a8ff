import { defineConfig } from 'vitest/config';

/** The unit tests of the code alone, for the mutation tests (stryker.config.json): each file has modules of its own there. */
export default defineConfig({
  define: { __DUSTPAN_VERSION__: '"test"', __DUSTPAN_REVISION__: '"test"' },
  // StrykerJS has a time limit of its own.
  test: {
    include: ['test/unit/**/*.test.ts'],
    exclude: ['test/unit/{docs,release}/**'],
    testTimeout: 400_000,
  },
});
