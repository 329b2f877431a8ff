import { defineConfig } from 'vitest/config';

const define = { __DUSTPAN_VERSION__: '"test"', __DUSTPAN_REVISION__: '"test"' };

// Tiers of docs: unit (no I/O), sandbox (in-process API server), cluster (real servers, only inside the jail that test/cluster/run.ts makes).
export default defineConfig({
  test: {
    projects: [
      { define, test: { name: 'unit', include: ['test/unit/**/*.test.ts'] } },
      {
        define,
        test: {
          name: 'sandbox',
          include: ['test/integration/**/*.test.ts', 'test/contract/**/*.sandbox.test.ts'],
          testTimeout: 30_000,
        },
      },
      {
        define,
        test: {
          name: 'cluster',
          include: ['test/cluster/**/*.test.ts', 'test/contract/**/*.cluster.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
