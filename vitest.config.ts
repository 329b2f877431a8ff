import { defineConfig } from 'vitest/config';
import { Results } from './test/steps/results.ts';

// A copy for each project: vitest takes out of it what it has read.
const define = () => ({ __DUSTPAN_VERSION__: '"test"', __DUSTPAN_REVISION__: '"test"' });

// Files that ask for a node have a jail of their own: test/cluster/run.ts says which files the present one is for.
const { DUSTPAN_BED_FILES: filesOfThisJail } = process.env;

/** No test is timed by these: they only end what hangs, on a machine that may be several times slower and busy besides. */
const patient = { testTimeout: 400_000, hookTimeout: 400_000, expect: { poll: { timeout: 60_000 } } };

/** Of random inputs: half the time of all unit tests. */
const properties = ['test/unit/**/*.property.test.ts'];
/** Builds the command that the tests run. */
const builtOnce = ['test/integration/build.ts'];
/** For npm run test:all: the demo, and the program that needs no Node, which takes half a minute to build and pack. */
const demo = ['test/integration/demo.test.ts', 'test/integration/commands/cli/plugin.test.ts'];
const clusterFiles = ['test/cluster/**/*.test.ts', 'test/contract/**/*.test.ts'];

// Tiers of docs: unit (no I/O), sandbox (in-process API server), cluster (real servers, only inside the jail that test/cluster/run.ts makes).
/** What decides: pure code, of which npm run coverage:decisions wants every branch taken by a unit test. */
const decisions = {
  include: [
    'src/{controllers,agent}/**/*.ts',
    'src/gc/*.ts',
    'src/api/**/*.ts',
    'src/runtime/{scheduling/jump,text/{duration,glob,quantity}}.ts',
  ],
  exclude: ['**/{controller,manager,act,checks,words}.ts', '**/*.gen.ts'],
};

export default defineConfig({
  test: {
    reporters: ['default', new Results()],
    coverage: {
      ...decisions,
      reporter: [['text', { skipFull: true }]],
      thresholds: { branches: 100 },
    },
    projects: [
      {
        define: define(),
        // No unit test mocks a module or leaves state in one, so the files share the loaded modules: a third of the time.
        test: {
          ...patient,
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          exclude: properties,
          isolate: false,
        },
      },
      { define: define(), test: { ...patient, name: 'properties', include: properties, isolate: false } },
      {
        define: define(),
        test: {
          ...patient,
          name: 'sandbox',
          include: ['test/integration/**/*.test.ts', 'test/contract/**/*.test.ts'],
          exclude: demo,
          provide: { servers: 'sandbox' },
          globalSetup: builtOnce,
          // They mostly wait: for leases, back-offs and periods of real programs.
          maxWorkers: 3,
        },
      },
      { define: define(), test: { ...patient, name: 'demo', include: demo, globalSetup: builtOnce } },
      { define: define(), test: { ...patient, name: 'browser', include: ['test/browser/*.test.ts'] } },
      {
        define: define(),
        test: {
          name: 'cluster',
          provide: { servers: 'real' },
          setupFiles: ['test/cluster/servers/ending.ts'],
          include: filesOfThisJail ? filesOfThisJail.split(',') : clusterFiles,
          testTimeout: 600_000,
          hookTimeout: 600_000,
          expect: { poll: { timeout: 90_000 } },
          fileParallelism: false,
        },
      },
    ],
  },
});
