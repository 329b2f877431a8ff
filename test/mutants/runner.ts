import { createVitest, type TestSpecification, type Vitest } from 'vitest/node';

/** A file as the tests are to see it. */
export interface Broken {
  readonly path: string;
  readonly text: string;
}

/** One test runner for all mutants: what is broken it gets from us in place of the file, which stays as it is. */
export class MutantRunner {
  readonly #vitest: Vitest;
  readonly #served: Served;

  private constructor(vitest: Vitest, served: Served) {
    this.#vitest = vitest;
    this.#served = served;
  }

  static async start(): Promise<MutantRunner> {
    const served: Served = { broken: undefined };
    const options: Parameters<typeof createVitest>[1] = {
      config: false,
      watch: false,
      bail: 1,
      pool: 'threads',
      // There is a runner for each processor.
      maxWorkers: 1,
      include: ['test/unit/**/*.test.ts', 'test/{contract,integration}/**/*.test.ts'],
      provide: { servers: 'sandbox' },
      // A mutant that makes a test wait for ever is killed by this; no test needs a fifth as long.
      ...{ testTimeout: 20_000, hookTimeout: 20_000 },
      reporters: [{}],
    };
    const vitest = await createVitest('test', options, {
      define: { __DUSTPAN_VERSION__: '"test"', __DUSTPAN_REVISION__: '"test"' },
      plugins: [
        {
          name: 'mutant',
          enforce: 'pre',
          load: (id) => (id === served.broken?.path ? served.broken.text : undefined),
        },
      ],
    });
    await vitest.standalone();
    return new MutantRunner(vitest, served);
  }

  /** The files of these tests that fail, within a time; only those that import a broken file are run. */
  async failing(
    tests: readonly string[],
    broken: Broken | undefined,
    limitMs = longestMs,
  ): Promise<readonly string[]> {
    const last = this.#served.broken;
    this.#served.broken = broken;
    for (const changed of [last, broken])
      if (changed !== undefined) this.#vitest.invalidateFile(changed.path);
    const files = await this.#specifications(tests, broken?.path);
    if (files.length === 0 && broken === undefined) throw new Error(`no tests: ${tests.join()}`);
    if (files.length === 0) return [];
    const hung = new AbortController();
    const timer = setTimeout(() => {
      hung.abort();
      this.#terminate();
    }, limitMs);
    const { testModules } = await this.#vitest.runTestSpecifications(files);
    clearTimeout(timer);
    if (hung.signal.aborted) return ['no end'];
    // It tells of all that it has ever run.
    const run = new Set(files.map(({ moduleId }) => moduleId));
    return testModules.filter((one) => run.has(one.moduleId) && !one.ok()).map(({ moduleId }) => moduleId);
  }

  /** The second request terminates the threads; the first would wait for them. */
  #terminate(): void {
    for (let request = 0; request < 2; request += 1) void this.#vitest.cancelCurrentRun('keyboard-input');
  }

  /** Property tests are slow and here for other reasons, so they are not among them. */
  async #specifications(tests: readonly string[], path: string | undefined): Promise<TestSpecification[]> {
    if (path !== undefined) this.#vitest.config.related = [path];
    const all =
      path === undefined
        ? await this.#vitest.globTestSpecifications([...tests])
        : await this.#vitest.getRelevantTestSpecifications([...tests]);
    return all.filter(
      ({ moduleId }) =>
        tests.some((start) => moduleId.includes(`/${start}`)) && !/[./]property\.test\.ts$/.test(moduleId),
    );
  }

  async close(): Promise<void> {
    await this.#vitest.close();
  }
}

/** A mutant that loops without a pause lets no timeout of a test pass; then the whole run ends after this time. */
const longestMs = 60_000;

interface Served {
  broken: Broken | undefined;
}
